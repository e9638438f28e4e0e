// Small parts that several views share, and how amounts and times are written.
import { html, useState } from "./vendor/preact-htm.js";
import { setToken } from "./fetching.js";
import { t } from "./words.js";

const GLYPHS = { error: "✕", warning: "▲", note: "⊘" };

// Without a role the notice is not read at once.
export function Notice({ kind = "warning", title, action, children }) {
  const role = { error: "alert", warning: "status" }[kind];
  return html`<div class=${`notice ${kind}`} role=${role}><span class="glyph" aria-hidden="true">${GLYPHS[kind]}</span><b>${title}</b>${children && html`<p>${children}</p>`}${action}</div>`;
}

// Why a view or a card has nothing to show. what: its word, "quotas".
export function Failed({ failure, what }) {
  if (!failure || failure.status === 401) return null; // the page asks for a token
  if (failure.status === 403) return html`<${Notice} kind="note" title=${t("noRight", what)}>${failure.message}. ${t("noRightHelp")}</${Notice}>`;
  if (failure.status === 0) return html`<${Notice} kind="error" title=${t("unreachable")}>${failure.message}</${Notice}>`;
  return html`<${Notice} kind="error" title=${t("failed")}>${failure.message}</${Notice}>`;
}

// Takes a token of the API server; renewed asks again with it.
export function TokenForm({ failure, renewed }) {
  const [text, setText] = useState("");
  const use = (event) => {
    event.preventDefault();
    setToken(text);
    setText("");
    renewed();
  };
  return html`<form class="card pad" onSubmit=${use}>
    <h2><label for="token">${t("token")}</label></h2>
    <p class="acts"><input id="token" type="password" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="button primary" type="submit">${t("useToken")}</button></p>
    <p role="status">${failure.message}</p>
    <p class="small soft">${t("tokenHelp")}</p>
  </form>`;
}

// Grey shapes where an answer will be; the style sheet shows them after 300 ms.
export function Loading() {
  return html`<section class="card pad loading" aria-busy="true" aria-label=${t("loading")}><i class="skeleton"></i><i class="skeleton"></i><i class="skeleton"></i></section>`;
}

export function Empty({ title, children }) {
  return html`<section class="card empty"><b>${title}</b>${children && html`<p>${children}</p>`}</section>`;
}

export function Card({ title, note, kind = "", children }) {
  return html`<section class=${`card ${kind}`}><header><h2>${title}</h2><span class="right small soft">${note}</span></header>${children}</section>`;
}

// columns: [{head, of: row => content, is: "num", "wide", "desk" (not on a phone) or several}]. More than `most` rows are paged. On a
// phone each row is a block.
export function Table({ caption, columns, rows, kind = "", most = 100 }) {
  const [page, setPage] = useState(0);
  const n = Math.max(1, Math.ceil(rows.length / most));
  const at = Math.min(page, n - 1);
  return html`<table class=${`fold ${kind}`}>
      <caption>${caption}</caption>
      <thead><tr>${columns.map(({ head, is }) => html`<th scope="col" class=${is}>${head}</th>`)}</tr></thead>
      <tbody>${rows.slice(at * most, (at + 1) * most).map((row) => html`<tr class=${row.isOpen ? "open" : ""}>${columns.map(({ head, of, is }) => html`<td class=${is} data-head=${head}>${of(row)}</td>`)}</tr>`)}</tbody>
    </table>
    ${n > 1 && html`<p class="acts">
      <button class="button small" disabled=${at === 0} onClick=${() => setPage(at - 1)}>${t("before")}</button>
      <span>${t("pageOf", at + 1, n)}</span>
      <button class="button small" disabled=${at === n - 1} onClick=${() => setPage(at + 1)}>${t("after")}</button>
    </p>`}`;
}

const LOOKS = { fits: ["fits", "✓"], partlyFits: ["partly", "◐"], doesNotFit: ["not", "✕"], mistake: ["not", "✕"], notJudged: ["unknown", "?"], waits: ["partly", "◐"], running: ["fits", "✓"] };

