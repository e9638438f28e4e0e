// One node, or one pod with the reasons, at the right of the view.
import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { Remedies, WhyNot } from "./answer.js";
import { gpuNames, gpusOf, modelsOf } from "./cells.js";
import { kubectlOf, questionOf, stateOfChange } from "./changes.js";
import { CopyCurl, CopyKubectl, CopyLink, named, quoted } from "./commands.js";
import { ChangesVerdict, changedModels, modelText } from "./effects.js";
import { post, urlOf, usePolled } from "./fetching.js";
import { Cells, stateOf } from "./map.js";
import { Empty, Failed, Loading, Meter, NodeLink, PodLink, Verdict, age, ageSince, amount, gpusText, otherText, ownerText } from "./parts.js";
import { UNCHANGED } from "./state.js";
import { t } from "./words.js";

const RELOAD_MS = 10000;
const LABELS_MS = 60000;

function Part({ title, children }) {
  return html`<section class="part-of"><h3>${title}</h3>${children}</section>`;
}

// Asks at once what would be after a change. changes: {label: change as /v1/what-if takes it}.
function WhatIf({ changes, change }) {
  const [asked, setAsked] = useState({});
  const ask = async (label) => {
    const question = questionOf("", { ...UNCHANGED, ...stateOfChange(changes[label]) });
    setAsked({ label });
    try {
      setAsked({ label, question, answer: await post(question.path, question.body) });
    } catch (failure) {
      setAsked({ label, question, failure });
    }
  };
  const { label, question, answer, failure } = asked;
  return html`<${Part} title=${t("whatIfHead")}>
    <p class="asks">${Object.keys(changes).map((name) => html`<button class="button small" aria-pressed=${String(name === label)} onClick=${() => ask(name)}>${t(name)}</button>`)}</p>
    <div class="answer" aria-live="polite">
      ${label && !answer && !failure && html`<p class="soft">${t("asking")}</p>`}
      ${failure && html`<${Failed} failure=${failure} what=${t("see_try")} />`}
      ${answer && html`<${ChangesVerdict} answer=${answer} small=${true} />
        <ul class="small">${changedModels(answer).map((one) => html`<li>${modelText(one)}</li>`)}${changedModels(answer).length === 0 && html`<li>${t("sameGpus")}</li>`}
          <li>${t("waitingAfter", answer.pending.nowRun.length, answer.pending.noLonger.length)}</li>
          ${answer.notChecked.map((note) => html`<li class="soft">${note}</li>`)}</ul>
        <p class="asks small"><button class="link" onClick=${() => change({ ...UNCHANGED, ...stateOfChange(changes[label]), view: "try", manifest: "", node: "", pod: "" })}>${t("openInTry")}</button>
          <${CopyKubectl} asked=${() => kubectlOf(question)} /></p>`}
    </div></${Part}>`;
}

// CPU, memory, pods: the scarcest first.
function Meters({ node }) {
  const rows = ["cpu", "memory", "pods"].filter((name) => node.resources[name]?.allocatable > 0).map((name) => ({ name, ...node.resources[name] }));
  const share = (row) => row.free / row.allocatable;
  const free = (row) => t("freeOfAll", amount(row.name, Math.max(0, row.free)).replace(" GiB", ""), amount(row.name, row.allocatable));
  return html`<div class="meters small">${rows.sort((a, b) => share(a) - share(b)).map((row) => html`
    <span>${t(`meter_${row.name}`)}</span><${Meter} used=${row.allocatable - row.free} limit=${row.allocatable} /><span class="num">${free(row)}</span>`)}</div>`;
}

// The pods of a node, whatever they have of it.
function podsOf(node) {
  const list = (state, pods) => pods.map((pod) => ({ ...pod, state: pod.terminating ? "terminating" : state }));
  return [...list("used", node.holders), ...list("promised", node.nominations), ...list("reserved", node.reservations)];
}

