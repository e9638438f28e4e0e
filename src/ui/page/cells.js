// From nodes of /v1/inventory to cells, one a GPU. No drawing here.

// A row shows no more; the rest is a number.
export const CELLS_MAX = 64;

export const STATES = ["used", "terminating", "claimed", "reserved", "promised", "free", "stranded", "closed", "tainted", "broken", "unknown"];

// The names of GPU resources, and of drivers of devices.
export function gpuNames(inventory) {
  return new Set(inventory.models.map((model) => model.resource));
}

export function isClosed(node) {
  return !node.ready || node.unschedulable;
}

// The free GPUs, in the order in which they are of use: promised to nominated pods, usable, and stranded.
function addFree(add, { usable, stranded, closed }, nominations) {
  add("closed", closed);
  let rest = usable + stranded;
  for (const { holder, n } of nominations) {
    const promised = Math.min(n, rest);
    add("promised", promised, holder);
    rest -= promised;
  }
  const useless = Math.min(rest, stranded);
  add("free", rest - useless);
  add("stranded", useless);
}

function stateOfHolder(holder) {
  return holder.terminating ? "terminating" : "used";
}

// Runs of {state, n, holder}: holder is {namespace, pod, uid, ...}.
function runsOfResource(node, name) {
  const row = node.resources[name];
  const runs = [];
  let held = 0;
  const add = (state, n, holder) => n > 0 && runs.push({ state, n, holder });
  for (const holder of node.holders) {
    const n = holder.gpus[name] ?? 0;
    held += n;
    add(stateOfHolder(holder), n, holder);
  }
  add("used", row.used - held, null);
  for (const holder of node.reservations) add("reserved", holder.gpus[name] ?? 0, holder);
  const nominations = node.nominations.map((holder) => ({ holder, n: holder.gpus[name] ?? 0 }));
  addFree(add, row, nominations);
  add("broken", row.lost);
  return { name, model: row.model, total: row.allocatable, used: row.used, free: row.free, runs };
}

function runsOfDriver(node, name) {
  const row = node.devices[name];
  const models = Object.values(row.models);
  const model = Object.keys(row.models).join(" + ");
  const runs = [];
  let held = 0;
  const add = (state, n, holder) => n > 0 && runs.push({ state, n, holder });
  if (row.allocated === null || row.free === null) {
    add("unknown", row.total);
    return { name, model, total: row.total, used: null, free: null, runs };
  }
  for (const holder of node.holders) {
    // A claim that several pods share counts once.
    const n = Math.min(holder.devices[name] ?? 0, row.allocated - held);
    held += n;
    add(stateOfHolder(holder), n, holder);
  }
  add("claimed", row.allocated - held);
  const sum = (key) => models.reduce((all, of) => all + of[key], 0);
  addFree(add, { usable: sum("usable"), stranded: sum("stranded"), closed: sum("closed") }, []);
  const tainted = Math.min(row.tainted, row.total - row.allocated - row.free);
  add("tainted", tainted);
  add("broken", row.total - row.allocated - row.free - tainted);
  return { name, model, total: row.total, used: row.allocated, free: row.free, runs };
}

// The GPUs of a node: a list of {name, model, total, used, free, runs}. Devices that a device plugin offers too are left out, as the API does.
export function gpusOf(node, names) {
  const found = [];
  for (const name of Object.keys(node.resources)) if (names.has(name)) found.push(runsOfResource(node, name));
  for (const name of Object.keys(node.devices)) if (!node.devices[name].publishedTwice) found.push(runsOfDriver(node, name));
  return found.filter((gpus) => gpus.runs.length > 0);
}

// "L4 + Flex-170": each model of the node's GPUs.
export function modelsOf(gpus) {
  return [...new Set(gpus.map((one) => one.model).filter(Boolean))].join(" + ");
}

// {cells: [{state, holder}], more}: the first CELLS_MAX of the runs.
export function cellsOf(gpus) {
  const cells = [];
  let more = 0;
  for (const run of gpus.runs) {
    const n = Math.min(run.n, CELLS_MAX - cells.length);
    for (let i = 0; i < n; i++) cells.push(run);
    more += run.n - n;
  }
  return { cells, more };
}

