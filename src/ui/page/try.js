// A manifest, tried on the cluster as it is: /v1/dry-run; or after changes: /v1/what-if.
import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { Job } from "./answer.js";
import { Changes, curlOf, kubectlOf, questionOf } from "./changes.js";
import { CopyCurl, CopyKubectl } from "./commands.js";
import { ChangesVerdict, Effects } from "./effects.js";
import { post } from "./fetching.js";
import { Empty, Failed, Notice, Verdict, timeOf } from "./parts.js";
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

// {placed: node -> how many pods go there (replicas, and with changes also displaced and pending pods), closing: node -> "drain" or
// "cordon", asked: resource -> what one replica asks for}
export function markedBy(answer) {
  const placed = new Map();
  const closing = new Map();
  const pods = [...(answer?.workloads.flatMap((workload) => workload.placements) ?? []), ...(answer?.displaced ?? []), ...(answer?.pending?.nowRun ?? [])];
  for (const { node } of pods) if (node) placed.set(node, (placed.get(node) ?? 0) + 1);
  for (const { change, node } of answer?.changes ?? [])
    if (change === "drain" || (change === "cordon" && !closing.has(node))) closing.set(node, change);
  const [first] = answer?.workloads ?? [];
  return { placed, closing, asked: (resource) => first?.asksFor[resource] ?? 0 };
}

// The manifest with the numbers of its lines; wrong: those with a mistake.
function Editor({ text, wrong, write, ask }) {
  const lines = useRef(null);
  const n = Math.max(24, text.split("\n").length);
  const keys = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    ask();
  };
  return html`<div class="editor">
    <pre class="lines" ref=${lines} aria-hidden="true">${Array.from({ length: n }, (_, i) => html`<span class=${wrong.has(i + 1) ? "at" : ""}>${i + 1}</span>`)}</pre>
    <textarea id="manifest" aria-label=${t("manifest")} spellcheck="false" wrap="off" rows="24" value=${text} onKeyDown=${keys} onInput=${(event) => write(event.target.value)} onScroll=${(event) => (lines.current.scrollTop = event.target.scrollTop)}></textarea></div>`;
}

// The job whose object the path of a warning begins with; the only one, if the path names none.
function jobOf({ path }, jobs) {
  const [, object] = /^([A-Z]\S* \S+): /.exec(path) ?? [];
  return object ? jobs.find((job) => `${job.kind} ${job.namespace}/${job.name}` === object) : jobs.length === 1 ? jobs[0] : undefined;
}

// Warnings, with the lines of the manifest that they are about.
function Mistakes({ of, manifest }) {
  const lines = manifest.split("\n");
  return of.map((warning) => html`<${Notice} title=${warning.line ? t("inLine", warning.line, warning.message) : warning.message}>
    ${warning.path}${warning.line && html`<code class="at block">${warning.line}  ${lines[warning.line - 1]}</code>`}</${Notice}>`);
}

const FAILING = ["mistake", "doesNotFit", "partlyFits", "waits", "notJudged"];

function failingFirst(jobs) {
  const rank = ({ verdict }) => FAILING.indexOf(verdict.result) >>> 0; // the others last
  return [...jobs].sort((a, b) => rank(a) - rank(b));
}

