// The map: a row for each model, with a tile for each node and a cell for each GPU; and the same as a table.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { FOLD_MIN, OTHER, STATES, afterPut, cellsOf, colourKey, fleetOf, holdersOf, marksOf, matches, rowsOf, statesOf, tilesOf, wantedOf } from "./cells.js";
import { Empty, NodeLink, Table, ageSince, amount, count, ownerText } from "./parts.js";
import { t } from "./words.js";

const ROWS_MOST = 100;
const LINE_PX = 26;
const MARGIN_LINES = 8; // drawn above and below what is in sight

// Cells of pods have the letter of their holder if they are coloured.
const GLYPHS = { claimed: "c", reserved: "r", promised: "p", closed: "–", tainted: "!", broken: "×", unknown: "?" };

// "in use: ml/train-0, 2 h, Job train"
function titleOf({ state, holder }) {
  if (!holder) return t(`state_${state}`);
  const parts = [`${holder.namespace}/${holder.pod}`, holder.created && ageSince(holder.created), ownerText(holder)];
  return `${t(`state_${state}`)}: ${parts.filter(Boolean).join(", ")}`;
}

// The cells of one pod are joined. marks: of the colours; holder: the one that stands out.
function Run({ run, colour, marks, chosen }) {
  const { state, n, holder } = run;
  const isHeld = holder && (state === "used" || state === "terminating");
  const key = isHeld && colourKey(holder, colour);
  const mark = key === undefined || !isHeld ? null : (marks.get(key) ?? OTHER);
  const classes = [state, mark && `k${mark.colour}`].filter(Boolean).join(" ");
  const text = mark ? mark.letter : GLYPHS[state];
  const cells = Array.from({ length: n }, () => html`<i class=${`cell ${classes}`}>${text}</i>`);
  return html`<span class=${`${holder || state === "put" ? "run" : "run apart"} ${chosen && key !== chosen ? "dim" : ""}`} title=${titleOf(run)} data-pod=${holder ? `${holder.namespace}/${holder.pod}` : undefined}>${cells}</span>`;
}

// put: how many of the GPUs a try takes.
export function Cells({ gpus, put = 0, colour = "state", marks, chosen, large }) {
  const { runs, more } = cellsOf(put > 0 ? afterPut(gpus, put) : gpus);
  return html`<span class=${`cells ${gpus.unit === "gpu" ? "" : "slices"} ${large ? "large" : ""}`}>
    ${runs.map((run) => html`<${Run} run=${run} colour=${colour} marks=${marks} chosen=${chosen} />`)}${more > 0 && html`<span>+${count(more)}</span>`}</span>`;
}

export function stateOf(node) {
  if (!node.ready) return t("notReady");
  return node.unschedulable ? t("cordoned") : t("ready");
}

// What is used up where GPUs are stranded: "6 GiB memory left" of one node, "lacks memory" of several.
export function leftText(node) {
  const because = node.strandedBecause;
  return because && node.resources[because] ? t("left", amount(because, Math.max(0, node.resources[because].free)), t(`res_${because}`) ?? because) : "";
}

function strandedText(node, gpus, isOne) {
  if (gpus.some((one) => one.stranded > 0 && one.unit === "share")) return t("onlyShared");
  if (!node.strandedBecause) return t("sum_stranded");
  return (isOne && leftText(node)) || t("lacks", t(`res_${node.strandedBecause}`) ?? node.strandedBecause);
}

// What is odd of a node: [words, kind]; null if nothing is. how: "drain" or "cordon", of a try. isOne: of one node, with the amount.
function tagOf({ node, gpus }, how, isOne) {
  if (how) return [t(`would_${how}`), "part"];
  if (!node.ready) return [t("notReady"), "bad"];
  if (node.unschedulable) return [t("cordoned"), "part"];
  if (node.quarantine) return [t(`mark_${node.quarantine}`), "bad"];
  if (gpus.some((one) => one.stranded > 0)) return [strandedText(node, gpus, isOne), "part"];
  const [taint] = node.taints;
  return taint ? [t("tainted", taint.replace(/[=:].*$/, "")), ""] : null;
}

function cellsText(gpus) {
  const counts = {};
  for (const run of gpus.runs) counts[run.state] = (counts[run.state] ?? 0) + run.n;
  return STATES.filter((state) => counts[state]).map((state) => `${counts[state]} ${t(`state_${state}`)}`).join(", ");
}

// "ml-training/finetune-0, finetune-1"
function holdersText(node, gpus) {
  let last = "";
  const pods = gpus.flatMap((one) => one.runs.filter((run) => run.holder).map((run) => run.holder));
  return pods.map(({ namespace, pod }) => {
    const text = namespace === last ? pod : `${namespace}/${pod}`;
    last = namespace;
    return text;
  }).join(", ");
}

