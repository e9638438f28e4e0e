// One node, or one pod with the reasons, beside the map.
import { html } from "./vendor/preact-htm.js";
import { usePolled } from "./fetching.js";
import { Failed, Table, age, amount, amounts } from "./parts.js";
import { stateOf } from "./map.js";
import { t } from "./words.js";

const RELOAD_MS = 10000;

function Node({ node, change }) {
  const resources = Object.entries(node.resources).map(([name, row]) => ({ name, ...row }));
  return html`
    <p>${node.model || t("modelUnknown")}${node.modelLabel && html`, <code>${node.modelLabel}</code>`}; ${stateOf(node)}${node.sharing && `; ${node.sharing}`}</p>
    <${Table} caption=${t("resources")} rows=${resources} columns=${[
      [t("resource"), (row) => row.name],
      [t("allocatable"), (row) => amount(row.name, row.allocatable), true],
      [t("used"), (row) => amount(row.name, row.used), true],
      [t("reserved"), (row) => amount(row.name, row.reserved), true],
      [t("free"), (row) => amount(row.name, row.free), true],
    ]} />
    <${Table} caption=${t("heldBy")} rows=${node.holders} columns=${[
      [t("pod"), (row) => html`<button class="link" onClick=${() => change({ pod: `${row.namespace}/${row.pod}`, node: "" })}>${row.namespace}/${row.pod}</button>`],
      [t("gpus"), (row) => amounts({ ...row.gpus, ...row.devices })],
    ]} />`;
}

function Pod({ name, change }) {
  const [namespace, pod] = name.split("/").map(encodeURIComponent);
  const { value, failure } = usePolled(`pods/${namespace}/${pod}/explain`, RELOAD_MS);
  if (!value) return html`<${Failed} failure=${failure} />`;
  const of = value.pod;
  return html`
    <${Failed} failure=${failure} />
    <p>${of.summary}</p>
    <p>${t("asksFor")}: ${amounts(of.requests)}. ${t("since")}: ${age(of.ageSeconds)}.</p>
    ${of.node && html`<p><button class="link" onClick=${() => change({ node: of.node, pod: "" })}>${of.node}</button></p>`}
    ${of.schedulerSays?.message && html`<p>${t("schedulerSays")}: ${of.schedulerSays.message}</p>`}
    <${Table} caption=${t("reasons")} rows=${of.reasons ?? []} columns=${[
      [t("nodes"), (row) => row.nodes, true],
      [t("reason"), (row) => row.message],
      [t("help"), (row) => row.help],
    ]} />`;
}

export function Details({ inventory, state, change }) {
  if (!state.node && !state.pod) return null;
  const node = inventory.nodes.find((one) => one.name === state.node);
  const close = () => change({ node: "", pod: "" });
  return html`<section class="details" aria-labelledby="details-title">
    <div class="bar"><h2 id="details-title">${state.pod || state.node}</h2><button onClick=${close}>${t("close")}</button></div>
    ${state.pod ? html`<${Pod} key=${state.pod} name=${state.pod} change=${change} />` : node ? html`<${Node} node=${node} change=${change} />` : html`<p>${t("noSuchNode")}</p>`}
  </section>`;
}