function Answer({ tried, inventory, state, change }) {
  const { question, answer } = tried;
  const jobs = failingFirst(answer.jobs);
  const isWhatIf = question.path === "what-if";
  const nFit = jobs.filter((job) => job.verdict.result === "fits").length;
  return html`
    ${jobs.length > 1 && html`<${Verdict} result=${nFit === jobs.length ? "fits" : nFit > 0 ? "partlyFits" : "doesNotFit"} title=${t("workloadsFit", nFit, jobs.length)}>${t("failingFirst")}</${Verdict}>`}
    ${isWhatIf && jobs.length === 0 && html`<${ChangesVerdict} answer=${answer} />`}
    ${!isWhatIf && jobs.length === 0 && html`<${Verdict} result="notJudged" title=${t("verdict_notJudged")}>${answer.summary}</${Verdict}>`}
    ${jobs.map((job) => html`<${Job} job=${job} answer=${answer} inventory=${inventory} isOnly=${jobs.length === 1} change=${change}>
      <${Mistakes} of=${answer.warnings.filter((one) => jobOf(one, jobs) === job)} manifest=${question.manifest} /></${Job}>`)}
    <${Mistakes} of=${answer.warnings.filter((one) => !jobOf(one, jobs))} manifest=${question.manifest} />
    ${answer.notUnderstood.map((one) => html`<${Notice} title=${`${one.kind} ${one.name}`}>${one.path}: ${one.message}</${Notice}>`)}
    ${isWhatIf && html`<${Effects} answer=${answer} change=${change} />`}
    ${answer.deviceRequests.map((one) => html`<p class="small">${one.object}: ${one.path}: ${one.message}</p>`)}
    ${answer.skipped.map((one) => html`<p class="soft small">${t("skipped")}: ${one.kind} ${one.name}: ${one.why}</p>`)}
    <p class="facts small"><span>${t("judgedOn", timeOf(answer.asOf))}</span>
      <${CopyKubectl} asked=${() => kubectlOf(question)} /><${CopyCurl} words=${() => curlOf(question)} />
      <button class="link" onClick=${() => change({ view: "overview", show: "map", find: "" })}>${t("onMap")}</button></p>`;
}

// text, setText: the manifest, which stays while other views are open. asked: another number asks again.
export function Try({ inventory, quota, tried, setTried, text, setText, asked, state, change }) {
  const [isAsking, setAsking] = useState(false);
  const now = questionOf(text, state);
  const isEmpty = now.path === "dry-run" && !text.trim();
  const ask = async () => {
    if (isEmpty || isAsking) return;
    setAsking(true);
    try {
      setTried({ question: now, answer: await post(now.path, now.body) });
    } catch (failure) {
      setTried({ question: now, failure });
    }
    setAsking(false);
  };
  // Whoever comes with changes, from a link or a button, has asked.
  useEffect(() => {
    if (now.path === "what-if" && tried.question?.body !== now.body) ask();
  }, [asked]);
  const clear = () => {
    setText("");
    setTried({});
    change(UNCHANGED);
  };
  const open = async (event) => {
    const [file] = event.target.files;
    if (file) setText(await file.text());
    event.target.value = "";
  };
  const { question, answer, failure } = tried;
  const wrong = new Set(answer && question.manifest === text ? answer.warnings.map((warning) => warning.line) : []);
  return html`<div class="try">
    <form class="card source" onSubmit=${(event) => { event.preventDefault(); ask(); }}>
      <header><h2><label for="manifest">${t("manifest")}</label></h2><span class="right small soft">${t("nothingCreated")}</span></header>
      <${Editor} text=${text} wrong=${wrong} write=${setText} ask=${ask} />
      <p class="acts"><button id="try-it" class="button primary" type="submit" disabled=${isAsking || isEmpty}>${isAsking ? t("asking") : t(answer ? "tryAgain" : "tryIt")} <kbd class="only-desk" aria-hidden="true">Ctrl ↵</kbd></button>
        <label class="button" for="file">${t("openFile")}<input id="file" class="hidden" type="file" onChange=${open} /></label>
        <button class="button" type="button" onClick=${() => setText(EXAMPLE)}>${t("example")}</button>
        <button class="button quiet" type="button" onClick=${clear}>${t("clear")}</button></p>
      <${Changes} inventory=${inventory} quotas=${quota.value?.quotas.map(({ name }) => name) ?? []} state=${state} change=${change} />
    </form>
    <div class="answer" aria-live="polite">
      ${failure?.status === 400 || failure?.status === 404 ? html`<${Verdict} result="mistake" title=${t("verdict_mistake")}><span role="alert">${failure.message}</span></${Verdict}>` : html`<${Failed} failure=${failure} what=${t("see_try")} />`}
      ${failure && html`<p class="facts small"><${CopyKubectl} asked=${() => kubectlOf(question)} /><${CopyCurl} words=${() => curlOf(question)} /></p>`}
      ${answer && html`<${Answer} tried=${tried} inventory=${inventory} state=${state} change=${change} />`}
      ${!question && html`<${Empty} title=${t("tryEmpty")} />`}
    </div></div>`;
}