// A long name is cut in its middle, as its ends differ.
function Name({ text }) {
  if (text.length <= 12) return html`<span class="who">${text}</span>`;
  return html`<span class="who cut"><span>${text.slice(0, -6)}</span><span>${text.slice(-6)}</span></span>`;
}

function Tile({ tile, isOnly, view }) {
  const { state, change, marks, placed, closing } = view;
  const [{ node, gpus }] = tile.items;
  const isMany = tile.isFolded && tile.items.length > 1;
  const n = placed.get(node.name) ?? 0;
  const how = closing.get(node.name);
  const tag = tagOf(tile.items[0], how, !tile.isFolded);
  const isDim = state.room !== "any" && !gpus.some((one) => one.usable >= Number(state.room));
  const isChosen = isMany ? state.tile === tile.key || tile.items.some((one) => one.node.name === state.node) : state.node === node.name;
  const classes = ["tile", isDim && "dim", n > 0 && "placed", how && "changed", isChosen && "chosen"].filter(Boolean).join(" ");
  const open = (event) => {
    const pod = !isMany && event.target.closest("[data-pod]")?.dataset.pod;
    if (pod) change({ pod, node: "" });
    else change(isMany ? { tile: state.tile === tile.key ? "" : tile.key } : { node: node.name, pod: "" });
  };
  const name = isMany ? t("nNodes", tile.items.length) : node.name;
  const spoken = [name, ...gpus.map((one) => t("freeOf", one.free ?? "?", one.total, one.name)), tag?.[0], n > 0 && t("placedHere", n)];
  return html`<button class=${classes} tabindex="-1" title=${name} onClick=${open}
    data-node=${isMany ? undefined : node.name} aria-expanded=${isMany ? String(state.tile === tile.key) : undefined}
    aria-current=${isChosen ? "true" : undefined} aria-label=${spoken.filter(Boolean).join(", ")}>
    <${Name} text=${name} />
    ${gpus.map((one) => html`<${Cells} gpus=${one} put=${n > 0 ? n * view.asked(one.name) : 0} colour=${isMany ? "state" : state.colour} marks=${marks} chosen=${state.holder} />`)}
    ${n > 0 && html`<span class="tag you">+${n}</span>`}
    ${tag && html`<span class=${`tag ${tag[1]}`}>${tag[0]}</span>`}
    ${isOnly && html`<span class="pods">${holdersText(node, gpus)}</span>`}
  </button>`;
}

function groupName(key, groupBy) {
  if (groupBy === "state") return t(`group_${key}`);
  const WITHOUT = { pool: "noGroup" };
  return key || t(WITHOUT[groupBy] ?? "withoutLabel");
}

// [name, note] of a row.
function namesOf(row, groupBy) {
  if (groupBy !== "model") return [groupName(row.key, groupBy), t("nNodes", row.items.length)];
  const note = row.unit === "share" ? t("shares") : row.sharing || (row.resource === "nvidia.com/gpu" ? "" : row.resource);
  return [row.model || t("modelUnknown"), note];
}

// The list of a tile's nodes, of which only visible lines are in the document.
function Opened({ tile, view }) {
  const box = useRef(null);
  const sight = useSight(box);
  const columns = Math.max(1, Math.floor(sight.width / 300));
  const lines = Math.ceil(tile.items.length / columns);
  const first = Math.max(0, Math.floor(sight.top / LINE_PX) - MARGIN_LINES);
  const shown = tile.items.slice(first * columns, (Math.ceil((sight.top + sight.height) / LINE_PX) + MARGIN_LINES) * columns);
  const at = tile.items.findIndex(({ node }) => node.name === view.state.node);
  useEffect(() => {
    if (at >= 0) box.current.scrollTop = Math.max(0, (Math.floor(at / columns) - 2) * LINE_PX);
  }, [at, columns]);
  return html`<div class="opened" ref=${box} tabindex="0" role="region" aria-label=${t("nNodes", tile.items.length)}>
    <div style=${{ height: `${lines * LINE_PX}px` }}>
      <div class="tiles" style=${{ transform: `translateY(${first * LINE_PX}px)`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
        ${shown.map((item) => html`<${Tile} key=${item.node.name} tile=${{ key: item.node.name, items: [item] }} view=${view} />`)}</div></div></div>`;
}

// The height and scroll position of the box, and its width.
function useSight(box) {
  const [sight, set] = useState({ top: 0, height: 300, width: 900 });
  useLayoutEffect(() => {
    const look = () => box.current && set({ top: box.current.scrollTop, height: box.current.clientHeight, width: box.current.clientWidth });
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    box.current.addEventListener("scroll", look, { passive: true });
    look();
    return () => observer.disconnect();
  }, []);
  return sight;
}

