// Small parts that several views share.
import { html, useState } from "./vendor/preact-htm.js";
import { askedBy, codeOf, hasToken, hiddenIn, isOpenToCurl, visible } from "./fetching.js";
import { UNCHANGED } from "./state.js";
import { t } from "./words.js";

export function Notice({ kind = "warning", children }) {
  return html`<p class=${`notice ${kind}`} role=${kind === "error" ? "alert" : "status"}>${children}</p>`;
}

// What a failure means for the reader.
export function Failed({ failure }) {
  if (!failure) return null;
  if (failure.status === 401) return html`<${Notice}>${t("needsToken")} ${failure.message}</${Notice}>`;
  const text = failure.status === 0 ? t("unreachable") : failure.status === 403 ? t("noRight") : "";
  return html`<${Notice} kind="error">${text} ${failure.message}${failure.status === 403 && `. ${t("noRightHelp")}`}</${Notice}>`;
}

// columns: [[heading, row => content, isNumber]]. More than `most` rows are paged.
export function Table({ caption, columns, rows, most = 100 }) {
  const [page, setPage] = useState(0);
  if (rows.length === 0) return html`<p class="aside">${caption}: ${t("none")}</p>`;
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
  const made = () => ({ text: ["curl", hasToken() && '-H "Authorization: Bearer $TOKEN"', ...words()].filter(Boolean).join(" "), needsToken: hasToken() });
  return isOpenToCurl() && html`<${Copy} label=${t("copyCurl")} made=${made} />`;
}

// The same with kubectl gpu. asked: () => {words, input}: its verb with what is asked for, and what it reads from its standard input.
export function CopyKubectl({ asked }) {
  const made = async () => {
    const { words, input } = asked();
    const { program, options, needsToken } = await askedBy();
    const command = [program, ...words, ...options.map(quoted), needsToken && '--token="$TOKEN"'].filter(Boolean).join(" ");
    return { text: input === undefined ? command : `printf %s ${quoted(input)} | ${command}`, needsToken };
  };
  return html`<${Copy} label=${t("copyKubectl")} made=${made} />`;
}

// Leads to the form that asks about just these changes. next: the id of what is to be done there.
export function WhatIf({ label, changes, change, next = "try-it", kind = "" }) {
  const go = () => {
    change({ ...UNCHANGED, ...changes, tab: "try" });
    requestAnimationFrame(() => document.getElementById(next)?.focus());
  };
  return html`<button class=${kind} onClick=${go}>${t(label)}</button>`;
}

// What does not get into the clipboard, with the reason for the reader.
class Refused extends Error {}

// A name for a command. A link can contain anything, so what is no name of an object is refused.
export function named(text) {
  if (!/^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/.test(text)) throw new Refused(t("notAName", visible(text)));
  return text;
}

// A terminal obeys control characters in what is pasted, and shows nothing of others.
function refuseHidden(text) {
  const [first] = hiddenIn(text);
  if (first) throw new Refused(t("hiddenCharacter", codeOf(first)));
}

// made: {text, needsToken}, or a promise of it. A token is never copied: the text has $TOKEN.
function Copy({ label, made }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      const { text, needsToken } = await made();
      refuseHidden(text);
      await navigator.clipboard.writeText(text);
      setDone(t(needsToken ? "copiedToken" : "copied"));
    } catch (fault) {
      setDone(fault instanceof Refused ? fault.message : t("notCopied"));
    }
  };
  return html`<button onClick=${copy}>${label}</button> <span role="status">${done}</span>`;
}

// A word for a POSIX shell.
export function quoted(text) {
  return /^[\w/:=.,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// "Job train", of a pod
export function ownerText(pod) {
  return pod.controller ? `${pod.controller.kind} ${pod.controller.name}` : "";
}

export function ageSince(time) {
  return age(Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000)));
}

// 90061 -> "1 d 1 h", with spaces at which no line ends
export function age(seconds) {
  const units = [[86400, "days"], [3600, "hours"], [60, "minutes"], [1, "seconds"]];
  const first = units.findIndex(([size]) => seconds >= size);
  if (first < 0) return seconds === null ? "?" : t("seconds", 0);
  return units
    .slice(first, first + 2)
    .map(([size, name], i) => [Math.floor((i ? seconds % units[first][0] : seconds) / size), name])
    .filter(([n]) => n > 0)
    .map(([n, name]) => t(name, n))
    .join(" ")
    .replaceAll(" ", "\u00a0");
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
