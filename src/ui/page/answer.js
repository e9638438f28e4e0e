// One job of an answer: its verdict, what would help, where its pods go, and why not elsewhere.
import { html } from "./vendor/preact-htm.js";
import { gpuNames, gpusOf } from "./cells.js";
import { Cells } from "./map.js";
import { Card, NodeLink, NodeLinks, Notice, Table, Verdict, gpusText, otherText } from "./parts.js";
import { Remedy } from "./waiting.js";
import { t } from "./words.js";

const MOST_RANGES = 12;

// [0, 1, 2, 5] -> "0–2, 5"
function rangesOf(numbers) {
  const ranges = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === n) last[1] = n;
    else ranges.push([n, n]);
  }
  const texts = ranges.slice(0, MOST_RANGES).map(([first, last]) => (first === last ? first : `${first}–${last}`));
  return [...texts, ...(ranges.length > MOST_RANGES ? ["…"] : [])].join(", ");
}

// "llama-ft/spec.pytorchReplicaSpecs.Worker.template" -> "Worker"; "" of an object with one template.
function roleOf(workload) {
  const path = workload.name.slice(workload.name.indexOf("/") + 1).replace(/(\.template|\.template\.spec)+$/, "");
  const [, field, key] = /([^.[\]]*)(?:\[([^\]]*)\])?$/.exec(path);
  if (!workload.name.includes("/") || field === "spec") return "";
  return key && !/^\d/.test(key) ? key : field.replace(/(GroupSpecs?|Template)$/, "") + (key ? `[${key}]` : "");
}

// Rows of {role, numbers, node, reason}: a row for each node, failing first.
function placesOf(workloads) {
  const rows = new Map();
  for (const workload of workloads)
    for (const { replica, node, reason } of workload.placements) {
      const key = JSON.stringify([workload.name, node, node ? "" : reason]);
      const row = rows.get(key) ?? { workload, role: roleOf(workload), numbers: [], node, reason };
      row.numbers.push(replica);
      rows.set(key, row);
    }
  return [...rows.values()].sort((a, b) => Number(Boolean(a.node)) - Number(Boolean(b.node)));
}

// The GPUs of a row's node, after its pods have theirs.
function After({ row, inventory }) {
  const node = inventory?.nodes.find((one) => one.name === row.node);
  if (!node) return null;
  const asked = row.workload.asksFor;
  return gpusOf(node, gpuNames(inventory)).filter(({ name }) => name in asked).map((gpus) => html`<${Cells} gpus=${gpus} put=${asked[gpus.name] * row.numbers.length} />`);
}

// Kinds whose pods work only together.
const TOGETHER = /^(Job|JobSet|MPIJob|PyTorchJob|TFJob|XGBoostJob|PaddleJob|JAXJob|TrainJob|RayCluster|RayJob|LeaderWorkerSet|VCJob)$/;

function Places({ job, workloads, inventory, change }) {
  const [first] = workloads;
  const asks = workloads.length > 0 && [gpusText(first.asksFor, first.models.accept?.[0]), otherText(first.asksFor)].filter(Boolean).join(", ");
  const isHalf = job.fits > 0 && job.fits < job.pods && TOGETHER.test(job.kind);
  return html`<${Card} title=${t("placements")} note=${asks && t("each", asks)}>
    <${Table} kind="places" caption=${t("placements")} rows=${placesOf(workloads)} columns=${[
      { head: t("pods"), of: (row) => `${row.role} ${rangesOf(row.numbers)}`.trim() },
      { head: t("goesTo"), of: (row) => (row.node ? html`<b class="good" aria-hidden="true">✓</b> <${NodeLink} name=${row.node} change=${change} />` : html`<b class="bad">✕ ${t("nowhere")}</b>`) },
      { head: t("gpusAfter"), of: (row) => row.node && html`<${After} row=${row} inventory=${inventory} />`, is: "desk wide" },
    ]} />
    ${isHalf && html`<p class="small"><b class="part">▲ ${t("halfJob")}</b> ${t("halfJobWhy", job.fits, job.pods)}</p>`}</${Card}>`;
}

const CLOSED = ["unschedulable", "not_ready"];
const AMOUNTS = ["quota", "gpu_free", "gpu_nominated", "cpu", "memory", "pods", "resource", "gpu_total"];