function Row({ row, view }) {
  const { state, change, pools } = view;
  const [name, note] = namesOf(row, state.group);
  const tiles = tilesOf(row, (item) => tagOf(item, null, false)?.[0], (node) => view.placed.has(node.name) || view.closing.has(node.name));
  const opened = tiles.find((tile) => tile.isFolded && tile.items.length > 1 && (tile.key === state.tile || tile.items.some(({ node }) => node.name === state.node)));
  const pool = state.group === "pool" && pools.groups.get(row.key);
  const isPart = row.unit === "slice" || row.unit === "share";
  const isOne = row.items.length === 1;
  return html`<div class="row">
    <span class="name">${name} ${note && html`<small>${note}</small>`} ${row.wanted > 0 && html`<small class=${`only-phone ${row.wanted > row.usable ? "part" : ""}`}>${t("nWanted", row.wanted)}</small>`}
      ${pool?.wouldRun > 0 && html`<button class="link small" onClick=${() => change({ view: "try", like: pool.like, count: "1" })}>${t("oneMore", pool.wouldRun)}</button>`}</span>
    <span class="has"><b class=${row.usable === 0 ? "no" : ""}>${count(row.usable)}</b> <span class="soft">${t("ofAll", row.total)}</span>
      ${row.largest < row.usable && html`<span class="only-phone soft small"> · ${t("onOne", row.largest)}</span>`}</span>
    <span class=${`want ${row.wanted > row.usable ? "part" : ""}`}>${row.wanted > 0 && count(row.wanted)}</span>
    ${row.room.map((n) => html`<span class=${`fits ${n === 0 ? "no" : ""}`}>${n === 0 || isPart ? "–" : count(n)}</span>`)}
    <div class=${`tiles ${isOne ? "one" : ""}`}>${tiles.map((tile) => html`<${Tile} key=${tile.key} tile=${tile} isOnly=${isOne} view=${view} />`)}</div>
    ${opened && html`<${Opened} key=${opened.key} tile=${opened} view=${view} />`}
  </div>`;
}

// The tile nearest to this one above, below or beside it.
function tileBeside(tile, all, key) {
  const here = tile.getBoundingClientRect();
  const isSide = key === "ArrowLeft" || key === "ArrowRight";
  if (isSide) return all[all.indexOf(tile) + (key === "ArrowRight" ? 1 : -1)];
  const sign = key === "ArrowDown" ? 1 : -1;
  const away = (one) => (one.getBoundingClientRect().top - here.top) * sign;
  const others = all.filter((one) => away(one) > 4);
  const nearest = Math.min(...others.map(away));
  const across = (one) => Math.abs(one.getBoundingClientRect().left - here.left);
  return others.filter((one) => away(one) < nearest + 4).sort((a, b) => across(a) - across(b))[0];
}

// Arrow keys lead from the map to its first tile in sight, and between tiles. The map is one stop of the tabulator.
function move(event) {
  if (!event.key.startsWith("Arrow")) return;
  const box = event.currentTarget;
  const tile = event.target.closest(".tile");
  const all = [...box.querySelectorAll(".tile")];
  if (!tile && event.target !== box) return;
  (tile ? tileBeside(tile, all, event.key) : (all.find((one) => one.getBoundingClientRect().top >= 48) ?? all[0]))?.focus();
  event.preventDefault();
}

function Heads({ state, isFolded }) {
  return html`<div class="row heads"><span>${t(`head_${state.group}`)}</span><span class="num">${t("usable")}</span><span class="num" title=${t("wantedHelp")}>${t("wanted")}</span>
    ${[2, 4, 8].map((size, i) => html`<span class="num room" title=${t("roomForPods", size)}>${i === 0 && html`<i>${t("roomFor")}</i>`}${size}</span>`)}
    <span class="nodes">${t(isFolded ? "headFolded" : "headNodes")}</span></div>`;
}

const LEGEND_MAX = 12;
const IN_CARD = ["used", "free", "stranded", "closed"]; // what the first card explains

function Legend({ fleet, holders, view }) {
  const { state, change, marks } = view;
  const present = useMemo(() => statesOf(fleet), [fleet]);
  const states = STATES.filter((one) => !IN_CARD.includes(one) && present.has(one));
  if (holders.length === 0 && states.length === 0) return null;
  return html`<ul class="keys small legend foot" aria-label=${t("legend")}>
    ${holders.slice(0, LEGEND_MAX).map(({ name, n }) => {
      const mark = marks.get(name) ?? OTHER;
      const isChosen = state.holder === name;
      return html`<li><button class="button small" aria-pressed=${String(isChosen)} onClick=${() => change({ holder: isChosen ? "" : name })}>
        <i class=${`cell used k${mark.colour}`}>${mark.letter}</i> ${name} ${count(n)}</button></li>`;
    })}
    ${holders.length > LEGEND_MAX && html`<li>${t("moreHolders", holders.length - LEGEND_MAX)}</li>`}
    ${states.map((one) => html`<li><i class=${`cell ${one}`}>${GLYPHS[one]}</i> ${t(`state_${one}`)}</li>`)}
  </ul>`;
}

