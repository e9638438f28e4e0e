// Free GPUs that no pod can use well: by model, the worst first.
import { html } from "./vendor/preact-htm.js";
import { usePolled } from "./fetching.js";
import { Card, Empty, Failed, Loading, NodeLink, Notice, Table, amount, count } from "./parts.js";
import { t } from "./words.js";

const RELOAD_MS = 15000;
const SIZES = ["2", "4", "8"];

// The nodes with stranded GPUs of a model, and what is used up there.
function StrandedOn({ row, change }) {
  const nodes = row.strandedOn.map(({ node, because, left }, i) => html`${i > 0 && ", "}<${NodeLink} name=${node} change=${change} /> ${because && html`<span class="soft">(${t("left", amount(because, left), t(`res_${because}`) ?? because)})</span>`}`);
  const nMore = row.strandedNodes - row.strandedOn.length;
  return html`${nodes}${nMore > 0 && `, ${t("more", nMore)}`}`;
}

// Racks and blocks: whole ones have room for groups. Nothing without levels.
function Domains({ domains }) {
  if (!domains?.length) return null;
  return html`<${Card} title=${t("wholeDomains", domains.filter(({ whole }) => whole).length, domains.length)}><${Table} caption=${t("domains")} rows=${domains} columns=${[
      { head: t("level"), of: ({ level }) => level },
      { head: t("domain"), of: ({ within, name }) => html`${within && html`<span class="soft">${within}/</span>`}<b>${name}</b>`, is: "of" },
      { head: t("nodes"), of: ({ nodes }) => count(nodes), is: "num" },
      { head: t("free"), of: ({ freeGpus }) => count(freeGpus), is: "num" },
      { head: t("wholeNodesHead"), of: ({ wholeNodes }) => count(wholeNodes), is: "num" },
    ]} /></${Card}>`;
}

export function Fragmentation({ inventory, again, change }) {
  const { value, failure } = usePolled("fragmentation", RELOAD_MS, again);
  if (!value) return failure ? html`<${Failed} failure=${failure} what=${t("see_fragmentation")} />` : html`<${Loading} />`;
  const sum = (of) => value.models.filter((row) => row.unit === "gpu").reduce((all, row) => all + row[of], 0);
  const free = sum("usable") + sum("stranded");
  if (free === 0) return html`<${Empty} title=${t("noneFree")} /><${Domains} domains=${inventory?.domains} />`;
  const open = (row) => row.usable + row.stranded;
  const suits = (row) => (open(row) > 0 ? `${Math.round((1 - row.fragmented / open(row)) * 100)} %` : "");
  const rows = value.models.filter((row) => open(row) > 0).sort((a, b) => b.stranded - a.stranded || b.fragmented - a.fragmented);
  const stranded = sum("stranded");
  return html`
    <${Failed} failure=${failure} what=${t("see_fragmentation")} />
    ${(!value.claimsCounted || value.claimsNote) && html`<${Notice} title=${value.claimsNotCountedBecause || value.claimsNote} />`}
    <${Card} title=${stranded > 0 ? t("nStranded", stranded, free) : t("noneStranded")}><${Table} caption=${t("tab_fragmentation")} rows=${rows} columns=${[
      { head: t("head_model"), of: (row) => html`<b>${row.model || t("modelUnknown")}</b> <span class="soft small">${row.resource === "nvidia.com/gpu" ? "" : row.resource}</span>` },
      { head: t("free"), of: (row) => count(open(row)), is: "num" },
      { head: t("stranded"), of: (row) => row.stranded > 0 && html`<b class="part">${count(row.stranded)}</b>`, is: "num" },
      ...SIZES.map((size) => ({ head: t("roomForPods", size), of: (row) => (row.unit === "gpu" && row.roomFor[size]) || "–", is: "num" })),
      { head: t("suits"), of: suits, is: "num desk" },
      { head: t("strandedOn"), of: (row) => row.stranded > 0 && html`<${StrandedOn} row=${row} change=${change} />`, is: "wide" },
    ]} /></${Card}>
    <p class="small soft">${t("suitsHelp")}</p>
    <${Domains} domains=${inventory?.domains} />`;
}
