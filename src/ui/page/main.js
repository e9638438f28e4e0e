// The page: the top line, the map, the details, the tabs.
import { html, render, useEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { setToken, takeSecret, usePolled } from "./fetching.js";
import { gpuNames, gpusOf, labelOf, poolsOf } from "./cells.js";
import { Details } from "./details.js";
import { ClusterMap } from "./map.js";
import { Failed, Notice, Table, age } from "./parts.js";
import { useAddress } from "./state.js";
import { Tabs } from "./tabs.js";
import { closingOf, placesOf } from "./try.js";
import { LANGUAGES, setLanguage, t } from "./words.js";

const RELOAD_MS = 5000;
const SUMS_MS = 15000;
const GROUPS_MS = 60000; // they are judged anew for each answer
const NOWHERE = new Map();

// How many nodes of the map a try marks: those without GPUs, and added ones, are not there.
function countMarked(inventory, placed, closing) {
  const names = gpuNames(inventory);
  return inventory.nodes.filter((node) => (placed.has(node.name) || closing.has(node.name)) && gpusOf(node, names).length > 0).length;
}

// Takes a token of the API server; renewed asks again with it.
function TokenForm({ renewed }) {
  const [text, setText] = useState("");
  const use = (event) => {
    event.preventDefault();
    setToken(text);
    setText("");
    renewed();
  };
  return html`<form class="token" onSubmit=${use}>
    <label for="token">${t("token")}</label>
    <input id="token" type="password" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} />
    <button type="submit">${t("useToken")}</button>
    <p class="aside">${t("tokenHelp")}</p>
  </form>`;
}

// GPUs that are of no use to typical pods, by the resource and model that /v1/inventory names. A driver's devices count in
// /v1/fragmentation under the extended resource they stand for, so they get none here, but count in the sum.
function Totals({ inventory, fragmentation }) {
  const ofNoUse = new Map((fragmentation?.models ?? []).map((row) => [`${row.resource} ${row.model}`, row.fragmented]));
  const rows = [...inventory.models].sort((a, b) => b.capacity - a.capacity);
  const isWhole = (row) => row.unit === "gpu"; // slices and shares are listed only
  const sum = (of) => rows.filter(isWhole).reduce((all, row) => all + (of(row) ?? 0), 0);
  const closedIn = (row) => row.closed ?? 0;
  const brokenIn = (row) => row.capacity - (row.allocatable ?? row.capacity);
  const useless = fragmentation?.models.filter(isWhole).reduce((all, row) => all + row.fragmented, 0);
  return html`<p class="sum"><strong>${t("sum", sum((row) => row.capacity), sum((row) => row.free), sum((row) => row.used), sum((row) => row.reserved), useless?.toFixed(1) ?? "?", sum(closedIn), sum(brokenIn))}</strong></p>
  <${Table} caption=${t("totals", rows.length)} rows=${rows} columns=${[
    [t("model"), (row) => row.model || t("modelUnknown")],
    [t("resource"), (row) => row.resource],
    [t("nodes"), (row) => row.nodes, true],
    [t("total"), (row) => row.capacity, true],
    [t("free"), (row) => row.free ?? "?", true],
    [t("used"), (row) => row.used ?? "?", true],
    [t("reserved"), (row) => row.reserved, true],
    [t("freeClosed"), closedIn, true],
    [t("outOfOrder"), brokenIn, true],
    [t("ofNoUse"), (row) => ofNoUse.get(`${row.resource} ${row.model}`)?.toFixed(1) ?? "", true],
  ]} />`;
}

// An answer that has not changed since carries the time of its first copy, so the time of the last answer is shown, too.
function ageText(inventory, answered) {
  const seconds = Math.max(0, Math.round((answered - Date.parse(inventory.asOf)) / 1000));
  const asOf = t("asOf", inventory.asOf.replace("T", " ").replace("Z", ""));
  return `${asOf}, ${t("confirmed", new Date(answered).toISOString().slice(11, 19), age(seconds))}`;
}

function Header({ inventory, answered, policy, change }) {
  const parts = inventory
    ? [inventory.source, ageText(inventory, answered), inventory.role && t(`role_${inventory.role.split(" ")[0]}`), policy && t(`mode_${policy.values.mode}`)]
    : [];
  return html`<header>
    <h1>${t("title")}</h1>
    <p>${parts.filter(Boolean).join(" · ")}</p>
    <label>${t("language")} <select onChange=${(event) => change({ lang: event.target.value })}>
      ${Object.entries(LANGUAGES).map(([code, name]) => html`<option value=${code} lang=${code} selected=${document.documentElement.lang === code}>${name}</option>`)}
    </select></label>
  </header>`;
}

function Warnings({ inventory, answered, failure }) {
  return html`
    <${Failed} failure=${failure} />
    ${failure && html`<p>${t("shownSince", new Date(answered).toISOString().slice(11, 19))}</p>`}
    ${!inventory.usable && html`<${Notice} kind="error">${t("unusable")}: ${inventory.unusableBecause}</${Notice}>`}
    ${(!inventory.claimsCounted || inventory.claimsNote) && html`<${Notice}>${inventory.claimsNotCountedBecause || inventory.claimsNote}</${Notice}>`}
    ${inventory.problemCount > 0 && html`<details><summary>${t("problems", inventory.problemCount)}</summary>
      <ul>${inventory.problems.slice(0, 100).map((one) => html`<li>${one.kind} ${one.name}: ${one.what}</li>`)}</ul></details>`}`;
}

function Page() {
  const [state, change] = useAddress();
  const [again, setAgain] = useState(0);
  const [tried, setTried] = useState({});
  setLanguage(state.lang);
  const renew = () => setAgain((n) => n + 1);
  useEffect(() => {
    const look = () => takeSecret() && renew();
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  const label = labelOf(state);
  const { value, answered, failure } = usePolled(label ? `inventory?label=${encodeURIComponent(label)}` : "inventory", RELOAD_MS, again);
  // Another grouping asks anew; until it is answered the map stays.
  const last = useRef({});
  if (value) last.current = { value, answered };
  const inventory = last.current.value;
  const { value: fragmentation } = usePolled("fragmentation", SUMS_MS, again);
  const isOfGroups = state.group === "pool" || state.tab === "try";
  const { value: nodeGroups, failure: noGroups } = usePolled(isOfGroups ? "node-groups" : "", GROUPS_MS, again);
  const pools = useMemo(() => poolsOf(nodeGroups), [nodeGroups]);
  const { value: policy } = usePolled("policy", SUMS_MS, again);
  const placed = useMemo(() => (tried.answer ? placesOf(tried.answer) : NOWHERE), [tried]);
  const closing = useMemo(() => (tried.answer ? closingOf(tried.answer) : NOWHERE), [tried]);
  const nMarked = useMemo(() => (inventory ? countMarked(inventory, placed, closing) : 0), [inventory, placed, closing]);
  return html`
    <${Header} inventory=${inventory} answered=${last.current.answered} policy=${policy} change=${change} />
    <main>
      ${failure?.status === 401 && html`<${TokenForm} renewed=${renew} />`}
      ${!inventory && (failure ? html`<${Failed} failure=${failure} />` : html`<p>${t("loading")}</p>`)}
      ${inventory && html`
        <${Warnings} inventory=${inventory} answered=${last.current.answered} failure=${failure} />
        <div class="totals"><${Totals} inventory=${inventory} fragmentation=${fragmentation} /></div>
        <${Failed} failure=${noGroups} />
        <div class=${state.node || state.pod ? "split" : ""}>
          <${ClusterMap} inventory=${inventory} resources=${policy?.values.gpuResources} pools=${pools} placed=${placed} closing=${closing} state=${state} change=${change} />
          <${Details} inventory=${inventory} state=${state} change=${change} />
        </div>
        <${Tabs} state=${state} change=${change} again=${again} pools=${pools} tried=${tried} setTried=${setTried} nMarked=${nMarked} />`}
    </main>`;
}

const root = document.getElementById("page");
root.replaceChildren();
render(html`<${Page} />`, root);