// The same as the map for those who do not see it: all nodes.
function Twin({ rows, view }) {
  const { state, change, placed, closing } = view;
  const lines = rows.flatMap((row) => row.items.flatMap(({ node, gpus }) => gpus.map((one) => ({ node, gpus: one, row }))));
  const places = placed.size === 0 ? [] : [{ head: t("wouldGo"), of: ({ node }) => placed.get(node.name), is: "num" }];
  const group = state.group === "model" ? [] : [{ head: t(`head_${state.group}`), of: ({ row }) => groupName(row.key, state.group) }];
  const held = ({ gpus }) => gpus.runs.filter((run) => run.holder).map((run) => `${run.holder.namespace}/${run.holder.pod} (${run.n} ${t(`state_${run.state}`)})`).join(", ");
  return html`<section class="card"><${Table} caption=${t("allNodes")} rows=${lines} columns=${[
    { head: t("node"), of: ({ node }) => html`<${NodeLink} name=${node.name} change=${change} />` },
    ...group,
    ...places,
    { head: t("head_model"), of: ({ gpus }) => gpus.model || t("modelUnknown") },
    { head: t("resource"), of: ({ gpus }) => gpus.name, is: "desk" },
    { head: t("usable"), of: ({ gpus }) => t("nOf", gpus.usable, gpus.total), is: "num" },
    { head: t("cells"), of: ({ gpus }) => cellsText(gpus), is: "desk" },
    { head: t("state"), of: (line) => [stateOf(line.node), closing.has(line.node.name) && t(`would_${closing.get(line.node.name)}`)].filter(Boolean).join(", ") },
    { head: t("heldBy"), of: held, is: "desk wide" },
  ]} /></section>`;
}

// try: {placed, closing, asked}: what a try changes.
export function ClusterMap({ inventory, pending, policy, pools, tried, state, change }) {
  const [most, setMost] = useState(ROWS_MOST);
  const { fleet, nWithout } = useMemo(() => fleetOf(inventory), [inventory]);
  const wanted = useMemo(() => wantedOf(inventory.models, pending), [inventory, pending]);
  const found = useMemo(() => (state.find.trim() ? fleet.filter((item) => matches(item, state.find)) : fleet), [fleet, state.find]);
  const rows = useMemo(() => rowsOf(found, inventory.models, state, pools, wanted), [found, state.group, state.sort, pools, wanted]);
  const holders = useMemo(() => holdersOf(fleet, state.colour), [fleet, state.colour]);
  const marks = useMemo(() => marksOf(holders), [holders]);
  const box = useRef(null);
  useEffect(() => {
    box.current?.querySelector(".tile.placed, .tile.changed")?.scrollIntoView({ block: "nearest" });
  }, [tried.placed, tried.closing]);
  if (fleet.length === 0) return html`<${Empty} title=${t("noGpus")}>${policy && t("noGpusHelp", inventory.nodes.length, policy.values.gpuResources.join(", "))}</${Empty}>`;
  if (found.length === 0) return html`<${Empty} title=${t("nothingMatches", state.find)}><button class="button" onClick=${() => change({ find: "" })}>${t("clear")}</button></${Empty}>`;
  const view = { ...tried, state, change, marks, pools };
  const isFolded = rows.some((row) => row.items.length >= FOLD_MIN);
  if (state.show === "table") return html`<${Twin} rows=${rows} view=${view} />`;
  return html`<section class="card map" ref=${box} onKeyDown=${move} tabindex="0" role="region" aria-label=${t("mapKeys")}>
      <${Heads} state=${state} isFolded=${isFolded} />
      ${rows.slice(0, most).map((row) => html`<${Row} key=${row.key} row=${row} view=${view} />`)}
      ${rows.length > most && html`<p class="acts"><button class="button small" onClick=${() => setMost(most + ROWS_MOST)}>${t("moreRows", rows.length - most)}</button></p>`}
    </section>
    <${Legend} fleet=${fleet} holders=${holders} view=${view} />
    <p class="small soft foot">${[nWithout > 0 && t("withoutGpus", nWithout), isFolded ? t("footFolded") : t("footStranded")].filter(Boolean).join(" ")}</p>`;
}
