// Requests below /v1. A token stays in this module's memory: it is in no storage, cookie or address.
import { useEffect, useState } from "./vendor/preact-htm.js";

const LIMIT_MS = 60000;
let token = "";
let hasSecret = false;

export function setToken(given) {
  token = given.trim();
}

// The address that kubectl gpu ui prints has the secret of its run, which is used as a token. Returns whether there is one; it does not
// stay in the address.
export function takeSecret() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("secret")) return false;
  setToken(given.get("secret"));
  hasSecret = true;
  given.delete("secret");
  history.replaceState(null, "", `#${given}`);
  return true;
}
takeSecret();

// Whether a program without this page's secret gets answers, too.
export function isOpenToCurl() {
  return !hasSecret;
}

export function hasToken() {
  return token !== "";
}

// status 0: no answer came.
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Control, format and other invisible characters could make a name look like another one. src/base/buf.c has the same for the program.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|[^])/g;

export function codeOf(character) {
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// The hidden characters of a text, without the ends of lines.
export function hiddenIn(text) {
  return (text.match(HIDDEN) ?? []).filter((found) => found !== "\n");
}

export function visible(text) {
  return text.replace(HIDDEN, (found) => `⟨${codeOf(found)}⟩`);
}

function escapedAgain(escape) {
  const character = JSON.parse(`"${escape}"`);
  const shown = visible(character);
  return shown === character ? escape : shown;
}

// The value of a JSON text, with visible characters for hidden ones: raw, and as an escape (an escaped backslash before it is read as
// such). Spaces between values, and line ends as \n, stay.
export function parse(text) {
  const shown = text
    .replace(HIDDEN, (found) => (found < " " ? found : visible(found)))
    .replace(ESCAPE, (found) => (found[1] === "u" ? escapedAgain(found) : found));
  return JSON.parse(shown);
}

export function urlOf(path) {
  return new URL(`../v1/${path}`, location.href.split("#")[0]).href;
}

async function sendOnce(path, options) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    return await fetch(urlOf(path), { ...options, headers, signal, cache: "no-store", credentials: "same-origin" });
  } catch (fault) {
    throw new Failure(0, fault.message);
  }
}

const BUSY_TRIES = 10;

// Of some answers the service computes one at a time: it says when to ask again.
async function send(path, options) {
  let response = await sendOnce(path, options);
  for (let i = 1; i < BUSY_TRIES && response.status === 503 && response.headers.has("Retry-After"); i++) {
    const seconds = Number(response.headers.get("Retry-After")) || 0;
    await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 5) * 1000));
    response = await sendOnce(path, options);
  }
  return response;
}

async function read(response) {
  const text = await response.text();
  let value = null;
  try {
    value = parse(text);
  } catch {
    throw new Failure(response.status, text.slice(0, 200));
  }
  if (!response.ok) throw new Failure(response.status, value.error ?? response.statusText);
  return value;
}

// path -> the last answer with an ETag, the latest last.
const kept = new Map();
const KEPT_MAX = 10;

// {value, answered}: the same object as before if nothing changed, and the service's time of the answer.
export async function get(path) {
  const last = kept.get(path);
  const response = await send(path, { headers: last ? { "If-None-Match": last.tag } : {} });
  const answered = Date.parse(response.headers.get("Date")) || Date.now();
  if (response.status === 304 && last) return { value: last.value, answered };
  const value = await read(response);
  const tag = response.headers.get("ETag");
  kept.delete(path);
  if (tag) kept.set(path, { tag, value });
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value);
  return { value, answered };
}

// How kubectl gpu asks where this page asks: {program, options, needsToken}.
export async function askedBy() {
  if (hasSecret) return (await get("../ui/command")).value;
  const url = new URL("..", location.href.split("#")[0]).href.replace(/\/$/, "");
  return { program: "kubectl gpu", options: [`--url=${url}`], needsToken: hasToken() };
}

export async function post(path, body) {
  return read(await send(path, { method: "POST", body }));
}

// After the first, second ... failure in a row.
const RETRY_MS = [5000, 10000, 20000, 60000];

// {value, answered, failure, retryAt}, asked again every everyMs while the page is visible, and after failures ever later. After
// a failure the last value stays. path "": nothing is asked. again: another value asks at once. retryAt: the time of the next question.
export function usePolled(path, everyMs, again) {
  const [result, set] = useState({});
  useEffect(() => {
    let timer = 0;
    let ended = false;
    let isAsking = false;
    let failed = 0;
    const ask = async () => {
      clearTimeout(timer);
      timer = 0;
      if (document.hidden || isAsking) return;
      isAsking = true;
      let wait = everyMs;
      try {
        const answer = await get(path);
        failed = 0;
        if (!ended) set({ path, ...answer });
      } catch (failure) {
        wait = Math.max(everyMs, RETRY_MS[Math.min(failed++, RETRY_MS.length - 1)]);
        const retryAt = Date.now() + wait;
        if (!ended) set((old) => ({ ...(old.path === path ? old : { path }), failure, retryAt }));
      }
      isAsking = false;
      if (!ended) timer = setTimeout(ask, wait);
    };
    const shown = () => !document.hidden && ask();
    document.addEventListener("visibilitychange", shown);
    if (path) ask();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [path, everyMs, again]);
  return result.path === path ? result : {};
}
