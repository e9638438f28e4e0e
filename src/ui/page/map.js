// The map: nodes in groups, one cell a GPU. Only the lines in sight are in the document.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { CELLS_MAX, COLOURINGS, GROUPINGS, OTHER, STATES, cellsOf, colourKey, fleetOf, groupsOf, holdersOf, isClosed, marksOf } from "./cells.js";
import { Table, ageSince, ownerText } from "./parts.js";
import { t } from "./words.js";

const LINE_PX = 24;
const CELL_PX = 18;
const NAME_PX = 190;
const COUNT_PX = 90;
const MARGIN_LINES = 8; // drawn above and below what is in sight

// Used and terminating cells have the letter of their holder.
const GLYPHS = { claimed: "c", reserved: "r", promised: "p", free: "", stranded: "", closed: "–", tainted: "!", broken: "×", unknown: "?" };

// "in use: ml/train-0, 2 h, Job train"
function titleOf({ state, holder }) {
  if (!holder) return t(`state_${state}`);
  const parts = [`${holder.namespace}/${holder.pod}`, holder.created && ageSince(holder.created), ownerText(holder)];
  return `${t(`state_${state}`)}: ${parts.filter(Boolean).join(", ")}`;
}

function Cell({ run, mark, dim }) {
  const { state, holder } = run;
  const isHeld = state === "used" || state === "terminating";
  const classes = ["cell", state, isHeld && `k${mark.colour}`, dim && "dim"].filter(Boolean).join(" ");
  return html`<i class=${classes} title=${titleOf(run)} data-pod=${holder ? `${holder.namespace}/${holder.pod}` : undefined}>${isHeld ? mark.letter : GLYPHS[state]}</i>`;
}

function countText(gpus) {
  return gpus.map((one) => `${one.free ?? "?"}/${one.total}`).join(" ");
}

