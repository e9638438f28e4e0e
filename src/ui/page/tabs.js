// The tabs below the map, and those of them that only list an answer.
import { html, useRef, useState } from "./vendor/preact-htm.js";
import { usePolled } from "./fetching.js";
import { Failed, Notice, Table, WhatIf } from "./parts.js";
import { TABS } from "./state.js";
import { Try, limitsText } from "./try.js";
import { Waiting } from "./waiting.js";
import { t } from "./words.js";

const RELOAD_MS = 15000;

function Bar({ used, limit }) {
  const share = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0;
  return html`<span class="meter" aria-hidden="true"><span class=${used > limit ? "over" : ""} style=${{ width: `${share * 100}%` }}></span></span>`;
}

function Quotas({ change, again }) {
  const { value, failure } = usePolled("quota", RELOAD_MS, again);
  if (!value) return html`<${Failed} failure=${failure} />`;
  const rows = value.quotas.flatMap((quota) => quota.limits.map((limit) => ({ quota, limit })));
  return html`
    <${Failed} failure=${failure} />
    ${(!value.claimsCounted || value.claimsNote) && html`<${Notice}>${value.claimsNotCountedBecause || value.claimsNote}</${Notice}>`}
    ${rows.length === 0 ? html`<p>${t("noQuotas")}</p>` : html`<${Table} caption=${t("quotas")} rows=${rows} columns=${[
      [t("quota"), ({ quota }) => quota.name],
      [t("namespaces"), ({ quota }) => quota.namespaces, true],
      [t("resource"), ({ limit }) => limit.resource],
      [t("model"), ({ limit }) => limit.model || t("anyModel")],
      ["", ({ limit }) => html`<${Bar} used=${limit.used} limit=${limit.limit} />`],
      [t("used"), ({ limit }) => limit.used, true],
      [t("limit"), ({ limit }) => limit.limit, true],
      [t("unknownModel"), ({ limit }) => limit.unknown, true],
      [t("heldBy"), ({ limit }) => limit.users.map((user) => `${user.namespace} ${user.used}`).join(", ")],
      [t("whatIf"), ({ quota }) => html`<${WhatIf} kind="link" label="otherLimits" changes=${{ quota: quota.name, limits: limitsText(quota.limits) }} next="limits" change=${change} />`],
    ]} />`}`;
}

function Fragmentation({ again }) {
  const { value, failure } = usePolled("fragmentation", RELOAD_MS, again);
  if (!value) return html`<${Failed} failure=${failure} />`;
  return html`
    <${Failed} failure=${failure} />
    <p>${value.summary}</p>
    <${Table} caption=${t("fragmentation")} rows=${value.models} columns=${[
      [t("model"), (row) => row.model || t("modelUnknown")],
      [t("resource"), (row) => row.resource],
      [t("nodes"), (row) => row.nodes, true],
      [t("free"), (row) => row.free, true],
      [t("ofNoUse"), (row) => row.fragmented.toFixed(1), true],
      [t("largestBlock"), (row) => row.largestBlock, true],
      [t("wholeNodes"), (row) => row.wholeNodes, true],
    ]} />`;
}

function verdictsText(verdicts) {
  return Object.entries(verdicts ?? {}).map(([name, n]) => `${n} × ${name}`).join(", ");
}

// "namespace/name" -> the query of /v1/decisions; a name alone is looked for in all namespaces.
function queryOf(follow) {
  const slash = follow.indexOf("/");
  const query = new URLSearchParams();
  if (slash > 0) query.set("namespace", follow.slice(0, slash));
  if (slash + 1 < follow.length) query.set("name", follow.slice(slash + 1));
  return query.size > 0 ? `?${query}` : "";
}

function Follow({ state, change }) {
  const [text, setText] = useState(state.follow);
  const use = (event) => {
    event.preventDefault();
    change({ follow: text.trim() });
  };
  return html`<form class="bar" onSubmit=${use}><label>${t("follow")} <input id="follow" value=${text} spellcheck="false" onInput=${(event) => setText(event.target.value)} /></label>
    <button type="submit">${t("useKey")}</button>
    ${state.follow && html`<button type="button" onClick=${() => { setText(""); change({ follow: "" }); }}>${t("all")}</button>`}</form>`;
}

function Decisions({ state, change, again }) {
  const { value, failure } = usePolled(`decisions${queryOf(state.follow)}`, RELOAD_MS, again);
  const follow = html`<${Follow} key=${state.follow} state=${state} change=${change} />`;
  if (!value) return html`${follow}<${Failed} failure=${failure} />`;
  return html`
    ${follow}
    <${Failed} failure=${failure} />
    ${value.decisions.length === 0 ? html`<p>${t("noDecisions")}</p>` : html`<${Table} caption=${t("decisionsCaption", value.keep)} rows=${value.decisions} columns=${[
      [t("time"), (row) => row.time.replace("T", " ").replace("Z", "")],
      [t("verb"), (row) => row.verb],
      [t("pod"), (row) => html`<button class="link" onClick=${() => change({ pod: `${row.pod.namespace}/${row.pod.name}`, node: "" })}>${row.pod.namespace}/${row.pod.name}</button>`],
      [t("node"), (row) => row.node ?? row.best?.[0]?.node ?? ""],
      [t("reasons"), (row) => row.error ?? verdictsText(row.verdicts)],
      ["ms", (row) => (row.tookMicroseconds / 1000).toFixed(1), true],
    ]} />`}`;
}

const CONTENTS = { waiting: Waiting, try: Try, quotas: Quotas, fragmentation: Fragmentation, decisions: Decisions };

export function Tabs(properties) {
  const { state, change } = properties;
  const at = state.tab;
  const list = useRef(null);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = TABS[(TABS.indexOf(at) + step + TABS.length) % TABS.length];
    change({ tab: next });
    list.current.querySelector(`#tab-${next}`).focus();
  };
  return html`<section class="tabs">
    <div role="tablist" ref=${list} onKeyDown=${move}>
      ${TABS.map((name) => html`<button role="tab" id=${`tab-${name}`} aria-selected=${name === at ? "true" : "false"} aria-controls="tab-panel" tabindex=${name === at ? 0 : -1} onClick=${() => change({ tab: name })}>${t(`tab_${name}`)}</button>`)}
    </div>
    <div role="tabpanel" id="tab-panel" aria-labelledby=${`tab-${at}`}><${CONTENTS[at]} key=${at} ...${properties} /></div>
  </section>`;
}
