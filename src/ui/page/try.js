// A manifest, tried on the cluster as it is: /v1/dry-run; or after changes: /v1/what-if.
import { html, useState } from "./vendor/preact-htm.js";
import { post, urlOf } from "./fetching.js";
import { CopyCurl, CopyKubectl, Failed, Notice, Table, named, quoted } from "./parts.js";
import { UNCHANGED } from "./state.js";
import { t } from "./words.js";

const EXAMPLE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: train
spec:
  replicas: 2
  selector:
    matchLabels: {app: train}
  template:
    metadata:
      labels: {app: train}
    spec:
      containers:
      - name: main
        image: registry.example/train
        resources:
          limits:
            nvidia.com/gpu: 4
`;

// node -> how many pods go there: replicas, and with changes also displaced and pending pods.
export function placesOf(answer) {
  const places = new Map();
  const pods = [...answer.workloads.flatMap((workload) => workload.placements), ...(answer.displaced ?? []), ...(answer.pending?.nowRun ?? [])];
  for (const { node } of pods) if (node) places.set(node, (places.get(node) ?? 0) + 1);
  return places;
}

// node -> "drain" or "cordon", of the nodes that the tried changes close.
export function closingOf(answer) {
  const closing = new Map();
  for (const { change, node } of answer.changes ?? [])
    if (change === "drain" || (change === "cordon" && !closing.has(node))) closing.set(node, change);
  return closing;
}

// "a, b" -> ["a", "b"]
function namesOf(text) {
  return text.split(/[\s,]+/).filter(Boolean);
}

// "[RESOURCE:][MODEL=]N, ..." -> limits as in the policy file. What is no number stays a text, for the API to name it.
export function limitsOf(text) {
  const byResource = new Map();
  for (const item of text.split(",").map((one) => one.trim()).filter(Boolean)) {
    const [, resource, model, n] = /^(?:([^:=]*):)?(?:(.*)=)?([^=]*)$/.exec(item) ?? ["", undefined, undefined, item];
    const limit = byResource.get(resource) ?? (resource ? { resource } : {});
    byResource.set(resource, limit);
    const number = /^\d+$/.test(n.trim()) ? Number(n) : n;
    if (model) limit.models = { ...limit.models, [model.trim()]: number };
    else limit.total = number;
  }
  return [...byResource.values()];
}

// From the limits of /v1/quota to that text.
export function limitsText(limits) {
  return limits.map(({ resource, model, limit }) => `${resource && `${resource}:`}${model && `${model}=`}${limit}`).join(", ");
}

const POLICIES = ["slot-price", "binpack", "spread", "fgd"];

// As /v1/what-if takes them.
function changesOf(state) {
  const changes = [];
  const like = state.like.trim();
  const [drain, cordon, removePods] = [state.drain, state.cordon, state.remove].map(namesOf);
  if (like) changes.push({ addNodes: { like, count: Math.max(1, Math.floor(Number(state.count)) || 1) } });
  if (cordon.length > 0) changes.push({ cordon });
  if (drain.length > 0) changes.push({ drain });
  if (removePods.length > 0) changes.push({ removePods });
  if (state.quota.trim()) changes.push({ quota: { name: state.quota.trim(), limits: limitsOf(state.limits) } });
  if (state.placement) changes.push({ placement: { policy: state.placement } });
  return changes;
}

// {path, body, manifest, changes}: of /v1/dry-run if there are no changes.
function questionOf(manifest, state) {
  const changes = changesOf(state);
  if (changes.length === 0) return { path: "dry-run", body: manifest, manifest, changes };
  const body = JSON.stringify({ changes, workloads: manifest.trim() ? [manifest] : [] });
  return { path: "what-if", body, manifest, changes };
}

// Of a command about these changes.
function refuseOthers(changes) {
  const names = ({ addNodes, cordon, drain, removePods }) => (addNodes ? [addNodes.like] : (cordon ?? drain ?? removePods?.flatMap((pod) => pod.split("/")) ?? []));
  changes.flatMap(names).forEach(named);
}

function curlOf(question) {
  refuseOthers(question.changes);
  return ["--data-raw", quoted(question.body), quoted(urlOf(`${question.path}?output=table`))];
}

// "--drain a,b"; null: there is no option for it.
function optionOf({ addNodes, cordon, drain, removePods }) {
  if (addNodes) return `--add-nodes ${addNodes.like}=${addNodes.count}`;
  if (cordon) return `--cordon ${cordon.join(",")}`;
  if (drain) return `--drain ${drain.join(",")}`;
  return removePods ? `--remove-pods ${removePods.join(",")}` : null;
}

// {words, input} of kubectl gpu.
function kubectlOf({ path, body, manifest, changes }) {
  refuseOthers(changes);
  if (path === "dry-run") return { words: ["fit", "-f", "-"], input: manifest };
  const options = changes.map(optionOf);
  if (options.includes(null)) return { words: ["what-if", "--changes", "-"], input: body };
  return manifest.trim() ? { words: ["what-if", ...options, "-f", "-"], input: manifest } : { words: ["what-if", ...options] };
}

// isOnly: the answer's own summary says what there is to say.
function Workload({ workload, isOnly, change }) {
  const unfit = workload.nodes.filter((node) => !node.fits);
  const nodeButton = (node) => html`<button class="link" onClick=${() => change({ node, pod: "" })}>${node}</button>`;
  return html`<article>
    <h3>${workload.kind} ${workload.namespace}/${workload.name}</h3>
    ${!isOnly && html`<p>${workload.summary}</p>`}
    <p>${workload.understood}</p>
    ${workload.notEvaluated.map((note) => html`<p class="aside">${t("notEvaluated")}: ${note}</p>`)}
    ${workload.nearMisses.length > 0 && html`<p>${t("wouldHelp")}:</p><ul>${workload.nearMisses.map((miss) => html`<li>${miss.summary}</li>`)}</ul>`}
    ${workload.preemption?.summary && html`<p class="aside">${workload.preemption.summary}</p>`}
    <${Table} caption=${t("placements")} rows=${workload.placements} columns=${[
      [t("replica"), (row) => row.replica, true],
      [t("node"), (row) => row.node ? nodeButton(row.node) : t("nowhere")],
      [t("reason"), (row) => row.reason],
    ]} />
    <${Table} caption=${t("whyNot", unfit.length)} rows=${unfit} columns=${[
      [t("node"), (row) => nodeButton(row.node)],
      [t("reason"), (row) => row.message],
      [t("help"), (row) => row.help],
    ]} />
  </article>`;
}

function podRow(change) {
  return [
    [t("pod"), (row) => html`<button class="link" onClick=${() => change({ pod: `${row.namespace}/${row.name}`, node: "" })}>${row.namespace}/${row.name}</button>`],
    [t("owner"), (row) => (row.owner ? `${row.owner.kind} ${row.owner.name}` : "")],
    [t("node"), (row) => row.node ?? t("nowhere")],
    [t("reason"), (row) => row.reason ?? ""],
  ];
}

// The models whose free GPUs change.
function changedOf({ before, after }) {
  const old = new Map(before.map((row) => [`${row.resource} ${row.model}`, row]));
  return after
    .map((row) => ({ row, was: old.get(`${row.resource} ${row.model}`) }))
    .filter(({ row, was }) => !was || was.free !== row.free || was.fragmented.toFixed(1) !== row.fragmented.toFixed(1));
}

// The limits that change, or their use.
function changedQuotas({ before, after }) {
  const keyOf = (row) => JSON.stringify([row.quota, row.resource, row.model]);
  const old = new Map(before.map((row) => [keyOf(row), row]));
  return after
    .map((row) => ({ row, was: old.get(keyOf(row)) }))
    .filter(({ row, was }) => !was || was.limit !== row.limit || was.used !== row.used);
}

// What one change does.
function effectOf(row) {
  if (row.change === "drain") return t("effectDrain", row);
  if (row.change === "cordon") return row.wasCordoned ? t("wasCordoned") : "";
  if (row.change === "addNodes") return t("effectAdd", row);
  if (row.change === "removePods") return row.node ? t("effectRemove", row.node) : t("hadNoNode");
  return row.change === "quota" ? "" : Object.entries(row.after).map(([name, value]) => `${name}: ${JSON.stringify(row.before[name])} → ${JSON.stringify(value)}`).join(", ");
}

// What the changes do.
function Effects({ answer, change }) {
  const rows = podRow(change);
  const from = [t("from"), (row) => row.from];
  const { nowRun, noLonger } = answer.pending;
  const numbers = (was, is) => `${was ?? 0} → ${is}`;
  const quotas = changedQuotas(answer.quota);
  const models = changedOf(answer.fragmentation);
  const budgets = answer.disruptionBudgets;
  return html`
    <${Table} caption=${t("applied")} rows=${answer.changes} columns=${[
      [t("change"), (row) => t(`did_${row.change}`)],
      [t("object"), (row) => row.pod ?? row.quota ?? row.like ?? row.node ?? ""],
      [t("effect"), effectOf],
    ]} />
    ${answer.displaced.length > 0 && html`<${Table} caption=${t("displaced", answer.displacedCounts.fit, answer.displacedCounts.pods)} rows=${answer.displaced} columns=${[rows[0], from, ...rows.slice(1)]} />`}
    ${nowRun.length > 0 && html`<${Table} caption=${t("nowRun", nowRun.length)} rows=${nowRun} columns=${rows} />`}
    ${noLonger.length > 0 && html`<${Table} caption=${t("noLonger", noLonger.length)} rows=${noLonger} columns=${rows} />`}
    ${budgets.met.length > 0 && html`<${Table} caption=${t("budgets")} rows=${budgets.met} columns=${[
      [t("budget"), (row) => `${row.namespace}/${row.name}`],
      [t("pods"), (row) => row.pods, true],
      [t("allowedNow"), (row) => row.disruptionsAllowed, true],
      [t("reason"), (row) => row.reason],
    ]} />`}
    ${budgets.omitted > 0 && html`<p class="aside">${t("moreBudgets", budgets.omitted)}</p>`}
    ${models.length === 0 ? html`<p>${t("sameGpus")}</p>` : html`<${Table} caption=${t("fragmentation")} rows=${models} columns=${[
      [t("model"), ({ row }) => row.model || t("modelUnknown")],
      [t("resource"), ({ row }) => row.resource],
      [t("free"), ({ row, was }) => numbers(was?.free, row.free), true],
      [t("ofNoUse"), ({ row, was }) => numbers(was?.fragmented.toFixed(1), row.fragmented.toFixed(1)), true],
    ]} />`}
    ${quotas.length > 0 && html`<${Table} caption=${t("quotas")} rows=${quotas} columns=${[
      [t("quota"), ({ row }) => row.quota],
      [t("resource"), ({ row }) => row.resource],
      [t("model"), ({ row }) => row.model || t("anyModel")],
      [t("used"), ({ row, was }) => numbers(was?.used, row.used), true],
      [t("limit"), ({ row, was }) => numbers(was?.limit, row.limit), true],
    ]} />`}
    ${answer.notChecked.map((note) => html`<p class="aside">${note}</p>`)}`;
}

function Changes({ state, change }) {
  const field = (name, properties) => html`<label>${t(`what_${name}`)} <input id=${name} value=${state[name]} spellcheck="false" autocomplete="off" onInput=${(event) => change({ [name]: event.target.value })} ...${properties} /></label>`;
  return html`<fieldset class="changes"><legend>${t("changes")}</legend>
    <span class="pair">${field("count", { type: "number", min: 1, max: 5000 })} ${field("like", {})}</span>
    ${field("drain", {})} ${field("cordon", {})} ${field("remove", { placeholder: "NAMESPACE/NAME" })}
    <span class="pair">${field("quota", {})} ${field("limits", { placeholder: t("limitsExample") })}</span>
    <label>${t("what_placement")} <select id="placement" onChange=${(event) => change({ placement: event.target.value })}>
      <option value="">${t("asInForce")}</option>
      ${POLICIES.map((name) => html`<option value=${name} selected=${state.placement === name}>${name}</option>`)}</select></label></fieldset>`;
}

// Of which nodes one more would help.
function NodeGroups({ pools, change }) {
  const rows = [...pools.groups.values()];
  if (rows.length === 0) return null;
  return html`<${Table} caption=${t("nodeGroups")} rows=${rows} columns=${[
    [t("nodeGroup"), (row) => row.name],
    [t("by"), (row) => row.by],
    [t("nodes"), (row) => row.nodes, true],
    [t("wouldRun"), (row) => row.wouldRun ?? "?", true],
    [t("more"), (row) => html`<button class="link" onClick=${() => change({ like: row.like })}>${row.like}</button>`],
  ]} />`;
}

// Leads to the map, which marks the places, and the nodes that are drained or cordoned.
function OnMap({ nMarked, state, change }) {
  const go = () => {
    change({ view: state.view === "table" ? "map" : state.view });
    requestAnimationFrame(() => document.querySelector(".lines").focus());
  };
  return nMarked > 0 && html`<button class="link" onClick=${go}>${t("onMap", nMarked)}</button>`;
}

export function Try({ tried, setTried, nMarked, pools, state, change }) {
  const [text, setText] = useState(tried.question?.manifest ?? "");
  const [isAsking, setAsking] = useState(false);
  const now = questionOf(text, state);
  const ask = async (event) => {
    event.preventDefault();
    setAsking(true);
    try {
      setTried({ question: now, answer: await post(now.path, now.body) });
    } catch (failure) {
      setTried({ question: now, failure });
    }
    setAsking(false);
  };
  const clear = () => {
    setText("");
    setTried({});
    change(UNCHANGED);
  };
  const { question, answer, failure } = tried;
  return html`
    <form onSubmit=${ask}>
      <label for="manifest">${t("manifest")}</label>
      <textarea id="manifest" spellcheck="false" rows="10" value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
      <${Changes} state=${state} change=${change} />
      <p class="bar"><button id="try-it" type="submit" disabled=${isAsking || (now.path === "dry-run" && !text.trim())}>${isAsking ? t("asking") : t("tryIt")}</button>
        <button type="button" onClick=${() => setText(EXAMPLE)}>${t("example")}</button>
        <button type="button" onClick=${clear}>${t("clear")}</button></p>
    </form>
    <div aria-live="polite">
      <${Failed} failure=${failure} />
      ${answer && html`<p><strong>${answer.summary}</strong></p>`}
    </div>
    ${!answer && html`<${NodeGroups} pools=${pools} change=${change} />`}
    ${question && html`<p class="bar"><${CopyCurl} words=${() => curlOf(question)} /> <${CopyKubectl} asked=${() => kubectlOf(question)} /> <${OnMap} nMarked=${nMarked} state=${state} change=${change} /></p>`}
    ${answer && html`
      ${question.path === "what-if" && html`<${Effects} answer=${answer} change=${change} />`}
      ${answer.warnings.map((warning) => html`<${Notice}>${warning.path}: ${warning.message}${warning.line ? ` (line ${warning.line})` : ""}</${Notice}>`)}
      ${answer.notUnderstood.map((one) => html`<${Notice}>${one.kind} ${one.name}: ${one.path}: ${one.message}</${Notice}>`)}
      ${answer.deviceRequests.map((one) => html`<p>${one.object}: ${one.path}: ${one.message}</p>`)}
      ${answer.skipped.map((one) => html`<p class="aside">${t("skipped")}: ${one.kind} ${one.name}: ${one.why}</p>`)}
      ${answer.workloads.map((workload) => html`<${Workload} workload=${workload} isOnly=${answer.workloads.length === 1 && question.path === "dry-run"} change=${change} />`)}`}`;
}
