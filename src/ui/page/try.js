// A manifest, tried on the cluster as it is: /v1/dry-run.
import { html, useState } from "./vendor/preact-htm.js";
import { post } from "./fetching.js";
import { Copy, Failed, Notice, Table, quoted } from "./parts.js";
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

// node -> how many replicas go there.
export function placesOf(answer) {
  const places = new Map();
  for (const workload of answer?.workloads ?? [])
    for (const placement of workload.placements)
      if (placement.node) places.set(placement.node, (places.get(placement.node) ?? 0) + 1);
  return places;
}

function curlOf(manifest) {
  const url = new URL("../v1/dry-run?output=table", location.href.split("#")[0]);
  return `curl --data-raw ${quoted(manifest)} ${quoted(url.href)}`;
}

function kubectlOf(manifest) {
  return `printf %s ${quoted(manifest)} | kubectl gpu fit -f -`;
}

function Workload({ workload, change }) {
  const unfit = workload.nodes.filter((node) => !node.fits);
  return html`<article>
    <h3>${workload.summary}</h3>
    <p>${workload.understood}</p>
    ${workload.notEvaluated.map((note) => html`<p class="aside">${t("notEvaluated")}: ${note}</p>`)}
    ${workload.nearMisses.length > 0 && html`<p>${t("wouldHelp")}:</p><ul>${workload.nearMisses.map((miss) => html`<li>${miss.summary}</li>`)}</ul>`}
    ${workload.preemption?.summary && html`<p class="aside">${workload.preemption.summary}</p>`}
    <${Table} caption=${t("placements")} rows=${workload.placements} columns=${[
      [t("replica"), (row) => row.replica, true],
      [t("node"), (row) => row.node ? html`<button class="link" onClick=${() => change({ node: row.node, pod: "" })}>${row.node}</button>` : t("nowhere")],
      [t("reason"), (row) => row.reason],
    ]} />
    <${Table} caption=${t("whyNot", unfit.length)} rows=${unfit} columns=${[
      [t("node"), (row) => row.node],
      [t("reason"), (row) => row.message],
      [t("help"), (row) => row.help],
    ]} />
  </article>`;
}

export function Try({ tried, setTried, change }) {
  const [text, setText] = useState(tried.manifest ?? "");
  const [isAsking, setAsking] = useState(false);
  const ask = async (event) => {
    event.preventDefault();
    setAsking(true);
    try {
      setTried({ manifest: text, answer: await post("dry-run", text) });
    } catch (failure) {
      setTried({ manifest: text, failure });
    }
    setAsking(false);
  };
  const { answer, failure } = tried;
  return html`
    <form onSubmit=${ask}>
      <label for="manifest">${t("manifest")}</label>
      <textarea id="manifest" spellcheck="false" rows="12" value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
      <p class="bar"><button type="submit" disabled=${isAsking || !text.trim()}>${isAsking ? t("asking") : t("tryIt")}</button>
        <button type="button" onClick=${() => setText(EXAMPLE)}>${t("example")}</button>
        <button type="button" onClick=${() => { setText(""); setTried({}); }}>${t("clear")}</button></p>
    </form>
    <div aria-live="polite">
      <${Failed} failure=${failure} />
      ${answer && html`<p><strong>${answer.summary}</strong></p>`}
    </div>
    ${answer && html`
      <p class="bar"><${Copy} label=${t("copyCurl")} text=${() => curlOf(tried.manifest)} />
        <${Copy} label=${t("copyKubectl")} text=${() => kubectlOf(tried.manifest)} /></p>
      ${answer.warnings.map((warning) => html`<${Notice}>${warning.path}: ${warning.message}</${Notice}>`)}
      ${answer.notUnderstood.map((one) => html`<${Notice}>${one.kind} ${one.name}: ${one.path}: ${one.message}</${Notice}>`)}
      ${answer.deviceRequests.map((one) => html`<p>${one.object}: ${one.path}: ${one.message}</p>`)}
      ${answer.skipped.map((one) => html`<p class="aside">${t("skipped")}: ${one.kind} ${one.name}: ${one.why}</p>`)}
      ${answer.workloads.map((workload) => html`<${Workload} workload=${workload} change=${change} />`)}`}`;
}
