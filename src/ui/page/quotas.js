// The limits of quotas, the full ones first.
import { html } from "./vendor/preact-htm.js";
import { limitsText } from "./changes.js";
import { Card, Empty, Failed, Loading, Meter, Notice, Table, count } from "./parts.js";
import { UNCHANGED } from "./state.js";
import { Remedy } from "./waiting.js";
import { t } from "./words.js";

export function limitsOfAll(value) {
  return value.quotas.flatMap((quota) => quota.limits.map((limit) => ({ quota, limit })));
}

export const isFull = ({ limit }) => limit.used >= limit.limit;

// Pods that wait for the limit.
export const nWaiting = ({ waiting }) => waiting.reduce((sum, { pods }) => sum + pods, 0);

// Each namespace that waits, with what would help its first pod.
function WouldHelp({ rows, change }) {
  const first = new Map();
  for (const { limit } of rows) for (const one of limit.waiting) if (!first.has(one.namespace)) first.set(one.namespace, { ...one, model: limit.model });
  return first.size > 0 && html`<${Card} title=${t("wouldHelp")}>${[...first.values()].map((one) => html`<section class="part-of">
    <h3>${t("waitsForGpus", one.namespace, one.gpus, one.model)}</h3>
    ${one.remedies?.map((remedy) => html`<${Remedy} remedy=${remedy} change=${change} label=${t("tryShort")} also=${{ manifest: "" }} />`)}</section>`)}</${Card}>`;
}

export function Quotas({ quota, change }) {
  const { value, failure } = quota;
  if (!value) return failure ? html`<${Failed} failure=${failure} what=${t("see_quota")} />` : html`<${Loading} />`;
  const rows = limitsOfAll(value).sort((a, b) => Number(isFull(b)) - Number(isFull(a)));
  if (rows.length === 0) return html`<${Empty} title=${t("noQuotas")}>${t("noQuotasHelp")}</${Empty}>`;
  const lends = rows.some(({ limit }) => limit.borrow);
  const nFull = rows.filter(isFull).length;
  const unenforced = value.quotas.flatMap((one) => one.unenforced);
  const unknown = value.quotas.reduce((sum, one) => sum + Math.max(0, ...one.limits.map((limit) => limit.unknown)), 0);
  return html`
    <${Failed} failure=${failure} what=${t("see_quota")} />
    ${(!value.claimsCounted || value.claimsNote) && html`<${Notice} title=${value.claimsNotCountedBecause || value.claimsNote} />`}
    <${Card} title=${nFull > 0 ? t("nFull", nFull, rows.length) : t("noneFull")}><${Table} caption=${t("tab_quotas")} rows=${rows} columns=${[
      { head: t("quota"), of: ({ quota: one }) => html`<b>${one.name}</b>` },
      { head: t("gpus"), of: ({ limit }) => [limit.model || t("anyModel"), limit.resource === "nvidia.com/gpu" ? "" : limit.resource].filter(Boolean).join(" ") },
      { head: t("group_used"), of: ({ limit }) => html`<${Meter} used=${limit.used} limit=${limit.limit} cls=${isFull({ limit }) ? "full" : ""} />`, is: "bars desk" },
      { head: t("used"), of: ({ limit }) => count(limit.used), is: "num" },
      { head: t("limit"), of: ({ limit }) => count(limit.limit), is: "num" },
      { head: t("leftHead"), of: (row) => html`<b class=${isFull(row) ? "part" : ""}>${count(Math.max(0, row.limit.limit - row.limit.used))}</b>`, is: "num" },
      ...(lends ? [
        { head: t("borrowed"), of: ({ limit: { borrow } }) => borrow && html`<span title=${t("borrowRisk", borrow.maxPriority)}>${t("ofMost", borrow.used, borrow.limit)}</span>`, is: "num" },
        { head: t("lent"), of: ({ limit }) => limit.lent > 0 && t("lentTo", limit.lent, limit.borrowers.map((one) => one.quota).join(", ")), is: "wide" },
      ] : []),
      { head: t("mostUsedBy"), of: ({ limit }) => limit.users.map((user) => `${user.namespace} ${user.used}`).join(", "), is: "wide" },
      { head: t("waitsForIt"), of: ({ limit }) => limit.waiting.length > 0 && html`<button class="link" title=${t("nPods", nWaiting(limit))} onClick=${() => change({ view: "waiting", cause: "quota" })}>${limit.waiting.map((one) => `${one.namespace} ${one.gpus}`).join(", ")}</button>`, is: "desk" },
      { head: t("whatIf"), of: ({ quota: one }) => html`<button class="link" onClick=${() => change({ ...UNCHANGED, quota: one.name, limits: limitsText(one.limits), view: "try" })}>${t("otherLimits")}</button>` },
    ]} /></${Card}>
    <${WouldHelp} rows=${rows} change=${change} />
    ${unenforced.length > 0 && html`<p class="small soft">${t("unenforced", unenforced.slice(0, 6).join(", "), Math.max(0, unenforced.length - 6))}</p>`}
    ${unknown > 0 && html`<p class="small soft">${t("unknownGpus", unknown)}</p>`}`;
}
