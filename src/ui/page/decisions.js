// The last answers to kube-scheduler, of all pods or of one.
import { html, useState } from "./vendor/preact-htm.js";
import { usePolled } from "./fetching.js";
import { Card, Empty, Failed, Loading, NodeLink, PodLink, Table, timeOf } from "./parts.js";
import { t } from "./words.js";

const RELOAD_MS = 15000;

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
  return html`<form class="tools" onSubmit=${use}><label class="pick" for="follow">${t("follow")}</label> <input id="follow" value=${text} spellcheck="false" onInput=${(event) => setText(event.target.value)} />
    <button class="button" type="submit">${t("useKey")}</button>
    ${state.follow && html`<button class="button quiet" type="button" onClick=${() => { setText(""); change({ follow: "" }); }}>${t("all")}</button>`}</form>`;
}

function reasonsText(verdicts) {
  return Object.entries(verdicts ?? {}).sort((a, b) => b[1] - a[1]).map(([name, n]) => `${n} × ${name}`).join(", ");
}

// "placed on h100-1", "no node: 12 × gpu_free", "3 nodes"
function Answer({ row, change }) {
  if (row.verb === "bind" && !row.error) return html`<b class="good" aria-hidden="true">✓</b> ${t("placedOn")} <${NodeLink} name=${row.node} change=${change} />`;
  if (row.error) return html`<b class="bad">✕</b> ${row.error}`;
  if (row.nodesHandedOn === 0) return html`<b class="bad">✕ ${t("nowhere")}</b>`;
  return row.best?.[0] ? html`${t("bestIs")} <${NodeLink} name=${row.best[0].node} change=${change} />` : t("nNodes", row.nodesHandedOn);
}

function Whole({ row }) {
  const best = (row.best ?? []).map((one) => `${one.node} ${one.score}`).join(", ");
  return html`<details><summary>${t("details")}</summary><p class="small soft">${[reasonsText(row.verdicts), best && `${t("scores")}: ${best}`].filter(Boolean).join(". ") || "–"}</p></details>`;
}

export function Decisions({ state, change, inventory, again }) {
  const { value, failure } = usePolled(`decisions${queryOf(state.follow)}`, RELOAD_MS, again);
  const follow = html`<${Follow} key=${state.follow} state=${state} change=${change} />`;
  if (!value && failure?.status === 503) return html`<${Empty} title=${t("anotherAnswers")}>${failure.message}</${Empty}>`;
  if (!value) return failure ? html`${follow}<${Failed} failure=${failure} what=${t("see_decisions")} />` : html`<${Loading} />`;
  const rows = value.decisions;
  const nothing = state.follow ? t("nothingMatches", state.follow) : t(inventory?.live === false ? "noDecisionsFile" : "noDecisions");
  return html`
    ${follow}
    <${Failed} failure=${failure} what=${t("see_decisions")} />
    ${rows.length === 0 ? html`<${Empty} title=${nothing} />` : html`<${Card} title=${t("lastAnswers", rows.length)}><${Table} caption=${t("tab_decisions")} rows=${rows} columns=${[
      { head: t("time"), of: (row) => timeOf(row.time) },
      { head: t("pod"), of: (row) => html`<${PodLink} name=${`${row.pod.namespace}/${row.pod.name}`} change=${change} />` },
      { head: t("verb"), of: (row) => row.verb, is: "desk" },
      { head: t("answer"), of: (row) => html`<${Answer} row=${row} change=${change} />`, is: "wide" },
      { head: t("askedPassed"), of: (row) => `${row.nodesAsked} → ${row.nodesHandedOn}`, is: "num desk" },
      { head: t("took"), of: (row) => `${(row.tookMicroseconds / 1000).toFixed(1)} ms`, is: "num desk" },
      { head: t("reasons"), of: (row) => html`<${Whole} row=${row} />`, is: "wide" },
    ]} /></${Card}>`}`;
}