function Holders({ node, change }) {
  const pods = podsOf(node);
  return html`<${Part} title=${t("usesHere", pods.length)}>${pods.length > 0 && html`<ul class="holders">${pods.map((pod) => html`<li>
    <${PodLink} name=${`${pod.namespace}/${pod.pod}`} change=${change} /><span>${gpusText({ ...pod.gpus, ...pod.devices })}</span>
    <span class="soft">${pod.created ? ageSince(pod.created, 1) : pod.ageSeconds === undefined ? "" : age(pod.ageSeconds, 1)}</span>
    <span class="soft">${[pod.state !== "used" && t(`state_${pod.state}`), ownerText(pod), pod.priority ? t("priorityOf", pod.priority) : ""].filter(Boolean).join(", ")}</span></li>`)}</ul>`}</${Part}>`;
}

// The workloads whose nearest node this is.
function WaitsHere({ node, pending, change }) {
  const owners = (pending?.owners ?? []).filter(({ verdict }) => verdict.node === node.name);
  const lacksOf = ({ verdict }) => [gpusText(verdict.lacks), otherText(verdict.lacks)].filter(Boolean).join(", ");
  return owners.length > 0 && html`<${Part} title=${t("waitsHere", owners.length)}><ul class="holders">${owners.map((owner) => html`<li>
    <${PodLink} name=${`${owner.namespace}/${owner.firstPod}`} change=${change}>${owner.namespace}/${owner.name}</${PodLink}>
    <span>${t("asksLacks", gpusText(owner.requests, owner.gpuModels?.models[0]), lacksOf(owner))}</span></li>`)}</ul></${Part}>`;
}

// What others report of the node, and of its devices.
function Reports({ lines, title }) {
  return lines && html`<${Part} title=${t(title)}><ul class="small">${lines.map((line) => html`<li>${line}</li>`)}</ul></${Part}>`;
}

// Why pods are kept off, or should be.
function Mark({ node }) {
  const texts = [node.quarantine && t(`why_${node.quarantine}`), node.shapeTraps && t("shapeTraps", node.shapeTraps)].filter(Boolean);
  return texts.length > 0 && html`<${Part} title=${t("sickNode")}>${texts.map((text) => html`<p class="small">${text}</p>`)}</${Part}>`;
}

function Taints({ node }) {
  const taints = node.taints;
  return taints.length > 0 && html`<${Part} title=${t("taints")}><p class="small">${taints.join(", ")}</p></${Part}>`;
}

// Asked for one node alone: the labels of all nodes would be larger than all else.
function Labels({ name }) {
  const { value } = usePolled(`inventory?node=${encodeURIComponent(name)}`, LABELS_MS);
  const labels = Object.entries(value?.nodes[0]?.labels ?? {});
  return labels.length > 0 && html`<section class="part-of"><details><summary>${t("labelsOf", labels.length)}</summary><ul class="small names">${labels.map(([key, text]) => html`<li>${key}=${text}</li>`)}</ul></details></section>`;
}

function Node({ inventory, node, pending, change }) {
  const all = gpusOf(node, gpuNames(inventory));
  const asks = { whatIfDrain: { drain: [node.name] }, whatIfCordon: { cordon: [node.name] }, whatIfLike: { addNodes: { like: node.name, count: 1 } }, ...((node.quarantine || node.shapeTraps) && { whatIfLift: { lift: [node.name] } }) };
  return html`
    <p class="small soft under">${[modelsOf(all) || t("modelUnknown"), all.map((gpus) => gpus.name).join(", ")].filter(Boolean).join(", ")}. ${node.modelLabel && t("modelBy", node.modelLabel)} ${node.sharing}</p>
    <section class="part-of">${all.map((gpus) => html`<h3>${t("gpusFree", gpus.free ?? "?", gpus.total, gpus.unit)}</h3><${Cells} gpus=${gpus} large=${true} />`)}<${Meters} node=${node} /></section>
    <${Mark} node=${node} /><${Reports} lines=${node.conditions} title="conditions" /><${Reports} lines=${node.deviceTaints} title="deviceTaints" />
    <${Holders} node=${node} change=${change} />
    <${WaitsHere} node=${node} pending=${pending} change=${change} />
    <${WhatIf} changes=${asks} change=${change} />
    <${Taints} node=${node} /><${Labels} name=${node.name} />`;
}

const WAITS = { group: "verdict_waits", scheduler: "waitsForScheduler", gate: "waitsForGates" };

function titleOf(pod, { result, cause }) {
  if (pod.state === "bound") return t("runsOn", pod.node);
  if (pod.state === "finished") return t("hasEnded");
  return t(result === "waits" ? WAITS[cause] ?? "waitsItsTurn" : `verdict_${result}`);
}

