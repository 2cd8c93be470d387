// The table: the offers, the game, its address, and what the server knows. A change is an event.

import { $, BoardView } from "./board.js";
import { Game, short } from "./game.js";

export const LEVELS = { beginner: "Easy", club: "Club", perfect: "Perfect", person: "Second" };
export let offers = [];
export let game = null;
export let seed = 1 + Math.floor(Math.random() * 1e9);
/** Grows with every change, so that late answers are recognised. */
export let epoch = 0;
export let former = null;
/** Sends `change` when the game has to be shown again, and `visit` with an address. */
export const events = new EventTarget();
export const view = new BoardView($("stage"), $("board"));

// A browser may keep nothing, or what another program wrote.
export function stored(area, key) {
  try { return JSON.parse(window[area].getItem(`trinim.${key}`)) ?? {}; } catch { return {}; }
}
export function store(area, key, value) {
  try { window[area].setItem(`trinim.${key}`, JSON.stringify(value)); } catch { /* as above */ }
}

export const isAgainstProgram = () => $("opponent").value !== "person";
export const names = () => {
  if (isAgainstProgram()) return ["You", LEVELS[$("opponent").value]];
  return game.first === 0 ? ["First", "Second"] : ["Second", "First"];
};
export const wins = (player) => (names()[player] === "You" ? "You win" : `${names()[player]} wins`);
export const turnOf = (player) => (names()[player] === "You" ? "Your turn" : `${names()[player]} to move`);
export const offerOf = (board, rule) => offers.find((one) => one.board === board && one.rule === rule);
export const offered = () => offerOf($("boards").value, $("rule").value);
export function offer(found) { offers = found; }

export function rulesOf() {
  const options = [...$("rule").options];
  for (const option of options) option.disabled = !offerOf($("boards").value, option.value);
  if (!offered()) $("rule").value = options.find((option) => !option.disabled).value;
}

export const keep = () => store("localStorage", "settings", { ...game.about, first: game.first, opponent: $("opponent").value });

export function place(next) {
  game = next;
  $("boards").value = game.offer.board;
  rulesOf();
  $("rule").value = game.offer.rule;
  $("first").value = game.first;
}

/** Puts a game in place of the one before, which can be taken back if a person moved in it. */
export function replace(next) {
  if (game?.moves.length > game?.first) former = game;
  place(next);
}

export function begin(next) {
  replace(next);
  seed = 1 + Math.floor(Math.random() * 1e9);
  keep();
  change({ begins: true });
}

export const fresh = () => begin(new Game(offered(), { first: Number($("first").value) }));
/** Makes answers late that are waited for. */
export function leave() { epoch += 1; progress(); return epoch; }
const send = (name, detail) => events.dispatchEvent(new CustomEvent(name, { detail }));
/** Shows the game after a change; `how`: news, begins, keeps the remark. */
export function change(how = {}) { leave(); send("change", how); }

export function walk(at) { game.go(at); change(); }

/** What is said before the line until the person does something. */
let notice = "";
export function remark(text) { notice = text; }

/** Says who is where: a sign, a heading and a line. */
export function say(sign, heading, line) {
  const kind = { "✓": "win", "✕": "loss", "●": "turn", "○": "waits" }[sign];
  $("sign").className = kind ? `sign ${kind}` : "";
  $("sign").textContent = /[✓✕]/.test(sign) ? sign : "";
  $("turn").textContent = $("turn").dataset.line = heading;
  $("news").textContent = $("news").dataset.line = `${notice} ${line}`.trim();
  document.title = `${heading} – trinim`;
}

/** Says what failed, and what to do to ask again; nothing without a reason. */
export function trouble(error, again) {
  $("b-trouble").hidden = !error;
  $("trouble").textContent = error?.message ?? "";
  $("again").hidden = !again;
  $("again").onclick = () => { trouble(null); again?.(); };
}

/** The parts that are loaded, and how often one was not. */
const parts = {};
let failed = 0;

/** Loads a part of the page; null if that fails, and `again` is offered. */
export async function load(part, again) {
  const asked = epoch;
  // A browser may remember that it failed, but not of another address.
  parts[part] ??= import(failed ? `${part}?${failed}` : part);
  try { return await parts[part]; } catch {
    parts[part] = null;
    failed += 1;
    if (asked === epoch) trouble(new Error("No answer from the server."), again);
    return null;
  }
}

