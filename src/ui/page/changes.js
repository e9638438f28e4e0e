// The changes of a what-if: in the address, as the API takes them, and their fields.
import { html, useState } from "./vendor/preact-htm.js";
import { named, quoted } from "./commands.js";
import { urlOf } from "./fetching.js";
import { UNCHANGED } from "./state.js";
import { t } from "./words.js";

// "a, b" -> ["a", "b"]
function namesOf(text) {
  return text.split(/[\s,]+/).filter(Boolean);
}

// "N" or "N+BORROWED@PRIORITY" -> a limit as in the policy file. What is no number stays a text, for the API to name it.
function amountOf(text) {
  const [, limit, borrowed, priority] = /^(\d+)(?:\+(\d+)@(-?\d+))?$/.exec(text) ?? [];
  if (borrowed !== undefined) return { limit: Number(limit), borrow: { limit: Number(borrowed), maxPriority: Number(priority) } };
  return limit === undefined ? text : Number(limit);
}

const amountText = (limit, borrow) => (borrow ? `${limit}+${borrow.limit}@${borrow.maxPriority}` : `${limit}`);

// "[RESOURCE:][MODEL=]N, ..." -> limits as in the policy file.
function limitsOf(text) {
  const byResource = new Map();
  for (const item of text.split(",").map((one) => one.trim()).filter(Boolean)) {
    const [, resource, model, n] = /^(?:([^:=]*):)?(?:(.*)=)?([^=]*)$/.exec(item) ?? ["", undefined, undefined, item];
    const limit = byResource.get(resource) ?? (resource ? { resource } : {});
    byResource.set(resource, limit);
    const number = amountOf(n.trim());
    if (model) limit.models = { ...limit.models, [model.trim()]: number };
    else limit.total = number;
  }
  return [...byResource.values()];
}

// From the limits of /v1/quota to that text.
export function limitsText(limits) {
  return limits.map(({ resource, model, limit, borrow }) => `${resource && `${resource}:`}${model && `${model}=`}${amountText(limit, borrow)}`).join(", ");
}

// From limits of a change to it.
function limitsTextOf(limits) {
  const amounts = (limit) => (typeof limit === "object" ? limit : { limit });
  const flat = limits.flatMap(({ resource = "", total, models = {} }) => [...(total === undefined ? [] : [{ resource, model: "", ...amounts(total) }]), ...Object.entries(models).map(([model, limit]) => ({ resource, model, ...amounts(limit) }))]);
  return limitsText(flat);
}

const POLICIES = ["slot-price", "binpack", "spread", "fgd"];

// As /v1/what-if takes them.
function changesOf(state) {
  const changes = [];
  const like = state.like.trim();
  const [drain, cordon, lift, removePods] = [state.drain, state.cordon, state.lift, state.remove].map(namesOf);
  if (like) changes.push({ addNodes: { like, count: Math.max(1, Math.floor(Number(state.count)) || 1) } });
  if (cordon.length > 0) changes.push({ cordon });
  if (drain.length > 0) changes.push({ drain });
  if (lift.length > 0) changes.push({ lift });
  if (removePods.length > 0) changes.push({ removePods });
  if (state.quota.trim()) changes.push({ quota: { name: state.quota.trim(), limits: limitsOf(state.limits) } });
  if (state.placement) changes.push({ placement: { policy: state.placement } });
  return changes;
}

// The members of the address of one change; null: the form has no field for it.
export function stateOfChange({ addNodes, drain, cordon, lift, removePods, quota }) {
  if (addNodes) return { like: addNodes.like, count: String(addNodes.count ?? 1) };
  if (drain) return { drain: drain.join(",") };
  if (cordon) return { cordon: cordon.join(",") };
  if (lift) return { lift: lift.join(",") };
  if (removePods) return { remove: removePods.join(",") };
  return quota ? { quota: quota.name, limits: limitsTextOf(quota.limits) } : null;
}

// {path, body, manifest, changes}: of /v1/dry-run if there are no changes.
export function questionOf(manifest, state) {
  const changes = changesOf(state);
  if (changes.length === 0) return { path: "dry-run", body: manifest, manifest, changes };
  const body = JSON.stringify({ changes, workloads: manifest.trim() ? [manifest] : [] });
  return { path: "what-if", body, manifest, changes };
}

// Of a command about these changes.
function refuseOthers(changes) {
  const names = ({ addNodes, cordon, drain, lift, removePods }) => (addNodes ? [addNodes.like] : (cordon ?? drain ?? lift ?? removePods?.flatMap((pod) => pod.split("/")) ?? []));
  changes.flatMap(names).forEach(named);
}