// The nodes that do not fit, grouped by reason: [{reason, message, names}], the nearest first.
function whyNotOf(nodes, inventory) {
  const closed = new Set(inventory?.nodes.filter((node) => !node.ready || node.unschedulable).map((node) => node.name));
  const lacked = ({ lacks }) => Object.entries(lacks).reduce((sum, [name, n]) => (name.includes("/") ? sum + n : sum), 0);
  // The inventory begins with the most wanted models.
  const worth = new Map(inventory?.nodes.map(({ name }, i) => [name, i]));
  const behind = (a, b) => (worth.get(a.node) ?? worth.size) - (worth.get(b.node) ?? worth.size);
  const groups = new Map();
  for (const node of nodes.filter((one) => !one.fits).sort((a, b) => lacked(a) - lacked(b) || behind(a, b))) {
    const isClosed = CLOSED.includes(node.reason) || (node.reason === "taint" && closed.has(node.node));
    const reason = isClosed ? "closed" : node.reason;
    const group = groups.get(reason) ?? { reason, messages: new Set(), names: [] };
    group.names.push(node.node);
    group.messages.add(node.message);
    groups.set(reason, group);
  }
  const rank = ({ reason, names }) => (AMOUNTS.includes(reason) ? AMOUNTS.indexOf(reason) : 100000 - names.length);
  // The messages of one reason have the same beginning, up to a colon.
  const message = ({ reason, messages }) => (reason === "closed" ? t("closedNodes") : messages.size === 1 ? [...messages][0] : [...messages][0].split(":")[0]);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b)).map((group) => ({ ...group, message: message(group) }));
}

export function WhyNot({ nodes, inventory, of, change }) {
  const rows = whyNotOf(nodes, inventory);
  return rows.length > 0 && html`<${Card} title=${t("whyNot")} note=${t("nearestFirst", of, nodes.length)}><${Table} kind="why" caption=${t("whyNot")} rows=${rows} columns=${[
    { head: t("nodes"), of: (row) => row.names.length, is: "num" },
    { head: t("reason"), of: (row) => row.message },
    { head: t("which"), of: (row) => html`<${NodeLinks} names=${row.names} change=${change} />`, is: "wide" },
  ]} /></${Card}>`;
}

export function Remedies({ of, pods, change }) {
  const remedies = (of.remedies ?? []);
  if (remedies.length === 0) return ["doesNotFit", "partlyFits"].includes(of.verdict.result) && of.remediesTried && html`<p class="soft">${t(of.remediesTried === "all" ? "nothingHelps" : "notTried")}</p>`;
  return html`<${Card} title=${t("wouldHelp")} note=${pods > 0 && t("eachIsEnough", pods)}>${remedies.map((remedy) => html`<${Remedy} remedy=${remedy} change=${change} label=${t("tryThis")} />`)}</${Card}>`;
}

function titleOf(job, result) {
  const fits = t("podsFit", job.fits, job.pods);
  if (result === "mistake" || result === "waits") return t(`verdict_${result}`);
  if (result === "notJudged" || job.pods === 0) return t("verdict_notJudged");
  if (job.fits === 0) return t("verdict_doesNotFit");
  return job.fitsWithout === undefined || job.fitsWithout === job.fits ? fits : t("withoutChanges", fits, job.fitsWithout);
}

// children: below the verdict.
export function Job({ job, answer, inventory, isOnly, change, children }) {
  const workloads = job.workloads.map((at) => answer.workloads[at]);
  const verdict = job.verdict;
  const failing = workloads.find((workload) => workload.placed < workload.replicas);
  const name = `${job.kind} ${job.namespace}/${job.name}`;
  return html`<article aria-label=${name}>
    <${Verdict} result=${verdict.result} title=${titleOf(job, verdict.result)}>${!isOnly && html`<b>${name}.</b> `}${verdict.text}</${Verdict}>
    ${children}
    <${Remedies} of=${job} pods=${job.pods} change=${change} />
    <${Places} job=${job} workloads=${workloads} inventory=${inventory} change=${change} />
    ${failing && html`<${WhyNot} nodes=${failing.nodes} inventory=${inventory} of=${roleOf(failing)} change=${change} />`}
    ${workloads.map((workload) => html`
      ${workload.preemption?.node && html`<${Notice} kind="note" title=${workload.preemption.summary} />`}
      ${workload.notEvaluated.map((note) => html`<p class="soft small">${t("notEvaluated")}: ${note}</p>`)}`)}
  </article>`;
}
