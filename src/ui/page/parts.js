// Small parts that several views share.
import { html, useState } from "./vendor/preact-htm.js";
import { isOpenToCurl } from "./fetching.js";
import { t } from "./words.js";

export function Notice({ kind = "warning", children }) {
  return html`<p class=${`notice ${kind}`} role=${kind === "error" ? "alert" : "status"}>${children}</p>`;
}

// What a failure means for the reader.
export function Failed({ failure }) {
  if (!failure) return null;
  if (failure.status === 401) return html`<${Notice}>${t("needsToken")} ${failure.message}</${Notice}>`;
  const text = failure.status === 0 ? t("unreachable") : failure.status === 403 ? t("noRight") : "";
  return html`<${Notice} kind="error">${text} ${failure.message}</${Notice}>`;
}

// columns: [[heading, row => content, isNumber]]. More than `most` rows are paged.
export function Table({ caption, columns, rows, most = 100 }) {
  const [page, setPage] = useState(0);
  const n = Math.max(1, Math.ceil(rows.length / most));
  const at = Math.min(page, n - 1);
  const shown = rows.slice(at * most, (at + 1) * most);
  return html`<div class="scrolling" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption>${caption}</caption>
      <thead><tr>${columns.map(([heading, , isNumber]) => html`<th scope="col" class=${isNumber ? "number" : ""}>${heading}</th>`)}</tr></thead>
      <tbody>${shown.map((row) => html`<tr>${columns.map(([, content, isNumber]) => html`<td class=${isNumber ? "number" : ""}>${content(row)}</td>`)}</tr>`)}</tbody>
    </table>
    ${n > 1 && html`<p class="pages">
      <button disabled=${at === 0} onClick=${() => setPage(at - 1)}>${t("before")}</button>
      <span>${t("pageOf", at + 1, n)}</span>
      <button disabled=${at === n - 1} onClick=${() => setPage(at + 1)}>${t("after")}</button>
    </p>`}
  </div>`;
}

// The command that asks for the same with curl; none where curl would get no answer.
export function CopyCurl({ words }) {
  return isOpenToCurl() && html`<${Copy} label=${t("copyCurl")} text=${() => ["curl", ...words()].join(" ")} />`;
}

export function Copy({ label, text }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setDone(t("copied"));
    } catch {
      setDone(t("notCopied"));
    }
  };
  return html`<button onClick=${copy}>${label}</button> <span role="status">${done}</span>`;
}

// Quoted for a POSIX shell.
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// "Job train", of a pod
export function ownerText(pod) {
  return pod.controller ? `${pod.controller.kind} ${pod.controller.name}` : "";
}

export function ageSince(time) {
  return age(Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000)));
}

// 90061 -> "1 d 1 h"
export function age(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => seconds >= size);
  if (first < 0) return seconds === null ? "?" : "0 s";
  return units
    .slice(first, first + 2)
    .map(([size, name], i) => [Math.floor((i ? seconds % units[first][0] : seconds) / size), name])
    .filter(([n]) => n > 0)
    .map(([n, name]) => `${n} ${name}`)
    .join(" ");
}

// The API gives cpu in thousandths and memory in bytes.
export function amount(name, n) {
  if (name === "cpu") return String(n / 1000);
  return name === "memory" || name === "ephemeral-storage" ? `${(n / 2 ** 30).toFixed(n % 2 ** 30 ? 1 : 0)}Gi` : String(n);
}

// {"nvidia.com/gpu": 8} -> "8 nvidia.com/gpu"
export function amounts(map) {
  return Object.entries(map)
    .map(([name, n]) => `${amount(name, n)} ${name}`)
    .join(", ");
}