export function curlOf(question) {
  refuseOthers(question.changes);
  return ["--data-raw", quoted(question.body), quoted(urlOf(`${question.path}?output=table`))];
}

// "--drain a,b"; null: there is no option for it.
function optionOf({ addNodes, cordon, drain, lift, removePods }) {
  if (addNodes) return `--add-nodes ${addNodes.like}=${addNodes.count}`;
  if (cordon) return `--cordon ${cordon.join(",")}`;
  if (drain) return `--drain ${drain.join(",")}`;
  if (lift) return `--lift ${lift.join(",")}`;
  return removePods ? `--remove-pods ${removePods.join(",")}` : null;
}

// {words, input} of kubectl gpu.
export function kubectlOf({ path, body, manifest, changes }) {
  refuseOthers(changes);
  if (path === "dry-run") return { words: ["fit", "-f", "-"], input: manifest };
  const options = changes.map(optionOf);
  if (options.includes(null)) return { words: ["what-if", "--changes", "-"], input: body };
  return manifest.trim() ? { words: ["what-if", ...options, "-f", "-"], input: manifest } : { words: ["what-if", ...options] };
}

// Chip -> the members of the address that its fields have.
const CHIPS = { addNodes: ["like", "count"], drain: ["drain"], cordon: ["cordon"], lift: ["lift"], removePods: ["remove"], quota: ["quota", "limits"], placement: ["placement"] };

// Names to choose from for a field that takes several: the last one is completed.
function Names({ id, names, text = "" }) {
  const before = text.includes(",") ? text.slice(0, text.lastIndexOf(",") + 1) : "";
  return html`<datalist id=${id}>${names.slice(0, 500).map((name) => html`<option value=${before + name}></option>`)}</datalist>`;
}

export function Changes({ inventory, quotas, state, change }) {
  const [opened, setOpened] = useState({});
  const isSet = (chip) => CHIPS[chip].some((name) => state[name] !== UNCHANGED[name]);
  const toggle = (chip) => {
    const isOpen = opened[chip] ?? isSet(chip);
    setOpened({ ...opened, [chip]: !isOpen });
    if (isOpen) change(Object.fromEntries(CHIPS[chip].map((name) => [name, UNCHANGED[name]])));
    else requestAnimationFrame(() => document.getElementById(CHIPS[chip][0])?.focus());
  };
  const nodes = inventory?.nodes.map((node) => node.name) ?? [];
  const marked = inventory?.nodes.filter((node) => node.quarantine || node.shapeTraps).map((node) => node.name) ?? [];
  const pods = inventory?.nodes.flatMap((node) => node.holders.map((pod) => `${pod.namespace}/${pod.pod}`)) ?? [];
  const names = { like: nodes, drain: nodes, cordon: nodes, lift: marked, remove: pods, quota: quotas };
  const field = (name, properties) => html`<label>${t(`what_${name}`)} <input id=${name} list=${names[name] && `names-${name}`} value=${state[name]}
      spellcheck="false" autocomplete="off" onInput=${(event) => change({ [name]: event.target.value })} ...${properties} /></label>
    ${names[name] && html`<${Names} id=${`names-${name}`} names=${names[name]} text=${state[name]} />`}`;
  const fields = {
    addNodes: () => html`${field("like", {})} ${field("count", { type: "number", min: 1, max: 5000 })}`,
    drain: () => field("drain", {}),
    cordon: () => field("cordon", {}),
    lift: () => field("lift", {}),
    removePods: () => field("remove", { placeholder: "NAMESPACE/NAME" }),
    quota: () => html`${field("quota", {})} ${field("limits", { placeholder: t("limitsExample") })}`,
    placement: () => html`<label>${t("what_placement")} <select id="placement" onChange=${(event) => change({ placement: event.target.value })}>
      <option value="">${t("asInForce")}</option>
      ${POLICIES.map((name) => html`<option value=${name} selected=${state.placement === name}>${name}</option>`)}</select></label>`,
  };
  const open = Object.keys(CHIPS).filter((chip) => opened[chip] ?? isSet(chip));
  return html`<fieldset class="more"><legend>${t("changes")}</legend>
    <p class="chips">${Object.keys(CHIPS).map((chip) => html`<button type="button" class="button small" aria-pressed=${String(open.includes(chip))} onClick=${() => toggle(chip)}>${t(`chip_${chip}`)}</button>`)}</p>
    ${open.map((chip) => html`<p class="fields" key=${chip}>${fields[chip]()}</p>`)}</fieldset>`;
}