// The nodes with GPUs: {fleet: [{node, gpus}], nWithout}.
export function fleetOf(inventory) {
  const names = gpuNames(inventory);
  const fleet = inventory.nodes.map((node) => ({ node, gpus: gpusOf(node, names) })).filter(({ gpus }) => gpus.length > 0);
  return { fleet, nWithout: inventory.nodes.length - fleet.length };
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

// The key of the label that a grouping needs; "": none.
export function labelOf(state) {
  if (state.group === "zone") return "topology.kubernetes.io/zone";
  return state.group === "label" ? state.label.trim() : "";
}

// From /v1/node-groups: {keys: node -> the key of its group, groups: key -> group}.
export function poolsOf(answer) {
  const keys = new Map();
  const groups = new Map();
  for (const group of answer?.groups ?? []) {
    const key = group.by === "shape" ? group.name : `${group.name} (${group.by})`;
    groups.set(key, group);
    for (const node of group.nodeNames) keys.set(node, key);
  }
  return { keys, groups };
}

const KEYS = {
  model: ({ gpus }) => modelsOf(gpus),
  state: ({ node }) => (isClosed(node) ? "closed" : node.holders.length > 0 ? "used" : "free"),
  zone: ({ node }) => node.label ?? "",
  pool: ({ node }, pools) => pools.keys.get(node.name) ?? "",
  label: ({ node }) => node.label ?? "",
};
export const GROUPINGS = Object.keys(KEYS);

function groupKey(row, groupBy, pools) {
  return KEYS[groupBy](row, pools);
}

// Nodes with the same text look the same but for their names, and hold no pods.
function likenessOf({ node, gpus }) {
  if (node.holders.length > 0 || node.reservations.length > 0 || node.nominations.length > 0) return null;
  return JSON.stringify([node.sharing, node.ready, node.unschedulable, gpus.map((one) => [one.name, one.model, one.runs])]);
}

function sumUp(group, gpus) {
  for (const one of gpus) {
    group.total += one.total;
    group.free += Math.max(0, one.free ?? 0);
  }
}

// Groups of rows of {nodes, gpus}: nodes that are alike share a row, unless apart.
export function groupsOf(fleet, groupBy, pools, apart) {
  const groups = new Map();
  for (const item of fleet) {
    const key = groupKey(item, groupBy, pools);
    const group = groups.get(key) ?? { key, rows: [], alike: new Map(), total: 0, free: 0, nNodes: 0 };
    groups.set(key, group);
    group.nNodes++;
    sumUp(group, item.gpus);
    const likeness = apart ? null : likenessOf(item);
    const row = likeness && group.alike.get(likeness);
    if (row) {
      row.nodes.push(item.node);
    } else {
      const made = { nodes: [item.node], gpus: item.gpus };
      if (likeness) group.alike.set(likeness, made);
      group.rows.push(made);
    }
  }
  for (const group of groups.values())
    group.rows.sort((a, b) => b.nodes.length - a.nodes.length || byName(a.nodes[0].name, b.nodes[0].name));
  return [...groups.values()].sort((a, b) => b.total - a.total || byName(a.key, b.key));
}

// What pods have their colour by.
const COLOURINGS_BY = {
  namespace: (holder) => holder.namespace,
  owner: (holder) => `${holder.namespace}/${holder.controller ? `${holder.controller.kind}/${holder.controller.name}` : holder.pod}`,
  priority: (holder) => String(holder.priority),
};
export const COLOURINGS = Object.keys(COLOURINGS_BY);

export function colourKey(holder, colour) {
  return COLOURINGS_BY[colour](holder);
}

// The states that some GPU has.
export function statesOf(fleet) {
  return new Set(fleet.flatMap(({ gpus }) => gpus.flatMap((one) => one.runs.map((run) => run.state))));
}

// Those that hold GPUs, the largest first: [{name, n}].
export function holdersOf(fleet, colour) {
  const counts = new Map();
  for (const { gpus } of fleet)
    for (const one of gpus)
      for (const { state, n, holder } of one.runs) {
        if (!holder || (state !== "used" && state !== "terminating")) continue;
        const key = colourKey(holder, colour);
        counts.set(key, (counts.get(key) ?? 0) + n);
      }
  return [...counts].map(([name, n]) => ({ name, n })).sort((a, b) => b.n - a.n || byName(a.name, b.name));
}

export const COLOURS = 8;
// name -> its letter, and the number of its colour; those after the first COLOURS share "·" and one colour.
export function marksOf(holders) {
  return new Map(holders.slice(0, COLOURS).map(({ name }, at) => [name, { letter: String.fromCharCode(65 + at), colour: at }]));
}
export const OTHER = { letter: "·", colour: COLOURS };
