// The first view: what is free, who waits, what needs attention; and the map.
import { html, useState } from "./vendor/preact-htm.js";
import { COLOURINGS, GROUPINGS, ROOMS, SORTINGS, gpuNames, gpusOf, isClosed, totalsOf } from "./cells.js";
import { moveAside } from "./keys.js";
import { ClusterMap, leftText } from "./map.js";
import { Card, Failed, NodeLink, PodLink, age, count, gpusText } from "./parts.js";
import { isFull, limitsOfAll, nWaiting } from "./quotas.js";
import { SHOWN } from "./state.js";
import { t } from "./words.js";

const PARTS = [["usable", "free"], ["stranded", "strand"], ["closed", "closed"], ["used", "used"], ["reserved", "reserved"], ["lost", "broken"]];
const ALWAYS = ["usable", "used"];

// Nodes whose GPUs are all free: "h100-1 (8 GPUs), ..." or their number by model.
function wholeNodes(inventory) {
  const names = gpuNames(inventory);
  const whole = [];
  for (const node of inventory.nodes)
    for (const gpus of gpusOf(node, names)) if (gpus.unit === "gpu" && gpus.usable === gpus.total && gpus.total > 1) whole.push({ node, gpus });
  if (whole.length === 0) return t("noWhole");
  if (whole.length <= 3) return t("wholeNodes", whole.map(({ node, gpus }) => t("wholeNode", node.name, gpus.total)).join(", "));
  const byModel = new Map();
  for (const { gpus } of whole) byModel.set(gpus.model || t("modelUnknown"), (byModel.get(gpus.model || t("modelUnknown")) ?? 0) + 1);
  const models = [...byModel].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return t("wholeNodes", models.map(([model, n]) => t("wholeOf", n, model)).join(", "));
}

function Free({ inventory }) {
  const totals = totalsOf(inventory);
  const shown = PARTS.filter(([name]) => totals[name] > 0 || ALWAYS.includes(name));
  return html`<section class="card">
    <div class="sum"><b class="big">${count(totals.usable)}</b> <span>${t("ofUsable", totals.gpus)}</span></div>
    <div class="bar" role="img" aria-label=${shown.map(([name]) => `${count(totals[name])} ${t(`sum_${name}`)}`).join(", ")}>${shown.map(([name, look]) => totals[name] > 0 && html`<i class=${look} style=${{ flex: totals[name] }}></i>`)}</div>
    <ul class="keys small">${shown.map(([name, look]) => html`<li><i class=${`sw ${look}`}></i>${count(totals[name])} ${t(`sum_${name}`)}</li>`)}</ul>
    <p class="small soft">${wholeNodes(inventory)}${totals.parts.filter(({ usable }) => usable > 0).map(({ unit, total, usable }) => html`<br />${t(`besides_${unit}`, usable, total)}`)}</p>
  </section>`;
}

// Pods with equal requests and causes together: [{owners, pods, asks, seconds, verdict}], in the order of kube-scheduler.
function causesOf(pending) {
  const causes = new Map();
  for (const owner of pending.owners) {
    const asks = gpusText(owner.requests, owner.gpuModels?.models[0]);
    const verdict = owner.verdict;
    const key = JSON.stringify([asks, verdict.cause, verdict.text]);
    const cause = causes.get(key) ?? { owners: [], pods: 0, asks, seconds: 0, verdict };
    cause.owners.push(owner);
    cause.pods += owner.pods;
    cause.seconds = Math.max(cause.seconds, owner.waitsSeconds ?? 0);
    causes.set(key, cause);
  }
  return [...causes.values()];
}

function Waits({ asked, change }) {
  const { value: pending, failure } = asked;
  if (!pending) return html`<${Card} title=${t("tab_waiting")}>${failure && html`<${Failed} failure=${failure} what=${t("see_pending")} />`}</${Card}>`;
  const causes = causesOf(pending);
  const title = pending.podCount === 0 ? t("nobodyWaits") : t("podsWait", pending.podCount, pending.gpuCount);
  const all = pending.podCount > 0 && html`<button class="link" onClick=${() => change({ view: "waiting" })}>${t("allWorkloads", pending.owners.length)}</button>`;
  return html`<${Card} title=${title} note=${all}>
    <ul class="list">${causes.slice(0, 4).map(({ owners: [owner], owners, pods, asks, seconds, verdict }) => html`<li>
      ${owners.length === 1
        ? html`<${PodLink} name=${`${owner.namespace}/${owner.firstPod}`} change=${change}>${owner.namespace}/${owner.name}</${PodLink}>`
        : html`<button class="link" onClick=${() => change({ view: "waiting", cause: verdict.cause })}>${t("nPods", pods)}</button>`}
      <span>${asks}</span><span class="soft num">${age(seconds, 1)}</span><span title=${verdict.text}>${verdict.text}</span></li>`)}</ul></${Card}>`;
}

// Up to two nodes have a line each, more a line together.
function lineOfNodes(items, look, one, many, change) {
  const gpusAt = (of) => of.reduce((sum, { n }) => sum + n, 0);
  if (items.length <= 2) return items.map((item) => ({ look, text: html`<${NodeLink} name=${item.node.name} change=${change} />${one(item)}` }));
  return [{ look, text: many(items.length, gpusAt(items)) }];
}

