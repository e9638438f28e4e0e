// What the page shows, kept in the fragment of its address, so that a link shows the same.
import { useEffect, useState } from "./vendor/preact-htm.js";
import { COLOURINGS, GROUPINGS } from "./cells.js";
import { LANGUAGES } from "./words.js";

const DEFAULTS = {
  tab: "waiting", group: "model", label: "", colour: "namespace", view: "map", node: "", pod: "", holder: "", category: "", follow: "",
  drain: "", cordon: "", remove: "", like: "", count: "1", quota: "", limits: "", placement: "", lang: "",
};

export const VIEWS = ["map", "apart", "table"];
export const TABS = ["waiting", "try", "quotas", "fragmentation", "decisions"];
const CHOICES = { tab: TABS, group: GROUPINGS, colour: COLOURINGS, view: VIEWS, lang: Object.keys(LANGUAGES) };

// The changes of a what-if, when there are none.
export const UNCHANGED = Object.fromEntries(["drain", "cordon", "remove", "like", "count", "quota", "limits", "placement"].map((name) => [name, DEFAULTS[name]]));

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

function write(state) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== DEFAULTS[name]) given.set(name, value);
  history.replaceState(null, "", `#${given}`);
}

// [state, change]: change({name: value}) also writes the address.
export function useAddress() {
  const [state, set] = useState(read);
  useEffect(() => {
    const again = () => set(read());
    addEventListener("hashchange", again);
    return () => removeEventListener("hashchange", again);
  }, []);
  const change = (changes) =>
    set((old) => {
      const changed = { ...old, ...changes };
      write(changed);
      return changed;
    });
  return [state, change];
}
