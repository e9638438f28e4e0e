// The page: the bar with its tabs, the bands about the data, the view, and the drawer.
import { html, render, useEffect, useMemo, useRef, useState } from "./vendor/preact-htm.js";
import { takeSecret, usePolled } from "./fetching.js";
import { labelOf, poolsOf } from "./cells.js";
import { Decisions } from "./decisions.js";
import { Drawer } from "./drawer.js";
import { Fragmentation } from "./fragmentation.js";
import { Groups } from "./groups.js";
import { KeyList, moveAside, useKeys } from "./keys.js";
import { Overview } from "./overview.js";
import { Failed, Loading, Notice, TokenForm, age, count, timeOf } from "./parts.js";
import { Quotas, isFull, limitsOfAll } from "./quotas.js";
import { VIEWS, fragmentOf, useAddress } from "./state.js";
import { Try, markedBy } from "./try.js";
import { Waiting } from "./waiting.js";
import { LANGUAGES, setLanguage, t } from "./words.js";

const RELOAD_MS = 5000;
const SUMS_MS = 15000;
const GROUPS_MS = 60000; // they are judged anew for each answer

// Now, again every second.
function useNow() {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const secondsFrom = (then, now) => Math.max(0, Math.round((now - then) / 1000));

// How fresh the data are, in words and by a mark. An answer that has not changed since carries the time of its first copy, so a live
// service's age is that of the last answer.
function Freshness({ inventory, answered, failure, policy }) {
  const now = useNow();
  if (!inventory) return null;
  const asOf = Date.parse(inventory.asOf);
  const known = age(secondsFrom(asOf, now), 1);
  const since = age(secondsFrom(answered, now), 1);
  const [look, text] = failure ? ["lost", t("noAnswerFor", since)]
    : !inventory.usable ? ["stale", t("staleFor", known)]
    : inventory.live ? ["live", t("liveAgo", since)] : ["file", t("fileAgo", known)];
  const more = [inventory.role && inventory.role !== "leader" && t(`role_${inventory.role.split(" ")[0]}`), policy?.values.mode === "observe" && t("observing")];
  return html`<span class=${`fresh ${look}`} title=${`${inventory.source}, ${t("asOf", inventory.asOf)}`}>${[text, ...more].filter(Boolean).join(" · ")}</span>`;
}

// "file:/a/sample-cluster.yaml" -> "sample-cluster"; of an API server its host.
function clusterName(source) {
  const [, file] = /^file:(?:.*\/)?(.*?)(?:\.\w+)?$/.exec(source) ?? [];
  return file ?? source.replace(/^\w+:\/\//, "").replace(/\/.*$/, "");
}

function Tab({ name, number, look, state, change }) {
  const isHere = state.view === name;
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab of the browser
    event.preventDefault();
    change({ view: name, node: "", pod: "", find: "" });
  };
  return html`<a id=${`tab-${name}`} href=${`./${fragmentOf({ ...state, view: name, node: "", pod: "" })}`} aria-current=${isHere ? "page" : undefined} onClick=${go}>${t(`tab_${name}`)} ${number && html`<span class=${`count ${look}`}>${number}</span>`}</a>`;
}

function Bar({ inventory, answered, failure, policy, pending, quota, state, change }) {
  const nFull = quota.value && !quota.failure ? limitsOfAll(quota.value).filter(isFull).length : 0;
  const nWait = pending.failure ? 0 : pending.value?.podCount;
  const numbers = { waiting: nWait > 0 && count(nWait), quotas: nFull > 0 && t("full", nFull) };
  const tabs = useRef(null);
  useEffect(() => tabs.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [state.view]);
  return html`<header class="top">
    <h1>${t("title")}${inventory && html` <small>${clusterName(inventory.source)}</small>`}</h1>
    <nav class="tabs" ref=${tabs} aria-label=${t("views")} onKeyDown=${moveAside}>${VIEWS.map((name) => html`<${Tab} name=${name} number=${numbers[name]} look=${name === "quotas" ? "warn" : ""} state=${state} change=${change} />`)}</nav>
    <div class="state"><${Freshness} inventory=${inventory} answered=${answered} failure=${failure} policy=${policy} />
      <select id="language" aria-label=${t("language")} onChange=${(event) => change({ lang: event.target.value })}>
        ${Object.entries(LANGUAGES).map(([code, name]) => html`<option value=${code} lang=${code} selected=${document.documentElement.lang === code}>${name}</option>`)}</select></div>
  </header>`;
}

// What is wrong with the data that are shown.
function Bands({ inventory, answered, failure, retryAt, renew }) {
  const stale = inventory.freshness.filter((one) => one.stale || !one.synced).map((one) => `${one.kind}: ${one.why}`);
  const because = [inventory.unusableBecause, ...stale].filter(Boolean).join(". ");
  return html`
    ${failure && failure.status !== 401 && html`<${Lost} answered=${answered} failure=${failure} retryAt=${retryAt} renew=${renew} />`}
    ${!inventory.usable && html`<${Notice} title=${t("unusable")}>${because}. ${t("unusableHelp")}</${Notice}>`}
    ${(!inventory.claimsCounted || inventory.claimsNote) && html`<${Notice} title=${inventory.claimsNotCountedBecause || inventory.claimsNote} />`}`;
}

function Lost({ answered, failure, retryAt, renew }) {
  const now = useNow();
  const again = html`<button class="button small" onClick=${renew}>${t("tryNow")}</button>`;
  return html`<${Notice} kind="error" title=${`${failure.status === 0 ? t("unreachable") : t("failed")} ${failure.message}`} action=${again}>${t("shownSince", timeOf(new Date(answered).toISOString()))} ${t("nextTry", secondsFrom(now, retryAt))}</${Notice}>`;
}

const CONTENTS = { overview: Overview, waiting: Waiting, try: Try, quotas: Quotas, groups: Groups, fragmentation: Fragmentation, decisions: Decisions };

function Page() {
  const [state, write] = useAddress();
  const [again, setAgain] = useState(0);
  const [tried, setTried] = useState({});
  const [text, setText] = useState("");
  const [asked, setAsked] = useState(0);
  const help = useRef(null);
  setLanguage(state.lang);
  const renew = () => setAgain((n) => n + 1);
  // manifest: a new text for the view Try, which asks at once if there are changes.
  const change = ({ manifest, ...changes }) => {
    if (manifest !== undefined) setText(manifest);
    if (changes.view === "try") setAsked((n) => n + 1);
    write(changes);
  };
  useKeys(state, change, help);
  useEffect(() => {
    const look = () => takeSecret() && renew();
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  const label = labelOf(state);
  const { value, answered, failure, retryAt } = usePolled(label ? `inventory?label=${encodeURIComponent(label)}` : "inventory", RELOAD_MS, again);
  // Another grouping asks anew; until it is answered the map stays.
  const last = useRef({});
  if (value) last.current = { value, answered };
  const inventory = last.current.value;
  const pending = usePolled("pending", SUMS_MS, again);
  const quota = usePolled("quota", SUMS_MS, again);
  const { value: policy } = usePolled("policy", GROUPS_MS, again);
  const isOfGroups = (state.view === "overview" && state.group === "pool") || state.view === "waiting";
  const gangs = usePolled(state.view === "groups" ? "groups" : "", RELOAD_MS, again);
  const groups = usePolled(isOfGroups ? "node-groups" : "", GROUPS_MS, again);
  const pools = useMemo(() => poolsOf(groups.value), [groups.value]);
  const marked = useMemo(() => markedBy(tried.answer), [tried]);
  const common = { inventory, pending, quota, policy, groups, gangs, pools, noGroups: groups.failure, again, state, change };
  const needsToken = failure?.status === 401;
  const isBlank = state.view === "overview" && !inventory;
  const view = isBlank ? (failure ? html`<${Failed} failure=${failure} what=${t("see_inventory")} />` : html`<${Loading} />`)
    : html`<${CONTENTS[state.view]} key=${state.view} ...${common} tried=${state.view === "try" ? tried : marked} setTried=${setTried} text=${text} setText=${setText} asked=${asked} />`;
  return html`
    <${Bar} inventory=${inventory} answered=${last.current.answered} failure=${failure} policy=${policy} pending=${pending} quota=${quota} state=${state} change=${change} />
    <main class=${state.node || state.pod ? "split" : ""}>
      <div class="view">
        ${needsToken && html`<${TokenForm} failure=${failure} renewed=${renew} />`}
        ${inventory && html`<${Bands} inventory=${inventory} answered=${last.current.answered} failure=${failure} retryAt=${retryAt} renew=${renew} />`}
        ${!(needsToken && !inventory) && view}
      </div>
      <${Drawer} inventory=${inventory} pending=${pending.value} state=${state} change=${change} />
    </main>
    <${KeyList} help=${help} />`;
}

const root = document.getElementById("page");
root.replaceChildren();
render(html`<${Page} />`, root);