// The first thing of every answer. Glyph, words and colour say the same.
export function Verdict({ result, title, small, children }) {
  const [look, glyph] = LOOKS[result];
  return html`<section class=${`verdict ${look} ${small ? "less" : ""}`}><span class="glyph" aria-hidden="true">${glyph}</span><h2>${title}</h2><p>${children}</p></section>`;
}

// Leads to the drawer of a node, or of a pod "NAMESPACE/NAME".
export function NodeLink({ name, change }) {
  return html`<button class="link" onClick=${() => change({ node: name, pod: "" })}>${name}</button>`;
}

export function PodLink({ name, change, children }) {
  return html`<button class="link" onClick=${() => change({ pod: name, node: "" })}>${children ?? name}</button>`;
}

// Names with commas between them; after the first `most` their number, which shows the others.
export function NodeLinks({ names, nMore = 0, most = 5, change }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? names : names.slice(0, most);
  const n = names.length - shown.length + nMore;
  return html`${shown.map((name, i) => html`${i > 0 && ", "}<${NodeLink} name=${name} change=${change} />`)}${n > 0 && html`, ${names.length > shown.length ? html`<button class="link" onClick=${() => setWhole(true)}>${t("more", n)}</button>` : t("more", n)}`}`;
}

export function Meter({ used, limit, cls = "" }) {
  const share = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0;
  return html`<span class="meter" aria-hidden="true"><i class=${cls} style=${{ width: `${share * 100}%` }}></i></span>`;
}

// "Job train", of a pod
export function ownerText(pod) {
  return pod.controller ? `${pod.controller.kind} ${pod.controller.name}` : "";
}

export function ageSince(time, most) {
  return age(Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000)), most);
}

// 90061 -> "1 d 1 h", with spaces at which no line ends; of at most so many units.
export function age(seconds, most = 2) {
  const units = [[31536000, "years"], [86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"]];
  const first = units.findIndex(([size]) => seconds >= size);
  if (first < 0) return seconds === null ? "?" : t("seconds", 0);
  return units
    .slice(first, first + (first < 2 ? 1 : most))
    .map(([size, name], i) => [Math.floor((i ? seconds % units[first][0] : seconds) / size), name])
    .filter(([n]) => n > 0)
    .map(([n, name]) => t(name, n))
    .join(" ")
    .replaceAll(" ", "\u00a0");
}

// "2026-11-29T02:11:30.5Z" -> "02:11:30"; with the date if that is not today.
export function timeOf(time) {
  const [day, clock] = time.split("T");
  return `${day === new Date().toISOString().slice(0, 10) ? "" : `${day} `}${clock.slice(0, 8)}`;
}

export function count(n) {
  return n === null || n === undefined ? "?" : n.toLocaleString("en");
}

// The API gives CPU in thousandths and memory in bytes.
export function amount(name, n) {
  if (name === "cpu") return String(Math.round(n / 100) / 10);
  if (name !== "memory" && name !== "ephemeral-storage" && !name.startsWith("hugepages-")) return count(n);
  const gib = n / 2 ** 30;
  return `${gib < 10 ? Math.round(gib * 10) / 10 : Math.floor(gib)} GiB`;
}

const isOther = (name) => name === "cpu" || name === "memory" || name === "ephemeral-storage" || name === "pods" || name.startsWith("hugepages-");
const NAMED = { cpu: "CPU", memory: "", pods: "pods" };

// "8 V100", "16 GPUs", "2 nvidia.com/mig-1g.5gb"
export function gpusText(requests, model) {
  const asked = Object.entries(requests).filter(([name]) => !isOther(name));
  return asked.map(([name, n]) => `${count(n)} ${model ?? (name.endsWith("/gpu") ? t("gpuUnit", n) : name)}`).join(", ");
}

// "32 CPU, 128 GiB"
export function otherText(requests) {
  const asked = Object.entries(requests).filter(([name]) => isOther(name));
  return asked.map(([name, n]) => `${amount(name, n)} ${NAMED[name] ?? name}`.trim()).join(", ");
}