/** Browsers allow few writes of the address: the time of one in ms, and how many at once. */
const [PAUSE, BURST] = [400, 3];
let [wanted, seen, timer, next] = [null, "", null, 0];

export function addressOf(page, parameters) {
  const rest = new URLSearchParams(parameters).toString();
  return `#${page}${rest && "&"}${rest}`.replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/** Puts what is shown into the address, now or soon; null: nothing more. */
export function address(hash) {
  wanted = hash;
  seen = location.hash;
  clearTimeout(timer);
  if (next > performance.now()) timer = setTimeout(flush, next - performance.now()); else flush();
}

/** The address of what is shown, also before it is written. */
export const here = () => new URL(wanted ?? location.hash, location.href).href;

/** Writes what is wanted, if it changed; not over an address that was opened since. */
export function flush() {
  if (wanted === null || wanted === location.hash || seen !== location.hash) return;
  next = Math.max(next, performance.now() - BURST * PAUSE) + PAUSE;
  try { history.replaceState(null, "", wanted); } catch { timer = setTimeout(flush, 10 * PAUSE); }
  seen = location.hash;
}

/** Goes to another page, as an entry of the history if the browser allows one more. */
export function visit(hash) {
  flush();
  try { history.pushState(null, "", hash); } catch { /* the page does not need it */ }
  send("visit", hash);
}

/** Answers, which never change, and the epoch that waits for each. */
const known = new Map();
/** How many; the times between questions about a solve, and before a failed one is asked again, in ms. */
const [MOST, AGAIN, RETRIES] = [500, 500, [500, 1000, 2000]];
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
export function remember(map, key, value) { if (map.size >= MOST) map.delete(map.keys().next().value); map.set(key, value); return value; }

/** Asks the server; rejects with its reason. */
export function ask(path, parameters = {}, positions = null) {
  const query = new URLSearchParams(parameters).toString();
  const url = new URL(query ? `${path}?${query}` : path, import.meta.url).href;
  const body = positions?.join("\n");
  const key = `${url} ${body}`;
  const entry = known.get(key) ?? remember(known, key, {});
  entry.epoch = epoch;
  entry.answer ??= answered(url, positions && { method: "POST", headers: { "content-type": "text/plain" }, body }, entry);
  // A failure may be over the next time.
  entry.answer.catch(() => known.delete(key));
  return entry.answer;
}

/** One answer of the server, asked for again while it is lost or the server is too busy. */
async function response(url, options) {
  for (let failures = 0; ; failures += 1) {
    const found = await fetch(url, options).catch(() => null);
    const isLast = failures === RETRIES.length;
    if (found && (isLast || found.status < 502)) return found;
    if (isLast) throw Object.assign(new Error("No answer from the server."), { lost: true });
    await pause(RETRIES[failures]);
  }
}

/** What an answer says, once it is solved: a value, or of many positions one a line. */
async function answered(url, options, entry) {
  let found = await response(url, options ?? {});
  const waits = found.status === 202;
  try {
    while (found.status === 202) {
      const { done } = await found.json();
      if (entry.epoch === epoch) progress(done);
      await pause(AGAIN);
      if (entry.epoch !== epoch) throw Object.assign(new Error("Not solved: stopped."), { unknown: true });
      found = await response(url, options ?? {});
    }
  } finally {
    if (waits && entry.epoch === epoch) progress();
  }
  if (found.ok && !options) return found.json();
  const all = found.ok ? (await found.text()).trim().split("\n").map(JSON.parse) : [await found.json().catch(() => ({}))];
  // A line that failed can have an answer the next time.
  const failed = found.ok ? all.find(({ error }) => error && !error.includes("not known here")) : all[0];
  if (!failed) return all;
  const reason = failed.error || failed.detail || `The server answers ${found.status}.`;
  throw Object.assign(new Error(short(reason, 200)), { unknown: found.status === 404, lost: found.ok || found.status >= 500 });
}

/** Shows how far a solve is, null behind another one. The percents are not spoken. */
function progress(done) {
  const isSolving = done !== undefined;
  if (!isSolving && !$("solving").hidden) $("value").textContent = "";
  $("solving").hidden = $("stop").hidden = !isSolving;
  $("value").ariaLive = isSolving ? "off" : "polite";
  if (!isSolving) return;
  $("solve").hidden = true;
  if (done === null) $("solving").removeAttribute("value"); else $("solving").value = done;
  $("value").textContent = done === null ? "Another position is being solved first." : `Solving: ${Math.floor(100 * done)} %`;
}