// Worst first: [{look, text}].
function attentionOf(inventory, quota, change) {
  const names = gpuNames(inventory);
  const all = inventory.nodes.map((node) => ({ node, gpus: gpusOf(node, names) })).filter(({ gpus }) => gpus.length > 0);
  const ofState = (isOne, of) => all.filter(({ node }) => isOne(node)).map((item) => ({ ...item, n: item.gpus.reduce((sum, gpus) => sum + of(gpus), 0) })).filter(({ n }) => n > 0);
  const model = (item) => item.gpus[0].model || t("gpuUnit", item.n);
  const closed = (gpus) => gpus.runs.reduce((sum, run) => sum + (run.state === "closed" ? run.n : 0), 0);
  const full = limitsOfAll(quota ?? { quotas: [] }).filter((row) => isFull(row) && row.limit.waiting.length > 0);
  const unknown = all.filter(({ gpus }) => gpus.some((one) => !one.model)).map((item) => ({ ...item, n: item.gpus.reduce((sum, gpus) => sum + (gpus.model ? 0 : gpus.total), 0) }));
  return [
    ...lineOfNodes(ofState((node) => !node.ready, closed), "bad", (item) => t("isNotReady", item.n, model(item)), (n, gpus) => t("areNotReady", n, gpus), change),
    ...lineOfNodes(ofState((node) => node.ready && node.unschedulable, closed), "part", (item) => t("isCordoned", item.n, model(item)), (n, gpus) => t("areCordoned", n, gpus), change),
    ...full.map(({ quota: { name }, limit }) => ({ look: "part", text: html`<button class="link" onClick=${() => change({ view: "quotas" })}>${t("quotaNamed", name)}</button>${t("isFull", limit.used, limit.limit, limit.model, nWaiting(limit))}` })),
    ...lineOfNodes(ofState((node) => !isClosed(node), (gpus) => (gpus.unit === "gpu" ? gpus.stranded : 0)), "part", (item) => [t("isStranded", item.n, model(item)), leftText(item.node)].filter(Boolean).join(", "), (n, gpus) => t("areStranded", n, gpus), change),
    ...lineOfNodes(unknown, "part", (item) => t("isUnknown", item.n), (n, gpus) => t("areUnknown", n, gpus), change),
    ...(inventory.problemCount > 0 ? [{ look: "part", text: html`<${Problems} inventory=${inventory} />` }] : []),
  ];
}

function Problems({ inventory }) {
  return html`<details><summary>${t("problems", inventory.problemCount)}</summary><ul>${inventory.problems.slice(0, 100).map((one) => html`<li>${one.kind} ${one.name}: ${one.what}</li>`)}</ul></details>`;
}

function Attention({ inventory, quota, change }) {
  const lines = attentionOf(inventory, quota, change);
  const isOpen = inventory.nodes.every((node) => !isClosed(node));
  const shown = [...(isOpen ? [{ look: "good", text: t("allReady", inventory.nodes.length) }] : []), ...lines].slice(0, 4);
  const MARKS = { good: "✓", part: "▲", bad: "!" };
  return html`<${Card} title=${t("attention")} kind="attention"><ul class="notes">${shown.map(({ look, text }) => html`<li><span class=${`mark ${look}`} aria-hidden="true">${MARKS[look]}</span><span>${text}</span></li>`)}</ul></${Card}>`;
}

// Takes the key of any label.
function LabelKey({ state, change }) {
  const [text, setText] = useState(state.label);
  const use = (event) => {
    event.preventDefault();
    change({ label: text.trim() });
  };
  return html`<form class="pick" onSubmit=${use}><label>${t("labelKey")} <input id="label" value=${text} spellcheck="false" onInput=${(event) => setText(event.target.value)} /></label>
    <button class="button small" type="submit">${t("useKey")}</button></form>`;
}

// A box to find things by their names; what is found is in the address.
export function Find({ state, change, label }) {
  return html`<span class="find"><input id="find" type="search" value=${state.find} aria-label=${label} placeholder=${label} spellcheck="false"
    onInput=${(event) => change({ find: event.target.value })} /><kbd class="only-desk" aria-hidden="true">/</kbd></span>`;
}

function Tools({ state, change }) {
  const choose = (name, values, also = {}) => html`<label class="pick only-desk">${t(name)} <select id=${name} value=${state[name]} onChange=${(event) => change({ [name]: event.target.value, ...also })}>
    ${values.map((value) => html`<option value=${value} selected=${state[name] === value}>${t(`${name}_${value}`)}</option>`)}</select></label>`;
  return html`<div class="tools"><h2>${t("gpusBy", t(`group_${state.group}`))}</h2>
    ${choose("group", GROUPINGS, { tile: "" })} ${state.group === "label" && html`<${LabelKey} state=${state} change=${change} />`}
    ${choose("sort", SORTINGS)} ${choose("colour", COLOURINGS, { holder: "" })} ${choose("show", SHOWN)}
    <span class="pick">${t("roomTool")} <span class="seg" role="group" aria-label=${t("roomTool")} onKeyDown=${moveAside}>${ROOMS.map((room) => html`
      <button aria-pressed=${String(state.room === room)} onClick=${() => change({ room })}>${room === "any" ? t("any") : room}</button>`)}</span></span>
    <${Find} state=${state} change=${change} label=${t("findMap")} /></div>`;
}

export function Overview({ inventory, pending, quota, policy, pools, noGroups, tried, state, change }) {
  return html`
    <div class="first"><${Free} inventory=${inventory} /><${Waits} asked=${pending} change=${change} /><${Attention} inventory=${inventory} quota=${quota.value} change=${change} /></div>
    <${Tools} state=${state} change=${change} />
    <${Failed} failure=${state.group === "pool" ? noGroups : null} what=${t("see_groups")} />
    <${ClusterMap} inventory=${inventory} pending=${pending.value} policy=${policy} pools=${pools} tried=${tried} state=${state} change=${change} />`;
}
