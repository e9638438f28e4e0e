// What changes do: the verdict of a what-if without a manifest, and its numbers before and after.
import { html } from "./vendor/preact-htm.js";
import { Card, Notice, PodLink, Table, Verdict, count } from "./parts.js";
import { t } from "./words.js";

const lostOf = (answer) => answer.changes.reduce((sum, row) => sum + (row.withoutController ?? 0), 0);

// {result, title, text} of the changes alone: first whether displaced pods find a place, then what waiting pods get.
function verdictOfChanges(answer) {
  const { nowRun, noLonger } = answer.pending;
  const { pods, fit } = answer.displacedCounts;
  const lost = lostOf(answer);
  const waiting = noLonger.length > 0 ? t("loseTheirs", noLonger.length) : nowRun.length > 0 ? t("wouldRunNow", nowRun.length) : t("sameWaiting");
  if (lost > 0) {
    const names = answer.displaced.filter((pod) => !pod.owner).map((pod) => `${pod.namespace}/${pod.name}`);
    return { result: "doesNotFit", title: t("wouldBeLost", lost), text: t("noController", names.slice(0, 3).join(", "), lost) };
  }
  if (pods > fit) return { result: fit > 0 ? "partlyFits" : "doesNotFit", title: t("displaced", fit, pods), text: waiting };
  if (noLonger.length > 0) return { result: "partlyFits", title: waiting, text: noLonger[0].reason ?? "" };
  return { result: "fits", title: pods > 0 ? t("displaced", fit, pods) : nowRun.length > 0 ? waiting : t("noHarm"), text: waiting };
}

// Rows of which one of these members differs: [{row, was}].
function changedOf({ before, after }, keys, members) {
  const keyOf = (row) => JSON.stringify(keys.map((key) => row[key]));
  const old = new Map(before.map((row) => [keyOf(row), row]));
  return after.map((row) => ({ row, was: old.get(keyOf(row)) })).filter(({ row, was }) => !was || members.some((name) => was[name] !== row[name]));
}

export const changedModels = (answer) => changedOf(answer.fragmentation, ["resource", "model"], ["usable", "stranded", "largestBlock"]);
const changedDomains = (answer) => (answer.domains ? changedOf(answer.domains, ["level", "within", "name"], ["nodes", "freeGpus", "wholeNodes"]) : []);
const changedQuotas = (answer) => changedOf(answer.quota, ["quota", "resource", "model"], ["limit", "used"]);
const arrow = (was, is) => `${count(was ?? 0)} → ${count(is)}`;

// "Usable V100: 6 → 2. Most on one node: 4 → 2."
export function modelText({ row, was }) {
  const parts = [t("usableOf", row.model || t("modelUnknown"), arrow(was?.usable, row.usable))];
  if (was?.largestBlock !== row.largestBlock) parts.push(t("mostOnOne", arrow(was?.largestBlock, row.largestBlock)));
  return parts.join(" ");
}

// What one change does.
function effectOf(row) {
  if (row.change === "drain") return t("effectDrain", row);
  if (row.change === "cordon") return row.wasCordoned ? t("wasCordoned") : "";
  if (row.change === "lift") return row.wasAvoided ? "" : t("notAvoided");
  if (row.change === "addNodes") return t("effectAdd", row);
  if (row.change === "removePods") return row.node ? t("effectRemove", row.node) : t("hadNoNode");
  return row.change === "placement" ? Object.entries(row.after).map(([name, value]) => `${name}: ${JSON.stringify(row.before[name])} → ${JSON.stringify(value)}`).join(", ") : "";
}

function podRows(change) {
  return [
    { head: t("pod"), of: (row) => html`<${PodLink} name=${`${row.namespace}/${row.name}`} change=${change} />` },
    { head: t("owner"), of: (row) => (row.owner ? `${row.owner.kind} ${row.owner.name}` : ""), is: "desk" },
    { head: t("goesTo"), of: (row) => row.node ?? html`<b class="bad">✕ ${t("nowhere")}</b>` },
    { head: t("reason"), of: (row) => row.reason ?? "", is: "wide" },
  ];
}

