// What the page shows, kept in the fragment of its address, so that a link shows the same.
import { useEffect, useState } from "./vendor/preact-htm.js";
import { COLOURINGS, GROUPINGS, ROOMS, SORTINGS } from "./cells.js";
import { LANGUAGES } from "./words.js";

const DEFAULTS = {
  view: "overview", show: "map", group: "model", label: "", sort: "worth", colour: "state", room: "any", find: "", holder: "", tile: "",
  node: "", pod: "", cause: "", follow: "",
  drain: "", cordon: "", lift: "", remove: "", like: "", count: "1", quota: "", limits: "", placement: "", lang: "",
};

export const SHOWN = ["map", "table"];
export const VIEWS = ["overview", "waiting", "try", "quotas", "groups", "fragmentation", "decisions"];
const CHOICES = { view: VIEWS, show: SHOWN, group: GROUPINGS, sort: SORTINGS, colour: COLOURINGS, room: ROOMS, lang: Object.keys(LANGUAGES) };

// The changes of a what-if, when there are none.
export const UNCHANGED = Object.fromEntries(["drain", "cordon", "lift", "remove", "like", "count", "quota", "limits", "placement"].map((name) => [name, DEFAULTS[name]]));

// The members that begin a new entry of the browser's history: its button Back leaves a view and closes a drawer.
const PLACES = ["view", "node", "pod"];

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = {};
  for (const name of Object.keys(DEFAULTS)) {
    const value = given.get(name);
    const isKnown = value !== null && (CHOICES[name]?.includes(value) ?? true);
    state[name] = isKnown ? value : DEFAULTS[name];
  }
  return state;
}

// The fragment that shows a state.
export function fragmentOf(state) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== DEFAULTS[name]) given.set(name, value);
  return `#${given}`;
}

// [state, change]: change({name: value}) also writes the address.
export function useAddress() {
  const [state, set] = useState(read);
  useEffect(() => {
    const again = () => set(read());
    addEventListener("hashchange", again);
    return () => removeEventListener("hashchange", again);
  }, []);
  const change = (changes) => {
    const old = read();
    const changed = { ...old, ...changes };
    const isElsewhere = PLACES.some((name) => changed[name] !== old[name]);
    history[isElsewhere ? "pushState" : "replaceState"](null, "", fragmentOf(changed));
    set(changed);
  };
  return [state, change];
}
