// From nodes of /v1/inventory to cells, one a GPU. No drawing here.

// A row shows no more; the rest is a number.
export const CELLS_MAX = 64;

export const STATES = ["used", "claimed", "reserved", "free", "closed", "tainted", "broken", "unknown"];

// The names of GPU resources, and of drivers of devices.
export function gpuNames(inventory) {
  return new Set(inventory.models.map((model) => model.resource));
}

export function isClosed(node) {
  return !node.ready || node.unschedulable;
}

// Runs of {state, n, holder}: holder is {namespace, pod, uid}.
function runsOfResource(node, name) {
  const row = node.resources[name];
  const runs = [];
  let held = 0;
  const add = (state, n, holder) => n > 0 && runs.push({ state, n, holder });
  for (const holder of node.holders) {
    const n = holder.gpus[name] ?? 0;
    held += n;
    add("used", n, holder);
  }
  add("used", row.used - held, null);
  for (const holder of node.reservations) add("reserved", holder.gpus[name] ?? 0, holder);
  add(isClosed(node) ? "closed" : "free", row.free);
  add("broken", row.capacity - row.allocatable);
  return { name, total: row.allocatable, used: row.used, free: row.free, runs };
}

function runsOfDriver(node, name) {
  const row = node.devices[name];
  const runs = [];
  let held = 0;
  const add = (state, n, holder) => n > 0 && runs.push({ state, n, holder });
  if (row.allocated === null || row.free === null) {
    add("unknown", row.total);
    return { name, total: row.total, used: null, free: null, runs };
  }
  for (const holder of node.holders) {
    // A claim that several pods share counts once.
    const n = Math.min(holder.devices[name] ?? 0, row.allocated - held);
    held += n;
    add("used", n, holder);
  }
  add("claimed", row.allocated - held);
  add(isClosed(node) ? "closed" : "free", row.free);
  const tainted = Math.min(row.tainted, row.total - row.allocated - row.free);
  add("tainted", tainted);
  add("broken", row.total - row.allocated - row.free - tainted);
  return { name, total: row.total, used: row.allocated, free: row.free, runs };
}

// The GPUs of a node: a list of {name, total, used, free, runs}. Devices that a device plugin offers too are left out, as the API does.
export function gpusOf(node, names) {
  const found = [];
  for (const name of Object.keys(node.resources)) if (names.has(name)) found.push(runsOfResource(node, name));
  for (const name of Object.keys(node.devices))
    if (!node.devices[name].publishedTwice) found.push(runsOfDriver(node, name));
  return found.filter((gpus) => gpus.runs.length > 0);
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

// Nodes with the same text look the same but for their names, and hold no pods.
function likenessOf(node, gpus) {
  if (node.holders.length > 0 || node.reservations.length > 0) return null;
  return JSON.stringify([node.model, node.sharing, node.ready, node.unschedulable, gpus.map((one) => [one.name, one.runs])]);
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

// Groups of rows of {nodes, gpus}: nodes that are alike share a row, unless apart. Nodes without GPUs are only counted.
export function groupsOf(inventory, groupBy, apart) {
  const names = gpuNames(inventory);
  const groups = new Map();
  let nWithout = 0;
  for (const node of inventory.nodes) {
    const gpus = gpusOf(node, names);
    if (gpus.length === 0) {
      nWithout++;
      continue;
    }
    const key = groupBy === "state" ? (isClosed(node) ? "closed" : node.holders.length > 0 ? "used" : "free") : node.model;
    const group = groups.get(key) ?? { key, rows: [], alike: new Map(), total: 0, free: 0, nNodes: 0 };
    groups.set(key, group);
    group.nNodes++;
    for (const one of gpus) {
      group.total += one.total;
      group.free += Math.max(0, one.free ?? 0);
    }
    const likeness = apart ? null : likenessOf(node, gpus);
    const row = likeness && group.alike.get(likeness);
    if (row) {
      row.nodes.push(node);
    } else {
      const made = { nodes: [node], gpus };
      if (likeness) group.alike.set(likeness, made);
      group.rows.push(made);
    }
  }
  for (const group of groups.values())
    group.rows.sort((a, b) => b.nodes.length - a.nodes.length || byName(a.nodes[0].name, b.nodes[0].name));
  return { groups: [...groups.values()].sort((a, b) => b.total - a.total || byName(a.key, b.key)), nWithout };
}

// The namespaces that hold GPUs, the largest first: [{name, n}].
export function holdersOf(inventory) {
  const counts = new Map();
  for (const node of inventory.nodes)
    for (const holder of node.holders) {
      const n = [...Object.values(holder.gpus), ...Object.values(holder.devices)].reduce((sum, one) => sum + one, 0);
      if (n > 0) counts.set(holder.namespace, (counts.get(holder.namespace) ?? 0) + n);
    }
  return [...counts].map(([name, n]) => ({ name, n })).sort((a, b) => b.n - a.n || byName(a.name, b.name));
}

export const COLOURS = 8;
// Its letter, and the number of its colour; those after the first COLOURS share "·" and one colour.
export function markOf(holders, namespace) {
  const at = holders.findIndex((holder) => holder.name === namespace);
  return at >= 0 && at < COLOURS ? { letter: String.fromCharCode(65 + at), colour: at } : { letter: "·", colour: COLOURS };
}
