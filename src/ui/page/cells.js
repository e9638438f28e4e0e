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

// The free GPUs, in the order in which they are of use: promised to nominated pods, free, and of no use to typical pods.
function addFree(add, node, free, nominations, stranded) {
  if (isClosed(node)) return add("closed", free);
  let rest = Math.max(0, free);
  for (const { holder, n } of nominations) {
    const promised = Math.min(n, rest);
    add("promised", promised, holder);
    rest -= promised;
  }
  const useless = Math.min(rest, Math.round(stranded));
  add("free", rest - useless);
  add("stranded", useless);
}

function stateOfHolder(holder) {
  return holder.terminating ? "terminating" : "used";
}

// Runs of {state, n, holder}: holder is {namespace, pod, uid, ...}.
function runsOfResource(node, name, stranded) {
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
  addFree(add, node, row.free, nominations, stranded);
  add("broken", row.capacity - row.allocatable);
  return { name, total: row.allocatable, used: row.used, free: row.free, runs };
}

function runsOfDriver(node, name, stranded) {
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
    add(stateOfHolder(holder), n, holder);
  }
  add("claimed", row.allocated - held);
  addFree(add, node, row.free, [], stranded);
  const tainted = Math.min(row.tainted, row.total - row.allocated - row.free);
  add("tainted", tainted);
  add("broken", row.total - row.allocated - row.free - tainted);
  return { name, total: row.total, used: row.allocated, free: row.free, runs };
}

// node -> {resource: GPUs of no use}, from the nodes of /v1/fragmentation.
export function sharesOf(fragmentation) {
  const shares = new Map();
  for (const row of fragmentation?.nodes ?? []) {
    const of = shares.get(row.node) ?? {};
    of[row.resource] = (of[row.resource] ?? 0) + row.fragmented;
    shares.set(row.node, of);
  }
  return shares;
}

// The GPUs of a node: a list of {name, total, used, free, runs}. Devices that a device plugin offers too are left out, as the API does.
// Devices count in /v1/fragmentation under the resource that stands for them: what no resource of the node takes is theirs.
export function gpusOf(node, names, share = {}) {
  const found = [];
  for (const name of Object.keys(node.resources)) if (names.has(name)) found.push(runsOfResource(node, name, share[name] ?? 0));
  let stranded = Object.entries(share).reduce((sum, [name, n]) => (Object.hasOwn(node.resources, name) ? sum : sum + n), 0);
  for (const name of Object.keys(node.devices)) {
    if (node.devices[name].publishedTwice) continue;
    const of = Math.min(stranded, node.devices[name].free ?? 0);
    stranded -= of;
    found.push(runsOfDriver(node, name, of));
  }
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

// The nodes with GPUs: {fleet: [{node, gpus}], nWithout}.
export function fleetOf(inventory, shares) {
  const names = gpuNames(inventory);
  const fleet = inventory.nodes.map((node) => ({ node, gpus: gpusOf(node, names, shares.get(node.name)) })).filter(({ gpus }) => gpus.length > 0);
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
  model: ({ node }) => node.model,
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
  return JSON.stringify([node.model, node.sharing, node.ready, node.unschedulable, gpus.map((one) => [one.name, one.runs])]);
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
