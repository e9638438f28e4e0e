// The map: nodes in groups, one cell a GPU. Only the lines in sight are in the document.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { CELLS_MAX, cellsOf, groupsOf, holdersOf, isClosed, markOf } from "./cells.js";
import { Table } from "./parts.js";
import { t } from "./words.js";

const LINE_PX = 24;
const CELL_PX = 18;
const NAME_PX = 190;
const COUNT_PX = 90;
const MARGIN_LINES = 8; // drawn above and below what is in sight

const GLYPHS = { used: "", claimed: "c", reserved: "r", free: "", closed: "–", tainted: "!", broken: "×", unknown: "?" };

function Cell({ run, mark, dim }) {
  const { state, holder } = run;
  const colour = state === "used" ? `k${mark.colour}` : "";
  const who = holder ? `${holder.namespace}/${holder.pod}` : "";
  const glyph = state === "used" ? mark.letter : GLYPHS[state];
  return html`<i class=${`cell ${state} ${colour} ${dim ? "dim" : ""}`} title=${[t(`state_${state}`), who].filter(Boolean).join(": ")}>${glyph}</i>`;
}

function countText(gpus) {
  return gpus.map((one) => `${one.free ?? "?"}/${one.total}`).join(" ");
}

// "h100-1: 5 of 8 nvidia.com/gpu free"
function spoken(row) {
  const { nodes, gpus } = row;
  const name = nodes.length > 1 ? t("nodesAlike", nodes.length) : nodes[0].name;
  const parts = gpus.map((one) => t("freeOf", one.free ?? "?", one.total, one.name));
  if (isClosed(nodes[0])) parts.push(stateOf(nodes[0]));
  return `${name}: ${parts.join(", ")}`;
}

export function stateOf(node) {
  if (!node.ready) return t("notReady");
  return node.unschedulable ? t("cordoned") : t("ready");
}

function NodeRow({ row, holders, placed, state, change }) {
  const node = row.nodes[0];
  const isFolded = row.nodes.length > 1;
  const n = row.nodes.reduce((sum, one) => sum + (placed.get(one.name) ?? 0), 0);
  const classes = ["node", isClosed(node) && "out", n > 0 && "placed", state.node === node.name && "chosen"].filter(Boolean).join(" ");
  const open = () => change(isFolded ? { view: "apart" } : { node: node.name, pod: "" });
  return html`<button class=${classes} onClick=${open} aria-label=${spoken(row) + (n > 0 ? `, ${t("placedHere", n)}` : "")} title=${node.name}>
    <span class="name">${isFolded ? t("nodesAlike", row.nodes.length) : node.name}</span>
    <span class="cells">${row.gpus.map((gpus) => {
      const { cells, more } = cellsOf(gpus);
      return html`<span class="gpus" title=${gpus.name}>${cells.map((run) => {
        const namespace = run.holder?.namespace;
        return html`<${Cell} run=${run} mark=${markOf(holders, namespace)} dim=${state.holder && namespace !== state.holder} />`;
      })}${more > 0 && html`<span>+${more}</span>`}</span>`;
    })}</span>
    <span class="count">${n > 0 && html`<b>+${n}</b> `}${countText(row.gpus)}</span>
  </button>`;
}

function widthOf(row) {
  const nCells = row.gpus.reduce((sum, gpus) => sum + Math.min(CELLS_MAX, gpus.runs.reduce((all, run) => all + run.n, 0)) + 1, 0);
  return NAME_PX + COUNT_PX + nCells * CELL_PX;
}

// Lines: {group} or {rows}: the rows of a group, side by side.
function linesOf(groups, width) {
  const lines = [];
  for (const group of groups) {
    lines.push({ group });
    const widest = Math.max(...group.rows.map(widthOf));
    const columns = Math.max(1, Math.floor(width / widest));
    for (let i = 0; i < group.rows.length; i += columns) lines.push({ rows: group.rows.slice(i, i + columns), columns });
  }
  return lines;
}

function groupName(group, groupBy) {
  if (groupBy === "state") return t(`group_${group.key}`);
  return group.key || t("modelUnknown");
}

// The height and scroll position of the box, and its width.
function useSight(box) {
  const [sight, set] = useState({ top: 0, height: 600, width: 1000 });
  useLayoutEffect(() => {
    const look = () =>
      box.current && set({ top: box.current.scrollTop, height: box.current.clientHeight, width: box.current.clientWidth });
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    box.current.addEventListener("scroll", look, { passive: true });
    look();
    return () => observer.disconnect();
  }, []);
  return sight;
}

// Arrow keys move between the nodes in sight.
function move(event) {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step || !event.target.classList.contains("node")) return;
  const nodes = [...event.currentTarget.querySelectorAll(".node")];
  nodes[nodes.indexOf(event.target) + step]?.focus();
  event.preventDefault();
}

