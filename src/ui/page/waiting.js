// The pods that wait, a row for each owner, with why and what would help.
import { html, useState } from "./vendor/preact-htm.js";
import { stateOfChange } from "./changes.js";
import { moveAside } from "./keys.js";
import { Find } from "./overview.js";
import { Card, Empty, Failed, Loading, NodeLinks, Notice, PodLink, Table, age, gpusText, otherText } from "./parts.js";
import { UNCHANGED } from "./state.js";
import { t } from "./words.js";

// A chip -> the causes of its workloads, as in kube-scheduler's order of checks. Other causes have a chip of their own.
const CHIPS = {
  freeGpus: ["freeGpus", "keptGpus"], total: ["total", "resources"], quota: ["quota"], name: ["name", "missing", "request"],
  taint: ["taint"], closed: ["closed"], claims: ["claims"], gate: ["gate"], rules: ["pods", "label", "model", "shared", "limit"],
  group: ["group"], scheduler: ["scheduler", ""],
};

function chipOf(cause) {
  return Object.keys(CHIPS).find((chip) => CHIPS[chip].includes(cause)) ?? "rules";
}

// also: what else is changed to try it.
export function Remedy({ remedy, change, label, also = {} }) {
  const applied = remedy.change && stateOfChange(remedy.change);
  return html`<div class="remedy"><span>${remedy.text}${remedy.nodes.length > 0 && html`${t("fitsOn")} <${NodeLinks} names=${remedy.nodes} nMore=${remedy.nodeCount - remedy.nodes.length} change=${change} />`}
      ${remedy.kind === "administrator" && html` <span class="tag">${t("administrator")}</span>`}
      ${remedy.note && html` <span class="soft">(${remedy.note})</span>`}</span>
    ${applied && html`<button class="button small" onClick=${() => change({ ...UNCHANGED, ...applied, ...also, view: "try" })}>${label}</button>`}</div>`;
}

function Remedies({ row, isOpen, open, change }) {
  const all = row.remedies;
  const shown = isOpen ? all : all.slice(0, 1);
  return html`${shown.map((remedy) => html`<${Remedy} remedy=${remedy} change=${change} label=${t("tryShort")} also=${{ manifest: "" }} />`)}
    ${all.length > 1 && html`<button class="link small" aria-expanded=${String(isOpen)} onClick=${open}>${isOpen ? t("fewer") : t("andMore", all.length - 1)}</button>`}`;
}

function rowsOf(pending) {
  return pending.owners.map((owner) => {
    const verdict = owner.verdict;
    return { owner, verdict, remedies: (owner.remedies ?? []), chip: chipOf(verdict.cause) };
  });
}

// Of which nodes one more would let waiting pods run.
function NodeGroups({ asked, change }) {
  const groups = asked.value?.groups;
  if (!groups) return html`<${Failed} failure=${asked.failure} what=${t("see_groups")} />`;
  const helping = groups.filter(({ wouldRun }) => wouldRun > 0);
  const other = groups.length - helping.length;
  return html`<${Card} title=${t("oneMoreNode")} note=${t("oneMoreHelp")}>
    ${helping.length > 0 && html`<${Table} caption=${t("oneMoreNode")} rows=${helping} columns=${[
      { head: t("oneMoreLike"), of: (row) => html`<button class="link" onClick=${() => change({ ...UNCHANGED, view: "try", like: row.like, manifest: "" })}>${row.like}</button> <span class="soft">${row.name}</span>` },
      { head: t("thenRun"), of: (row) => html`<b>${row.wouldRun}</b>`, is: "num" },
      { head: t("which"), of: (row) => row.pods.map((pod, i) => html`${i > 0 && ", "}<${PodLink} name=${`${pod.namespace}/${pod.name}`} change=${change} />`), is: "wide" },
    ]} />`}
    ${other > 0 && html`<p class="soft">${t(helping.length > 0 ? "noOther" : "noGroupHelps", other)}</p>`}</${Card}>`;
}

export function Waiting({ pending, groups, state, change }) {
  const [opened, setOpened] = useState("");
  const { value, failure } = pending;
  if (!value) return failure ? html`<${Failed} failure=${failure} what=${t("see_pending")} />` : html`<${Loading} />`;
  const rows = rowsOf(value);
  if (rows.length === 0) return html`<${Empty} title=${t("nobodyWaits")}>${t("askedAgo", age(Math.max(0, Math.round((Date.now() - pending.answered) / 1000))))}</${Empty}>`;
  const keyOf = ({ owner }) => `${owner.namespace}/${owner.kind}/${owner.name}`;
  const chip = state.cause && (CHIPS[state.cause] ? state.cause : chipOf(state.cause));
  const text = state.find.trim().toLowerCase();
  const shown = rows.filter((row) => (!chip || row.chip === chip) && keyOf(row).toLowerCase().includes(text)).map((row) => ({ ...row, isOpen: keyOf(row) === opened }));
  const button = (name, n, label) => n > 0 && html`<button aria-pressed=${String(chip === name)} onClick=${() => change({ cause: name })}>${label} ${n}</button>`;
  const toggle = (row) => setOpened(keyOf(row) === opened ? "" : keyOf(row));
  return html`
    <${Failed} failure=${failure} what=${t("see_pending")} />
    <div class="tools"><h2>${t("waitingHead", value.podCount, rows.length, value.gpuCount)}</h2><span class="soft only-desk">${t("waitingOrder")}</span>
      <${Find} state=${state} change=${change} label=${t("findWaiting")} /></div>
    <div class="filters" role="group" aria-label=${t("waitsFor")} onKeyDown=${moveAside}><span class="soft only-desk">${t("waitsFor")}</span>${button("", rows.length, t("all"))}
      ${Object.keys(CHIPS).map((name) => button(name, rows.filter((row) => row.chip === name).length, t(`cause_${name}`)))}</div>
    ${value.omitted > 0 && html`<${Notice} title=${t("omitted", value.omitted)} />`}
    ${shown.length === 0
      ? html`<${Empty} title=${t("nothingMatches", [chip && t(`cause_${chip}`), state.find].filter(Boolean).join(", "))}>
        <button class="button" onClick=${() => change({ find: "", cause: "" })}>${t("clear")}</button></${Empty}>`
      : html`<section class="card"><${Table} kind="waits" caption=${t("tab_waiting")} rows=${shown} columns=${[
      { head: t("workload"), is: "of", of: ({ owner }) => html`<b><${PodLink} name=${`${owner.namespace}/${owner.firstPod}`} change=${change}>${owner.namespace}/${owner.name}</${PodLink}></b>
        <span class="soft small block">${owner.kind}${owner.priority !== 0 && `, ${t("priorityOf", owner.priority)}`}</span>` },
      { head: t("pods"), of: ({ owner }) => owner.pods, is: "num desk" },
      { head: t("asksEach"), of: ({ owner }) => html`${gpusText(owner.requests, owner.gpuModels?.models[0])} <span class="only-phone soft">× ${t("nPods", owner.pods)}</span> <span class="soft small block">${otherText(owner.requests)}</span>`, is: "each" },
      { head: t("waits"), of: ({ owner }) => age(owner.waitsSeconds), is: "num since" },
      { head: t("why"), of: ({ verdict }) => html`<b>${verdict.text}</b>`, is: "wide" },
      { head: t("wouldHelp"), of: (row) => html`<${Remedies} row=${row} isOpen=${row.isOpen} open=${() => toggle(row)} change=${change} />`, is: "wide" },
    ]} /></section>`}
    <${NodeGroups} asked=${groups} change=${change} />`;
}