// Failing first; only what differs.
export function Effects({ answer, change }) {
  const rows = podRows(change);
  const { nowRun, noLonger } = answer.pending;
  const from = { head: t("from"), of: (row) => row.from };
  const displaced = [...answer.displaced].sort((a, b) => Number(Boolean(a.node)) - Number(Boolean(b.node)));
  const quotas = changedQuotas(answer);
  const models = changedModels(answer);
  const domains = changedDomains(answer);
  const budgets = answer.disruptionBudgets;
  return html`<${Card} title=${t("applied")}>
    ${displaced.length > 0 && html`<${Table} caption=${t("displaced", answer.displacedCounts.fit, answer.displacedCounts.pods)} rows=${displaced} columns=${[rows[0], from, ...rows.slice(1)]} />`}
    ${noLonger.length > 0 && html`<${Table} caption=${t("noLonger", noLonger.length)} rows=${noLonger} columns=${rows} />`}
    ${nowRun.length > 0 && html`<${Table} caption=${t("nowRun", nowRun.length)} rows=${nowRun} columns=${rows} />`}
    ${budgets.met.length > 0 && html`<${Table} caption=${t("budgets")} rows=${budgets.met} columns=${[
      { head: t("budget"), of: (row) => `${row.namespace}/${row.name}` },
      { head: t("pods"), of: (row) => row.pods, is: "num" },
      { head: t("allowedNow"), of: (row) => row.disruptionsAllowed, is: "num" },
      { head: t("reason"), of: (row) => row.reason, is: "wide" },
    ]} />`}
    ${budgets.omitted > 0 && html`<p class="soft">${t("moreBudgets", budgets.omitted)}</p>`}
    ${models.length === 0 ? html`<p>${t("sameGpus")}</p>` : html`<${Table} caption=${t("freeGpus")} rows=${models} columns=${[
      { head: t("head_model"), of: ({ row }) => row.model || t("modelUnknown") },
      { head: t("resource"), of: ({ row }) => row.resource, is: "desk" },
      { head: t("usable"), of: ({ row, was }) => arrow(was?.usable, row.usable), is: "num" },
      { head: t("stranded"), of: ({ row, was }) => arrow(was?.stranded, row.stranded), is: "num desk" },
      { head: t("largestBlock"), of: ({ row, was }) => arrow(was?.largestBlock, row.largestBlock), is: "num" },
    ]} />`}
    ${domains.length > 0 && html`<${Table} caption=${t("domains")} rows=${domains} columns=${[
      { head: t("domain"), of: ({ row }) => html`<span class="soft">${row.level}</span> ${row.within && `${row.within}/`}${row.name}` },
      { head: t("nodes"), of: ({ row, was }) => arrow(was?.nodes, row.nodes), is: "num desk" },
      { head: t("free"), of: ({ row, was }) => arrow(was?.freeGpus, row.freeGpus), is: "num" },
      { head: t("wholeNodesHead"), of: ({ row, was }) => arrow(was?.wholeNodes, row.wholeNodes), is: "num" },
    ]} />`}
    ${quotas.length > 0 && html`<${Table} caption=${t("tab_quotas")} rows=${quotas} columns=${[
      { head: t("quota"), of: ({ row }) => row.quota },
      { head: t("gpus"), of: ({ row }) => [row.resource, row.model || t("anyModel")].filter(Boolean).join(" ") },
      { head: t("used"), of: ({ row, was }) => arrow(was?.used, row.used), is: "num" },
      { head: t("limit"), of: ({ row, was }) => arrow(was?.limit, row.limit), is: "num" },
    ]} />`}
    <${Table} caption=${t("changesMade")} rows=${answer.changes} columns=${[
      { head: t("change"), of: (row) => t(`did_${row.change}`) },
      { head: t("object"), of: (row) => row.pod ?? row.quota ?? row.like ?? row.node ?? "" },
      { head: t("effect"), of: effectOf, is: "wide" },
    ]} />
    ${answer.notChecked.map((note) => html`<p class="soft">${note}</p>`)}</${Card}>`;
}

// The verdict of changes without a manifest.
export function ChangesVerdict({ answer, small }) {
  const { result, title, text } = verdictOfChanges(answer);
  return html`<${Verdict} result=${result} title=${title} small=${small}>${text}</${Verdict}>${!answer.usable && html`<${Notice} title=${t("unusable")}>${answer.unusableBecause}</${Notice}>`}`;
}