function Lines({ inventory, placed, state, change }) {
  const box = useRef(null);
  const sight = useSight(box);
  const { groups, nWithout } = useMemo(() => groupsOf(inventory, state.group, state.view === "apart" || placed.size > 0), [inventory, state.group, state.view, placed]);
  const holders = useMemo(() => holdersOf(inventory), [inventory]);
  const lines = useMemo(() => linesOf(groups, sight.width), [groups, sight.width]);
  // The first node that a manifest was placed on comes into sight.
  useEffect(() => {
    const at = lines.findIndex((line) => line.rows?.some((row) => row.nodes.some((node) => placed.has(node.name))));
    if (placed.size > 0 && at >= 0) box.current.scrollTop = Math.max(0, (at - 2) * LINE_PX);
  }, [placed]);
  const first = Math.max(0, Math.floor(sight.top / LINE_PX) - MARGIN_LINES);
  const last = Math.min(lines.length, Math.ceil((sight.top + sight.height) / LINE_PX) + MARGIN_LINES);
  return html`
    <${Legend} holders=${holders} state=${state} change=${change} />
    <div class="lines" ref=${box} onKeyDown=${move} tabindex="0" role="region" aria-label=${t("map")}>
      <div class="all" style=${{ height: `${lines.length * LINE_PX}px` }}>
        ${lines.slice(first, last).map((line, i) => html`<div key=${first + i} class="line" style=${{ top: `${(first + i) * LINE_PX}px` }}>
          ${line.group
            ? html`<h3>${groupName(line.group, state.group)} <small>${t("groupSum", line.group.free, line.group.total, line.group.nNodes)}</small></h3>`
            : line.rows.map((row) => html`<div class="place" style=${{ width: `${100 / line.columns}%` }}><${NodeRow} key=${row.nodes[0].name} row=${row} holders=${holders} placed=${placed} state=${state} change=${change} /></div>`)}
        </div>`)}
      </div>
    </div>
    ${lines.length === 0 && html`<p>${t("noGpus")}</p>`}
    ${nWithout > 0 && html`<p class="aside">${t("withoutGpus", nWithout)}</p>`}`;
}

const LEGEND_MAX = 12;

function Legend({ holders, state, change }) {
  const states = ["free", "reserved", "claimed", "closed", "tainted", "broken"];
  return html`<ul class="legend" aria-label=${t("legend")}>
    ${holders.slice(0, LEGEND_MAX).map((holder) => {
      const mark = markOf(holders, holder.name);
      const isChosen = state.holder === holder.name;
      return html`<li><button aria-pressed=${isChosen ? "true" : "false"} onClick=${() => change({ holder: isChosen ? "" : holder.name })}>
        <i class=${`cell used k${mark.colour}`}>${mark.letter}</i> ${holder.name} ${holder.n}</button></li>`;
    })}
    ${holders.length > LEGEND_MAX && html`<li>${t("moreNamespaces", holders.length - LEGEND_MAX)}</li>`}
    ${states.map((one) => html`<li><i class=${`cell ${one}`}>${GLYPHS[one]}</i> ${t(`state_${one}`)}</li>`)}
  </ul>`;
}

// The same as the map for those who do not see it.
function Twin({ inventory, change }) {
  const { groups } = useMemo(() => groupsOf(inventory, "model", true), [inventory]);
  const rows = groups.flatMap((group) => group.rows.flatMap((row) => row.gpus.map((gpus) => ({ node: row.nodes[0], gpus }))));
  const holdersText = ({ node, gpus }) =>
    gpus.runs.filter((run) => run.holder).map((run) => `${run.holder.namespace}/${run.holder.pod} (${run.n})`).join(", ");
  return html`<${Table} caption=${t("map")} rows=${rows} columns=${[
    [t("node"), ({ node }) => html`<button class="link" onClick=${() => change({ node: node.name, pod: "" })}>${node.name}</button>`],
    [t("model"), ({ node }) => node.model || t("modelUnknown")],
    [t("resource"), ({ gpus }) => gpus.name],
    [t("total"), ({ gpus }) => gpus.total, true],
    [t("used"), ({ gpus }) => gpus.used ?? "?", true],
    [t("free"), ({ gpus }) => gpus.free ?? "?", true],
    [t("state"), ({ node }) => stateOf(node)],
    [t("heldBy"), holdersText],
  ]} />`;
}

export function ClusterMap({ inventory, placed, state, change }) {
  const choose = (name, values) => html`<label>${t(name)} <select value=${state[name]} onChange=${(event) => change({ [name]: event.target.value })}>
    ${values.map((value) => html`<option value=${value} selected=${state[name] === value}>${t(`${name}_${value}`)}</option>`)}</select></label>`;
  return html`<section>
    <div class="bar"><h2 id="map-title">${t("map")}</h2>
      ${choose("group", ["model", "state"])} ${choose("view", ["map", "apart", "table"])}</div>
    ${state.view === "table"
      ? html`<${Twin} inventory=${inventory} change=${change} />`
      : html`<${Lines} inventory=${inventory} placed=${placed} state=${state} change=${change} />`}
  </section>`;
}
