// Keys of the whole page. Arrow keys are of the map, of the tabs and of the chips.
import { html, useEffect, useRef } from "./vendor/preact-htm.js";
import { t } from "./words.js";

const VIEW_KEYS = { o: "overview", w: "waiting", t: "try", q: "quotas", p: "groups", f: "fragmentation", d: "decisions" };
const LIST = [["/", "key_find"], ["g o, g w, g t, g q, g p, g f, g d", "key_views"], ["← ↑ → ↓", "key_arrows"], ["Enter", "key_enter"], ["Esc", "key_escape"], ["Ctrl Enter", "key_try"], ["?", "key_help"]];

const isTyping = (target) => target.matches?.("input, textarea, select");

// "g" and then a view's letter within so many ms.
const CHORD_MS = 1500;

export function useKeys(state, change, help) {
  const began = useRef(-CHORD_MS);
  useEffect(() => {
    const escape = () => {
      if (state.pod || state.node) change({ node: "", pod: "" });
      else if (state.find) change({ find: "" });
    };
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || help.current?.open) return;
      if (event.key === "Escape") return escape();
      if (isTyping(event.target)) return;
      if (event.timeStamp - began.current < CHORD_MS && VIEW_KEYS[event.key]) change({ view: VIEW_KEYS[event.key], node: "", pod: "" });
      began.current = event.key === "g" ? event.timeStamp : -CHORD_MS;
      if (event.key === "?") help.current.showModal();
      if (event.key === "/") {
        event.preventDefault();
        document.getElementById("find")?.focus();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

export function KeyList({ help }) {
  return html`<dialog ref=${help} aria-label=${t("keys")}><h2>${t("keys")}</h2>
    <dl>${LIST.map(([keys, word]) => html`<dt><kbd>${keys}</kbd></dt><dd>${t(word)}</dd>`)}</dl>
    <form method="dialog"><button class="button">${t("close")}</button></form></dialog>`;
}

// Left and right lead to the neighbour of the element that has the focus, among those of the same parent.
export function moveAside(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const all = [...event.currentTarget.querySelectorAll("a, button")];
  const next = all[(all.indexOf(event.target) + step + all.length) % all.length];
  next.focus();
  event.preventDefault();
}