// "5 in use, 2 free"
function cellsText(gpus) {
  const counts = {};
  for (const run of gpus.runs) counts[run.state] = (counts[run.state] ?? 0) + run.n;
  return STATES.filter((state) => counts[state]).map((state) => `${counts[state]} ${t(`state_${state}`)}`).join(", ");
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

function NodeRow({ row, marks, placed, state, change }) {
  const node = row.nodes[0];
  const isFolded = row.nodes.length > 1;
  const n = row.nodes.reduce((sum, one) => sum + (placed.get(one.name) ?? 0), 0);
  const classes = ["node", isClosed(node) && "out", n > 0 && "placed", state.node === node.name && "chosen"].filter(Boolean).join(" ");
  const open = (event) => {
    const pod = event.target.dataset.pod;
    if (pod) change({ pod, node: "" });
    else change(isFolded ? { view: "apart" } : { node: node.name, pod: "" });
  };
  return html`<button class=${classes} onClick=${open} aria-label=${spoken(row) + (n > 0 ? `, ${t("placedHere", n)}` : "")} title=${node.name}>
    <span class="name">${isFolded ? t("nodesAlike", row.nodes.length) : node.name}</span>
    <span class="cells">${row.gpus.map((gpus) => {
      const { cells, more } = cellsOf(gpus);
      return html`<span class="gpus" title=${gpus.name}>${cells.map((run) => {
        const key = run.holder && colourKey(run.holder, state.colour);
        return html`<${Cell} run=${run} mark=${marks.get(key) ?? OTHER} dim=${state.holder && key !== state.holder} />`;
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
    const widest = group.rows.reduce((most, row) => Math.max(most, widthOf(row)), 0);
    const columns = Math.max(1, Math.floor(width / widest));
    for (let i = 0; i < group.rows.length; i += columns) lines.push({ rows: group.rows.slice(i, i + columns), columns });
  }
  return lines;
}

function groupName(key, groupBy) {
  if (groupBy === "state") return t(`group_${key}`);
  const WITHOUT = { model: "modelUnknown", pool: "noGroup" };
  return key || t(WITHOUT[groupBy] ?? "withoutLabel");
}

// What one more node of a node group would do.
function OneMore({ pool, change }) {
  if (!pool?.wouldRun) return pool && html`<small>${t(pool.wouldRun === 0 ? "oneMoreNothing" : "oneMoreUnknown")}</small>`;
  return html`<button class="link" onClick=${() => change({ tab: "try", like: pool.like, count: "1" })}>${t("oneMore", pool.wouldRun)}</button>`;
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

function Lines({ fleet, pools, placed, state, change }) {
  const box = useRef(null);
  const sight = useSight(box);
  const isApart = state.view === "apart" || placed.size > 0;
  const groups = useMemo(() => groupsOf(fleet, state.group, pools, isApart), [fleet, state.group, pools, isApart]);
  const holders = useMemo(() => holdersOf(fleet, state.colour), [fleet, state.colour]);
  const marks = useMemo(() => marksOf(holders), [holders]);
  const lines = useMemo(() => linesOf(groups, sight.width), [groups, sight.width]);
  // The first node that a manifest was placed on comes into sight.
  useEffect(() => {
    const at = lines.findIndex((line) => line.rows?.some((row) => row.nodes.some((node) => placed.has(node.name))));
    if (placed.size > 0 && at >= 0) box.current.scrollTop = Math.max(0, (at - 2) * LINE_PX);
  }, [placed]);
  const first = Math.max(0, Math.floor(sight.top / LINE_PX) - MARGIN_LINES);
  const last = Math.min(lines.length, Math.ceil((sight.top + sight.height) / LINE_PX) + MARGIN_LINES);
  return html`
    <${Legend} holders=${holders} marks=${marks} state=${state} change=${change} />
    <div class="lines" ref=${box} onKeyDown=${move} tabindex="0" role="region" aria-label=${t("map")}>
      <div class="all" style=${{ height: `${lines.length * LINE_PX}px` }}>
        ${lines.slice(first, last).map((line, i) => html`<div key=${first + i} class="line" style=${{ top: `${(first + i) * LINE_PX}px` }}>
          ${line.group
            ? html`<h3>${groupName(line.group.key, state.group)} <small>${t("groupSum", line.group.free, line.group.total, line.group.nNodes)}</small> ${state.group === "pool" && html`<${OneMore} pool=${pools.groups.get(line.group.key)} change=${change} />`}</h3>`
            : line.rows.map((row) => html`<div class="place" style=${{ width: `${100 / line.columns}%` }}><${NodeRow} key=${row.nodes[0].name} row=${row} marks=${marks} placed=${placed} state=${state} change=${change} /></div>`)}
        </div>`)}
      </div>
    </div>
    ${lines.length === 0 && html`<p>${t("noGpus")}</p>`}`;
}

const LEGEND_MAX = 12;

function Legend({ holders, marks, state, change }) {
  const states = STATES.filter((one) => one !== "used" && one !== "unknown");
  return html`<ul class="legend" aria-label=${t("legend")}>
    ${holders.slice(0, LEGEND_MAX).map(({ name, n }) => {
      const mark = marks.get(name) ?? OTHER;
      const isChosen = state.holder === name;
      return html`<li><button aria-pressed=${isChosen ? "true" : "false"} onClick=${() => change({ holder: isChosen ? "" : name })}>
        <i class=${`cell used k${mark.colour}`}>${mark.letter}</i> ${name} ${n}</button></li>`;
    })}
    ${holders.length > LEGEND_MAX && html`<li>${t("moreHolders", holders.length - LEGEND_MAX)}</li>`}
    ${states.map((one) => html`<li><i class=${`cell ${one}`}>${GLYPHS[one] ?? ""}</i> ${t(`state_${one}`)}</li>`)}
  </ul>`;
}

// The same as the map for those who do not see it.
function Twin({ fleet, pools, state, change }) {
  const groups = useMemo(() => groupsOf(fleet, state.group, pools, true), [fleet, state.group, pools]);
  const rows = groups.flatMap((group) => group.rows.flatMap((row) => row.gpus.map((gpus) => ({ node: row.nodes[0], gpus, key: group.key }))));
  const holdersText = ({ gpus }) =>
    gpus.runs.filter((run) => run.holder).map((run) => `${run.holder.namespace}/${run.holder.pod} (${run.n} ${t(`state_${run.state}`)})`).join(", ");
  const group = state.group === "model" ? [] : [[t("group"), ({ key }) => groupName(key, state.group)]];
  return html`<${Table} caption=${t("map")} rows=${rows} columns=${[
    [t("node"), ({ node }) => html`<button class="link" onClick=${() => change({ node: node.name, pod: "" })}>${node.name}</button>`],
    ...group,
    [t("model"), ({ node }) => node.model || t("modelUnknown")],
    [t("resource"), ({ gpus }) => gpus.name],
    [t("total"), ({ gpus }) => gpus.total, true],
    [t("used"), ({ gpus }) => gpus.used ?? "?", true],
    [t("free"), ({ gpus }) => gpus.free ?? "?", true],
    [t("cells"), ({ gpus }) => cellsText(gpus)],
    [t("state"), ({ node }) => stateOf(node)],
    [t("heldBy"), holdersText],
  ]} />`;
}

// Takes the key of any label.
function LabelKey({ state, change }) {
  const [text, setText] = useState(state.label);
  const use = (event) => {
    event.preventDefault();
    change({ label: text.trim() });
  };
  return html`<form class="inline" onSubmit=${use}><label>${t("labelKey")} <input id="label" value=${text} spellcheck="false" onInput=${(event) => setText(event.target.value)} /></label>
    <button type="submit">${t("useKey")}</button></form>`;
}

export function ClusterMap({ inventory, shares, pools, placed, state, change }) {
  const { fleet, nWithout } = useMemo(() => fleetOf(inventory, shares), [inventory, shares]);
  const choose = (name, values, also = {}) => html`<label>${t(name)} <select id=${name} value=${state[name]} onChange=${(event) => change({ [name]: event.target.value, ...also })}>
    ${values.map((value) => html`<option value=${value} selected=${state[name] === value}>${t(`${name}_${value}`)}</option>`)}</select></label>`;
  return html`<section>
    <div class="bar"><h2 id="map-title">${t("map")}</h2>
      ${choose("group", GROUPINGS)} ${state.group === "label" && html`<${LabelKey} state=${state} change=${change} />`}
      ${choose("colour", COLOURINGS, { holder: "" })} ${choose("view", ["map", "apart", "table"])}</div>
    ${state.view === "table"
      ? html`<${Twin} fleet=${fleet} pools=${pools} state=${state} change=${change} />`
      : html`<${Lines} fleet=${fleet} pools=${pools} placed=${placed} state=${state} change=${change} />`}
    ${nWithout > 0 && html`<p class="aside">${t("withoutGpus", nWithout)}</p>`}
  </section>`;
}
