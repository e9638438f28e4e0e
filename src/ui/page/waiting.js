// The pods that wait, a row for each owner, by what they wait for.
import { html } from "./vendor/preact-htm.js";
import { usePolled } from "./fetching.js";
import { Failed, Notice, Table, age, amounts } from "./parts.js";
import { t } from "./words.js";

const RELOAD_MS = 15000;
export const CATEGORIES = ["room", "quota", "model", "claims", "rules", "gated", "errors", "fits"];

const BY_REASON = {
  room: ["gpu_free", "gpu_total", "gpu_nominated", "gpu_absent", "gpu_shared", "gpu_mig", "cpu", "memory", "pods", "resource"],
  quota: ["quota", "quota_claimed", "namespace_unknown"],
  model: ["model_unknown", "model_excluded", "model_not_wanted", "gpu_memory", "gpu_memory_unknown"],
  errors: ["pod_invalid"],
};

// What would help one of its pods.
export function categoryOf(pod) {
  if (pod.gated) return "gated";
  if (pod.refusal || !pod.judged) return "errors";
  if (pod.fits > 0) return "fits";
  const reason = pod.closest?.reason ?? pod.reasons?.[0]?.reason ?? "";
  if (/claim|device/.test(reason) && reason !== "quota_claimed") return "claims";
  return Object.keys(BY_REASON).find((category) => BY_REASON[category].includes(reason)) ?? "rules";
}

function helpOf(pod) {
  if (pod.gated) return t("gatedHelp");
  if (pod.refusal) return pod.refusal;
  if (pod.fits > 0) return t("fitsHelp", pod.fits);
  const reason = pod.reasons?.find((one) => one.reason === pod.closest?.reason);
  if (reason) return `${pod.closest.node}: ${pod.closest.message}; ${reason.help}`;
  // No node lacks only room: what rejects most of them.
  const most = [...(pod.reasons ?? [])].sort((a, b) => b.nodes - a.nodes)[0];
  return most ? `${most.message}; ${most.help}` : pod.summary;
}

function rowsOf(pending) {
  const byName = new Map(pending.pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
  const rows = [];
  for (const owner of pending.owners) {
    const pod = byName.get(`${owner.namespace}/${owner.firstPod}`);
    if (pod) rows.push({ owner, pod, category: categoryOf(pod) });
  }
  return rows;
}

export function Waiting({ state, change, again }) {
  const { value, failure } = usePolled("pending", RELOAD_MS, again);
  if (!value) return html`<${Failed} failure=${failure} />`;
  const rows = rowsOf(value);
  const shown = state.category ? rows.filter((row) => row.category === state.category) : rows;
  const button = (category, n, label) => html`<button aria-pressed=${state.category === category ? "true" : "false"} onClick=${() => change({ category })}>${label} ${n}</button>`;
  return html`
    <${Failed} failure=${failure} />
    ${value.omitted > 0 && html`<${Notice}>${t("omitted", value.omitted)}</${Notice}>`}
    ${rows.length === 0 ? html`<p>${t("nobodyWaits")}</p>` : html`<p class="filters">${button("", rows.length, t("all"))}
      ${CATEGORIES.map((category) => {
        const n = rows.filter((row) => row.category === category).length;
        return n > 0 && button(category, n, t(`category_${category}`));
      })}</p>
    <${Table} caption=${t("waitingCaption", value.podCount)} rows=${shown} columns=${[
      [t("workload"), ({ owner }) => html`<button class="link" onClick=${() => change({ pod: `${owner.namespace}/${owner.firstPod}`, node: "" })}>${owner.namespace}/${owner.name}</button> <small>${owner.kind}</small>`],
      [t("pods"), ({ owner }) => owner.pods, true],
      [t("asksFor"), ({ owner }) => amounts(owner.requests)],
      [t("since"), ({ pod }) => age(pod.ageSeconds)],
      [t("waitsFor"), ({ category }) => t(`category_${category}`)],
      [t("wouldHelp"), ({ pod }) => helpOf(pod)],
    ]} />`}`;
}
