// The map: nodes in groups, one cell a GPU. Only the lines in sight are in the document.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { CELLS_MAX, COLOURINGS, GROUPINGS, OTHER, STATES, cellsOf, colourKey, fleetOf, groupsOf, holdersOf, isClosed, marksOf, statesOf } from "./cells.js";
import { Table, ageSince, ownerText } from "./parts.js";
import { VIEWS } from "./state.js";
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

function NodeRow({ row, marks, placed, closing, state, change }) {
  const node = row.nodes[0];
  const how = closing.get(node.name); // it is closed by
  const isFolded = row.nodes.length > 1;
  const n = row.nodes.reduce((sum, one) => sum + (placed.get(one.name) ?? 0), 0);
  const classes = ["node", isClosed(node) && "out", n > 0 && "placed", how && "changed", state.node === node.name && "chosen"].filter(Boolean).join(" ");
  const open = (event) => {
    const pod = event.target.dataset.pod;
    if (pod) change({ pod, node: "" });
    else change(isFolded ? { view: "apart" } : { node: node.name, pod: "" });
  };
  return html`<button class=${classes} tabindex="-1" aria-current=${state.node === node.name ? "true" : undefined} onClick=${open} aria-label=${[spoken(row), n > 0 && t("placedHere", n), how && t(`would_${how}`)].filter(Boolean).join(", ")} title=${how ? `${node.name}: ${t(`would_${how}`)}` : node.name}>
    <span class="name">${how && html`<b class="change">${t(`did_${how}`)}</b> `}${isFolded ? t("nodesAlike", row.nodes.length) : node.name}</span>
    <span class="cells">${row.gpus.map((gpus) => {
      const { cells, more } = cellsOf(gpus);
      return html`<span class="gpus" title=${[gpus.name, gpus.model].filter(Boolean).join(", ")}>${cells.map((run) => {
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

// The node in the same column of the next line, or of the previous one. all: in the order of lines.
function nodeBeside(node, all, isDown) {
  const lineOf = (one) => Number(one.parentNode.dataset.line);
  const here = lineOf(node);
  const column = all.filter((one) => lineOf(one) === here).indexOf(node);
  const next = isDown ? all.find((one) => lineOf(one) > here) : all.findLast((one) => lineOf(one) < here);
  const nodes = next ? all.filter((one) => lineOf(one) === lineOf(next)) : [];
  return nodes[Math.min(column, nodes.length - 1)];
}

// Arrow keys lead from the map to its first node in sight, and between nodes. The map is one stop of the tabulator.
function move(event) {
  const box = event.currentTarget;
  const node = event.target.closest(".node");
  const all = [...box.querySelectorAll(".node")];
  const next = {
    ArrowDown: () => nodeBeside(node, all, true),
    ArrowUp: () => nodeBeside(node, all, false),
    ArrowRight: () => all[all.indexOf(node) + 1],
    ArrowLeft: () => all[all.indexOf(node) - 1],
  }[event.key];
  if (!next || (!node && event.target !== box)) return;
  const top = box.getBoundingClientRect().top;
  (node ? next() : all.find((one) => one.getBoundingClientRect().top >= top))?.focus();
  event.preventDefault();
}

function Lines({ fleet, resources, pools, placed, closing, state, change }) {
  const box = useRef(null);
  const sight = useSight(box);
  const isApart = state.view === "apart" || placed.size > 0 || closing.size > 0;
  const groups = useMemo(() => groupsOf(fleet, state.group, pools, isApart), [fleet, state.group, pools, isApart]);
  const holders = useMemo(() => holdersOf(fleet, state.colour), [fleet, state.colour]);
  const marks = useMemo(() => marksOf(holders), [holders]);
  const lines = useMemo(() => linesOf(groups, sight.width), [groups, sight.width]);
  // Brings into sight the first node that a manifest was placed on, else the first that is drained or cordoned; and the chosen node.
  const showFirst = (isWanted) => {
    const at = lines.findIndex((line) => line.rows?.some((row) => row.nodes.some((node) => isWanted(node.name))));
    const { scrollTop, clientHeight } = box.current;
    const isInSight = at * LINE_PX >= scrollTop && (at + 1) * LINE_PX <= scrollTop + clientHeight;
    if (at >= 0 && !isInSight) box.current.scrollTop = Math.max(0, (at - 2) * LINE_PX);
  };
  useEffect(() => {
    const marked = placed.size > 0 ? placed : closing;
    if (marked.size > 0) showFirst((name) => marked.has(name));
  }, [placed, closing]);
  // Its details make the map narrower, and move the lines.
  useEffect(() => {
    if (state.node) showFirst((name) => name === state.node);
  }, [state.node, sight.width]);
  const first = Math.max(0, Math.floor(sight.top / LINE_PX) - MARGIN_LINES);
  const last = Math.min(lines.length, Math.ceil((sight.top + sight.height) / LINE_PX) + MARGIN_LINES);
  return html`
    <${Legend} fleet=${fleet} holders=${holders} marks=${marks} state=${state} change=${change} />
    <div class="lines" ref=${box} onKeyDown=${move} tabindex="0" role="region" aria-label=${t("mapKeys")}>
      <div class="all" style=${{ height: `${lines.length * LINE_PX}px` }}>
        ${lines.slice(first, last).flatMap((line, i) => {
          const top = `${(first + i) * LINE_PX}px`;
          if (line.group)
            return html`<div key=${`group ${line.group.key}`} class="line" style=${{ top }}><h3>${groupName(line.group.key, state.group)} <small>${t("groupSum", line.group.free, line.group.total, line.group.nNodes)}</small> ${state.group === "pool" && html`<${OneMore} pool=${pools.groups.get(line.group.key)} change=${change} />`}</h3></div>`;
          const width = 100 / line.columns;
          return line.rows.map((row, at) => html`<div key=${`node ${row.nodes[0].name}`} class="line place" data-line=${first + i} style=${{ top, left: `${at * width}%`, width: `${width}%` }}>
            <${NodeRow} row=${row} marks=${marks} placed=${placed} closing=${closing} state=${state} change=${change} /></div>`);
        })}
      </div>
    </div>
    ${lines.length === 0 && html`<p>${t("noGpus")} ${resources && t("noGpusHelp", resources.join(", "))}</p>`}`;
}

const LEGEND_MAX = 12;

function Legend({ fleet, holders, marks, state, change }) {
  const present = useMemo(() => statesOf(fleet), [fleet]);
  const states = STATES.filter((one) => one !== "used" && present.has(one));
  return html`<ul class="legend" aria-label=${t("legend")}>
    ${holders.slice(0, LEGEND_MAX).map(({ name, n }) => {
      const mark = marks.get(name) ?? OTHER;
      const isChosen = state.holder === name;
      return html`<li><button aria-pressed=${isChosen ? "true" : "false"} onClick=${() => change({ holder: isChosen ? "" : name })}>
        <i class=${`cell used k${mark.colour}`}>${mark.letter}</i> ${name} ${n}</button></li>`;
    })}
    ${holders.length > LEGEND_MAX && html`<li>${t("moreHolders", holders.length - LEGEND_MAX)}</li>`}
    ${states.map((one) => html`<li><i class=${`cell ${one}`}>${GLYPHS[one] ?? "A"}</i> ${t(`state_${one}`)}</li>`)}
    ${states.length > 0 && html`<li><span class="count">2/8</span> ${t("legendCount")}</li>`}
  </ul>`;
}

// The same as the map for those who do not see it.
function Twin({ fleet, pools, placed, closing, state, change }) {
  const groups = useMemo(() => groupsOf(fleet, state.group, pools, true), [fleet, state.group, pools]);
  const rows = groups.flatMap((group) => group.rows.flatMap((row) => row.gpus.map((gpus) => ({ node: row.nodes[0], gpus, key: group.key }))));
  const holdersText = ({ gpus }) =>
    gpus.runs.filter((run) => run.holder).map((run) => `${run.holder.namespace}/${run.holder.pod} (${run.n} ${t(`state_${run.state}`)})`).join(", ");
  const places = placed.size === 0 ? [] : [[t("wouldGo"), ({ node }) => placed.get(node.name) ?? "", true]];
  const group = state.group === "model" ? [] : [[t("group"), ({ key }) => groupName(key, state.group)]];
  return html`<${Table} caption=${t("map")} rows=${rows} columns=${[
    [t("node"), ({ node }) => html`<button class="link" onClick=${() => change({ node: node.name, pod: "" })}>${node.name}</button>`],
    ...group,
    ...places,
    [t("model"), ({ gpus }) => gpus.model || t("modelUnknown")],
    [t("resource"), ({ gpus }) => gpus.name],
    [t("total"), ({ gpus }) => gpus.total, true],
    [t("used"), ({ gpus }) => gpus.used ?? "?", true],
    [t("free"), ({ gpus }) => gpus.free ?? "?", true],
    [t("cells"), ({ gpus }) => cellsText(gpus)],
    [t("state"), ({ node }) => [stateOf(node), closing.has(node.name) && t(`would_${closing.get(node.name)}`)].filter(Boolean).join(", ")],
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

export function ClusterMap({ inventory, resources, pools, placed, closing, state, change }) {
  const { fleet, nWithout } = useMemo(() => fleetOf(inventory), [inventory]);
  const choose = (name, values, also = {}) => html`<label>${t(name)} <select id=${name} value=${state[name]} onChange=${(event) => change({ [name]: event.target.value, ...also })}>
    ${values.map((value) => html`<option value=${value} selected=${state[name] === value}>${t(`${name}_${value}`)}</option>`)}</select></label>`;
  return html`<section>
    <div class="bar"><h2 id="map-title">${t("map")}</h2>
      ${choose("group", GROUPINGS)} ${state.group === "label" && html`<${LabelKey} state=${state} change=${change} />`}
      ${choose("colour", COLOURINGS, { holder: "" })} ${choose("view", VIEWS)}</div>
    ${state.view === "table"
      ? html`<${Twin} fleet=${fleet} pools=${pools} placed=${placed} closing=${closing} state=${state} change=${change} />`
      : html`<${Lines} fleet=${fleet} resources=${resources} pools=${pools} placed=${placed} closing=${closing} state=${state} change=${change} />`}
    ${nWithout > 0 && html`<p class="aside">${t("withoutGpus", nWithout)}</p>`}
  </section>`;
}
