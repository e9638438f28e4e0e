// From nodes of /v1/inventory to cells, one a GPU, and to the rows of the map. No drawing here.

// A row shows no more; the rest is a number.
const CELLS_MAX = 64;

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
  return { name, model: row.model, sharing: row.sharing, unit: row.unit, total: row.capacity, used: row.used, free: row.free, usable: row.usable, stranded: row.stranded, runs };
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
    return { name, model, sharing: "", unit: "gpu", total: row.total, used: null, free: null, usable: 0, stranded: 0, runs };
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
  return { name, model, sharing: "", unit: "gpu", total: row.total, used: row.allocated, free: row.free, usable: sum("usable"), stranded: sum("stranded"), runs };
}

// The GPUs of a node: a list of {name, model, sharing, unit, total, used, free, usable, stranded, runs}. Devices that a device plugin
// offers too are left out, as the API does.
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

// {cells: [run of one], more}: runs of at most CELLS_MAX cells together, and how many are left out.
export function cellsOf(gpus) {
  const runs = [];
  let room = CELLS_MAX;
  let more = 0;
  for (const run of gpus.runs) {
    const n = Math.min(run.n, room);
    if (n > 0) runs.push({ ...run, n });
    room -= n;
    more += run.n - n;
  }
  return { runs, more };
}

// The same GPUs after n of the free ones are taken by pods that a try places there.
export function afterPut(gpus, n) {
  let left = n;
  const runs = gpus.runs.flatMap((run) => {
    const taken = run.state === "free" || run.state === "stranded" ? Math.min(left, run.n) : 0;
    left -= taken;
    return [{ ...run, state: "put", n: taken }, { ...run, n: run.n - taken }].filter((one) => one.n > 0);
  });
  return { ...gpus, runs };
}

// The nodes with GPUs: {fleet: [{node, gpus}], nWithout}.
export function fleetOf(inventory) {
  const names = gpuNames(inventory);
  const fleet = inventory.nodes.map((node) => ({ node, gpus: gpusOf(node, names) })).filter(({ gpus }) => gpus.length > 0);
  return { fleet, nWithout: inventory.nodes.length - fleet.length };
}

// {gpus, usable, stranded, closed, used, reserved, lost} of whole GPUs; lost: no pod can have them, as they are out of order or tainted.
// parts: [{unit, total, usable}] of slices and shares. null: the service does not know all claims.
export function totalsOf(inventory) {
  const sum = (rows, of) => rows.reduce((all, row) => (all === null || row[of] === null ? null : all + row[of]), 0);
  const whole = inventory.models.filter((row) => row.unit === "gpu");
  const parts = ["slice", "share"].map((unit) => {
    const rows = inventory.models.filter((row) => row.unit === unit);
    return { unit, total: sum(rows, "capacity"), usable: sum(rows, "usable") };
  });
  const totals = Object.fromEntries(["usable", "stranded", "closed", "used", "reserved"].map((of) => [of, sum(whole, of)]));
  const gpus = sum(whole, "capacity");
  const lost = totals.used === null ? 0 : Math.max(0, gpus - Object.values(totals).reduce((all, n) => all + n, 0));
  return { gpus, ...totals, lost, parts: parts.filter(({ total }) => total > 0) };
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
  model: null, // rowsOf makes a row of each model and resource
  state: ({ node }) => (isClosed(node) ? "closed" : node.holders.length > 0 ? "used" : "free"),
  zone: ({ node }) => node.label ?? "",
  pool: ({ node }, pools) => pools.keys.get(node.name) ?? "",
  label: ({ node }) => node.label ?? "",
};
export const GROUPINGS = Object.keys(KEYS);
export const ROOMS = ["any", "1", "2", "4", "8"];
const SIZES = [2, 4, 8];

// Whether a name of a model that a pod asks for ("A100-80GB") is this one ("A100-SXM4-80GB"): it has each part of the name.
function isModel(model, asked) {
  const parts = new Set(model.toLowerCase().split("-"));
  return asked.toLowerCase().split("-").every((part) => parts.has(part));
}

// Row's key -> GPUs of waiting pods, under the first model that a pod names. models: in the order of worth.
export function wantedOf(models, pending) {
  const wanted = new Map();
  for (const pod of pending?.pods ?? []) {
    const asked = pod.gpuModels?.models[0];
    const row = asked && models.find((one) => one.resource in pod.requests && isModel(one.model, asked));
    const key = row && `${row.resource} ${row.model}`;
    if (row) wanted.set(key, (wanted.get(key) ?? 0) + pod.requests[row.resource]);
  }
  return wanted;
}

// "RESOURCE MODEL": the key of the row of a node's GPUs; that of a row of /v1/inventory's models, too.
function keyOf({ name, model, sharing }) {
  return `${name} ${[model, sharing].filter(Boolean).join("-")}`;
}

function newRow(key, worth) {
  return { key, items: [], total: 0, usable: 0, largest: 0, room: SIZES.map(() => 0), wanted: 0, worth };
}

