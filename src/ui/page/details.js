// One node, or one pod with the reasons, beside the map.
import { html, useEffect, useRef } from "./vendor/preact-htm.js";
import { gpuNames, gpusOf, modelsOf } from "./cells.js";
import { urlOf, usePolled } from "./fetching.js";
import { CopyCurl, CopyKubectl, Failed, Table, WhatIf, age, ageSince, amount, amounts, named, ownerText, quoted } from "./parts.js";
import { stateOf } from "./map.js";
import { t } from "./words.js";

const RELOAD_MS = 10000;

const podButton = (row, change) => html`<button class="link" onClick=${() => change({ pod: `${row.namespace}/${row.pod}`, node: "" })}>${row.namespace}/${row.pod}</button>`;

// The pods of a node, whatever they have of it.
function podsOf(node) {
  const list = (state, pods) => pods.map((pod) => ({ ...pod, state: pod.terminating ? "terminating" : state }));
  return [...list("used", node.holders), ...list("promised", node.nominations), ...list("reserved", node.reservations)];
}

function Node({ inventory, node, change }) {
  const resources = Object.entries(node.resources).map(([name, row]) => ({ name, ...row })).filter((row) => row.allocatable > 0 || row.used > 0);
  return html`
    <p>${modelsOf(gpusOf(node, gpuNames(inventory))) || t("modelUnknown")}${node.modelLabel && html`, <code>${node.modelLabel}</code>`}; ${stateOf(node)}${node.sharing && `; ${node.sharing}`}</p>
    <p class="bar"><${WhatIf} label="whatIfDrain" changes=${{ drain: node.name }} change=${change} />
      <${WhatIf} label="whatIfCordon" changes=${{ cordon: node.name }} change=${change} />
      <${WhatIf} label="whatIfLike" changes=${{ like: node.name }} change=${change} /></p>
    <${Table} caption=${t("resources")} rows=${resources} columns=${[
      [t("resource"), (row) => row.name],
      [t("allocatable"), (row) => amount(row.name, row.allocatable), true],
      [t("used"), (row) => amount(row.name, row.used), true],
      [t("reserved"), (row) => amount(row.name, row.reserved), true],
      [t("free"), (row) => amount(row.name, row.free), true],
    ]} />
    <${Table} caption=${t("heldBy")} rows=${podsOf(node)} columns=${[
      [t("pod"), (row) => html`${podButton(row, change)} <small>${ownerText(row)}</small>`],
      [t("gpus"), (row) => amounts({ ...row.gpus, ...row.devices })],
      [t("state"), (row) => t(`state_${row.state}`)],
      [t("priority"), (row) => row.priority ?? "", true],
      [t("age"), (row) => (row.created ? ageSince(row.created) : row.ageSeconds === undefined ? "" : age(row.ageSeconds))],
    ]} />`;
}

function Pod({ name, change }) {
  const [namespace, pod] = name.split("/");
  const path = `explain?namespace=${encodeURIComponent(namespace)}&name=${encodeURIComponent(pod)}`;
  const curlPath = () => `explain?namespace=${named(namespace)}&name=${named(pod)}&output=table`;
  const { value, failure } = usePolled(path, RELOAD_MS);
  if (!value) return html`<${Failed} failure=${failure} />`;
  const of = value.pod;
  return html`
    <${Failed} failure=${failure} />
    <p>${of.summary}</p>
    <p>${t("asksFor")}: ${amounts(of.requests)}. ${t("since")}: ${age(of.ageSeconds)}. ${t("owner")}: ${ownerText(of) || "–"}. ${t("priority")}: ${of.priority}.</p>
    ${of.node && html`<p><button class="link" onClick=${() => change({ node: of.node, pod: "" })}>${of.node}</button></p>`}
    ${of.schedulerSays?.message && html`<p>${t("schedulerSays")}: ${of.schedulerSays.message}</p>`}
    ${of.notEvaluated.map((note) => html`<p class="aside">${t("notEvaluated")}: ${note}</p>`)}
    <p class="bar"><${CopyCurl} words=${() => [quoted(urlOf(curlPath()))]} />
      <${CopyKubectl} asked=${() => ({ words: ["why", named(pod), "-n", named(namespace)] })} />
      <${WhatIf} label="whatIfRemove" changes=${{ remove: name }} change=${change} />
      <button onClick=${() => change({ tab: "decisions", follow: name })}>${t("followPod")}</button></p>
    <${Table} caption=${t("reasons")} rows=${of.reasons ?? []} columns=${[
      [t("nodes"), (row) => row.nodes, true],
      [t("reason"), (row) => row.message],
      [t("help"), (row) => row.help],
    ]} />`;
}

// The element that has the focus before an object's details are opened gets it again when they are closed.
function useFocus(name) {
  const heading = useRef(null);
  const last = useRef(name);
  const opener = useRef(null);
  useEffect(() => {
    if (last.current === name) return;
    last.current = name;
    const focused = document.activeElement;
    if (!name) return opener.current?.focus();
    if (!heading.current.parentNode.parentNode.contains(focused)) opener.current = focused;
    heading.current.focus();
  }, [name]);
  return heading;
}

export function Details({ inventory, state, change }) {
  const heading = useFocus(state.pod || state.node);
  if (!state.node && !state.pod) return null;
  const node = inventory.nodes.find((one) => one.name === state.node);
  const close = () => change({ node: "", pod: "" });
  return html`<section class="details" aria-labelledby="details-title" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <div class="bar"><h2 id="details-title" tabindex="-1" ref=${heading}>${state.pod || state.node}</h2><button onClick=${close}>${t("close")}</button></div>
    ${state.pod ? html`<${Pod} key=${state.pod} name=${state.pod} change=${change} />` : node ? html`<${Node} inventory=${inventory} node=${node} change=${change} />` : html`<p>${t("noSuchNode")}</p>`}
  </section>`;
}