function Pod({ name, inventory, change }) {
  const [namespace, pod] = name.split("/");
  const path = `explain?namespace=${encodeURIComponent(namespace)}&name=${encodeURIComponent(pod)}`;
  const curlPath = () => `explain?namespace=${named(namespace)}&name=${named(pod)}&output=table`;
  const { value, failure } = usePolled(path, RELOAD_MS);
  if (!value) return failure?.status === 404 ? html`<${Empty} title=${t("noSuchPod")} />` : failure ? html`<${Failed} failure=${failure} what=${t("see_explain")} />` : html`<${Loading} />`;
  const of = value.pod;
  const verdict = of.verdict;
  const facts = [ownerText(of), of.priority !== 0 && t("priorityOf", of.priority), of.ageSeconds !== null && t(of.state === "pending" ? "waitsFor_" : "existsFor", age(of.ageSeconds))];
  return html`
    <${Failed} failure=${failure} what=${t("see_explain")} />
    <p class="small soft under">${[[gpusText(of.requests, of.gpuModels?.models[0]), otherText(of.requests)].filter(Boolean).join(", "), ...facts].filter(Boolean).join(" · ")}</p>
    <section class="part-of"><${Verdict} result=${verdict.result} title=${titleOf(of, verdict)} small=${true}>${verdict.text}</${Verdict}>
      ${of.node && html`<p><${NodeLink} name=${of.node} change=${change} /></p>`}
      ${of.state === "pending" && html`<${Remedies} of=${of} pods=${0} change=${change} />`}</section>
    ${of.schedulerSays?.message && html`<${Part} title=${t("schedulerSays")}><p>${of.schedulerSays.message}</p></${Part}>`}
    ${value.nodes.length > 0 && of.fits === 0 && html`<${WhyNot} nodes=${value.nodes} inventory=${inventory} of="" change=${change} />`}
    ${of.notEvaluated.map((note) => html`<p class="soft small under">${t("notEvaluated")}: ${note}</p>`)}
    <${WhatIf} changes=${{ whatIfRemove: { removePods: [name] } }} change=${change} />
    <p class="asks part-of small"><button class="link" onClick=${() => change({ view: "decisions", follow: name })}>${t("followPod")}</button>
      <${CopyKubectl} asked=${() => ({ words: ["why", named(pod), "-n", named(namespace)] })} /><${CopyCurl} words=${() => [quoted(urlOf(curlPath()))]} /></p>`;
}

// The element that has the focus before the drawer opens gets it again when it is closed.
function useFocus(name) {
  const heading = useRef(null);
  const last = useRef(name);
  const opener = useRef(null);
  useEffect(() => {
    if (last.current === name) return;
    last.current = name;
    const focused = document.activeElement;
    if (!name) return opener.current?.focus();
    if (!heading.current.closest(".drawer").contains(focused)) opener.current = focused;
    heading.current.focus();
  }, [name]);
  return heading;
}

export function Drawer({ inventory, pending, state, change }) {
  const name = state.pod || state.node;
  const heading = useFocus(name);
  if (!name) return null;
  const node = !state.pod && inventory?.nodes.find((one) => one.name === state.node);
  const look = node && (node.ready ? (node.unschedulable ? "part" : "good") : "bad");
  return html`<aside class="card drawer" aria-labelledby="drawer-title">
    <header><h2 id="drawer-title" tabindex="-1" ref=${heading}>${name}</h2>${node && html`<span class=${`tag ${look}`}>${stateOf(node)}</span>`}
      <span class="right"><${CopyLink} /> <button class="button small" id="close" onClick=${() => change({ node: "", pod: "" })}>${t("close")} <kbd class="only-desk" aria-hidden="true">Esc</kbd></button></span></header>
    ${state.pod && html`<${Pod} key=${state.pod} name=${state.pod} inventory=${inventory} change=${change} />`}
    ${node && html`<${Node} key=${node.name} inventory=${inventory} node=${node} pending=${pending} change=${change} />`}
    ${!state.pod && !node && (inventory ? html`<${Empty} title=${t("noSuchNode")} />` : html`<${Loading} />`)}
  </aside>`;
}