function addTo(row, item, worth) {
  row.items.push(item);
  row.worth = Math.min(row.worth, worth);
  for (const gpus of item.gpus) {
    row.total += gpus.total;
    row.usable += gpus.usable;
    row.largest = Math.max(row.largest, gpus.usable);
    if (gpus.unit === "gpu") SIZES.forEach((size, at) => (row.room[at] += Math.floor(gpus.usable / size)));
  }
}

const SORTED_BY = {
  worth: (a, b) => a.worth - b.worth,
  usable: (a, b) => b.usable - a.usable,
  wanted: (a, b) => b.wanted - a.wanted,
  name: () => 0,
};
export const SORTINGS = Object.keys(SORTED_BY);

// The rows of the map: {key, model, resource, sharing, unit, items: [{node, gpus}], total, usable, largest, room: [of 2, 4, 8], wanted}. By model
// each row is a model and a resource, which is what a pod can ask for.
export function rowsOf(fleet, models, state, pools, wanted) {
  const worths = new Map(models.map((one, at) => [`${one.resource} ${one.model}`, at]));
  const rows = new Map();
  const add = (key, item, more) => {
    const worth = Math.min(...item.gpus.map((gpus) => worths.get(keyOf(gpus)) ?? models.length));
    if (!rows.has(key)) rows.set(key, { ...newRow(key, worth), ...more });
    addTo(rows.get(key), item, worth);
  };
  for (const item of fleet) {
    if (state.group !== "model") add(KEYS[state.group](item, pools), item, {});
    else
      for (const gpus of item.gpus) {
        const key = keyOf(gpus);
        add(key, { node: item.node, gpus: [gpus] }, { model: gpus.model, resource: gpus.name, sharing: gpus.sharing, unit: gpus.unit, wanted: wanted.get(key) ?? 0 });
      }
  }
  const nameOf = (row) => row.model ?? row.key;
  return [...rows.values()].sort((a, b) => SORTED_BY[state.sort](a, b) || byName(nameOf(a), nameOf(b)) || byName(a.resource ?? "", b.resource ?? ""));
}

export const FOLD_MIN = 7; // a row of as many nodes folds those that look the same

// The tiles of a row: {key, items}; nodes with equally many free GPUs and the same tag share one, if the row has many. isApart(node): it
// has a tile of its own.
export function tilesOf(row, tagOf, isApart) {
  if (row.items.length < FOLD_MIN) return row.items.map((item) => ({ key: item.node.name, items: [item], isFolded: false }));
  const tiles = new Map();
  for (const item of row.items) {
    const isAlone = isApart(item.node);
    const counts = item.gpus.map((gpus) => [gpus.name, gpus.total, gpus.free, gpus.usable]);
    const key = isAlone ? item.node.name : JSON.stringify([row.key, counts, tagOf(item)]);
    if (!tiles.has(key)) tiles.set(key, { key, items: [], isFolded: !isAlone });
    tiles.get(key).items.push(item);
  }
  const freeOf = ({ items }) => items[0].gpus.reduce((sum, gpus) => sum + (gpus.free ?? 0), 0);
  return [...tiles.values()].sort((a, b) => Number(a.isFolded) - Number(b.isFolded) || freeOf(b) - freeOf(a) || b.items.length - a.items.length);
}

// Whether a text is part of the name of a node, of its models and resources, or of its pods and their namespaces.
export function matches({ node, gpus }, text) {
  const wanted = text.trim().toLowerCase();
  const names = [node.name, ...gpus.flatMap((one) => [one.model, one.name]), ...[...node.holders, ...node.nominations].map((pod) => `${pod.namespace}/${pod.pod}`)];
  return names.some((name) => name.toLowerCase().includes(wanted));
}

// What pods have their colour by; by state all are grey.
const COLOURINGS_BY = {
  state: null,
  namespace: (holder) => holder.namespace,
  owner: (holder) => `${holder.namespace}/${holder.controller ? `${holder.controller.kind}/${holder.controller.name}` : holder.pod}`,
  priority: (holder) => String(holder.priority),
};
export const COLOURINGS = Object.keys(COLOURINGS_BY);

export function colourKey(holder, colour) {
  return COLOURINGS_BY[colour]?.(holder);
}

// The states that some GPU has.
export function statesOf(fleet) {
  return new Set(fleet.flatMap(({ gpus }) => gpus.flatMap((one) => one.runs.map((run) => run.state))));
}

// Those that hold GPUs, the largest first: [{name, n}].
export function holdersOf(fleet, colour) {
  const counts = new Map();
  if (colour === "state") return [];
  for (const { gpus } of fleet)
    for (const one of gpus)
      for (const { state, n, holder } of one.runs) {
        if (!holder || (state !== "used" && state !== "terminating")) continue;
        const key = colourKey(holder, colour);
        counts.set(key, (counts.get(key) ?? 0) + n);
      }
  return [...counts].map(([name, n]) => ({ name, n })).sort((a, b) => b.n - a.n || byName(a.name, b.name));
}

const COLOURS = 8;
// name -> its letter, and the number of its colour; those after the first COLOURS share "·" and one colour.
export function marksOf(holders) {
  return new Map(holders.slice(0, COLOURS).map(({ name }, at) => [name, { letter: String.fromCharCode(65 + at), colour: at }]));
}
export const OTHER = { letter: "·", colour: COLOURS };
