// Questions to the server, and how the page writes answers and moves.

import { made } from "./board.js";
import { Game, count } from "./game.js";

// Answers never change, so each is asked for once.
const known = new Map();
const MOST = 500;
/** Between two questions about what is being solved, in ms. */
const AGAIN = 500;
/** Before the same question is asked again after a failure, in ms. */
const RETRIES = [500, 1000, 2000];

/** Grows when the page no longer waits for what is being solved. */
let visit = 0;
let tell = () => {};

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/**
 * Calls `told` with the share that is done, null behind another position, while an answer is
 * solved; then without.
 */
export function onProgress(told) { tell = told; }

/** Leaves what is being solved: questions that wait for it are rejected. */
export function leave() {
  visit += 1;
  tell();
}

/** Asks for a path with parameters, or about positions; rejects with the reason that the server gives. */
export function ask(path, parameters = {}, positions = null) {
  const query = new URLSearchParams(parameters).toString();
  const url = new URL(query ? `${path}?${query}` : path, import.meta.url).href;
  const body = positions?.join("\n");
  const key = `${url} ${body}`;
  if (!known.has(key)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    const answer = answered(url, positions && { method: "POST", headers: { "content-type": "text/plain" }, body });
    known.set(key, answer);
    // A failure may be over the next time.
    answer.catch(() => known.delete(key));
  }
  return known.get(key);
}

/** Asks for many positions of a board in one request: their answers, null where none is known. */
export async function askAll(parameters, positions) {
  return (await ask("v1/positions", parameters, positions)).map((answer) => (answer.error ? null : answer));
}

/** One answer of the server, asked for again while it is lost or the server is too busy. */
async function response(url, options) {
  for (let failures = 0; ; failures += 1) {
    const found = await fetch(url, options).catch(() => null);
    if (found && found.status < 500) return found;
    if (failures === RETRIES.length) {
      const reason = found ? `The server answers ${found.status}.` : "No answer from the server.";
      throw Object.assign(new Error(reason), { lost: true });
    }
    await pause(RETRIES[failures]);
  }
}

/** What an answer says, once it is solved: a value, or of many positions one a line. */
async function answered(url, options) {
  const begun = visit;
  let found = await response(url, options ?? {});
  const waits = found.status === 202;
  try {
    while (found.status === 202) {
      const { done } = await found.json();
      if (visit === begun) tell(done);
      await pause(AGAIN);
      if (visit !== begun) throw Object.assign(new Error("Not solved: it was stopped."), { unknown: true });
      found = await response(url, options ?? {});
    }
  } finally {
    if (waits) tell();
  }
  if (found.ok) return options ? (await found.text()).trim().split("\n").map(JSON.parse) : found.json();
  const { detail } = await found.json().catch(() => ({}));
  throw Object.assign(new Error(detail || `The server answers ${found.status}.`), { unknown: found.status === 404 });
}

export const $ = (id) => document.getElementById(id);

/** The most pieces of a position that the server solves at once. */
const AT_ONCE = 28;

export const pieces = (number) => `${number} ${number === 1 ? "piece" : "pieces"}`;
export const inMoves = (moves) => (moves ? ` in ${moves} ${moves === 1 ? "move" : "moves"}` : "");
/** The name of a board for people, like “5 rows, at most 3” for triangle:5,take:3. */
export const rowsOf = (board) => board.replace(/^triangle:(\d+)/, "$1 rows").replace(",least:", ", at least ").replace(",take:", ", at most ").replace(":", " ");
export const ruleOf = (offer) => (offer.rule === "misere" ? "last piece loses" : "last piece wins");

/** The name of a move as it is shown. */
export const shown = (game, move) => game.name(move).replace("-", "–");

export const isWin = (found) => found?.value === "win";
/** Whether a move gives a won game away, by the values of the positions before and after it. */
export const isMistake = (values, index) => isWin(values[index]) && isWin(values[index + 1]);
/** The moves that win in a position, the quickest first. */
export function winning(found) {
  const moves = found.moves.filter((move) => move.value === "loss");
  return moves.sort((one, other) => (one.distance ?? 0) - (other.distance ?? 0));
}

/** What answers a move, by what is known of the position after it: marks and words. */
export function answerTo(game, after) {
  const [answer] = winning(after);
  if (!answer) return { marks: [], why: "no piece is left" };
  return { marks: [["answer", answer.cells]], why: `${shown(game, answer.cells)} answers` };
}

export function element(name, properties = {}, ...children) {
  const found = Object.assign(document.createElement(name), properties);
  found.append(...children);
  return found;
}

export function icon(name) {
  const found = made("svg", { class: "icon", "aria-hidden": "true" });
  made("use", { href: `#i-${name}` }, found);
  return found;
}

/** An entry of a legend. */
export const key = (kind, text) => element("span", {}, element("i", { className: kind }), text);

export function button(text, act, properties = {}, sign = null) {
  const found = element("button", { type: "button", ...properties }, ...(sign ? [icon(sign)] : []), text);
  found.addEventListener("click", () => act(found));
  return found;
}

/** Lists all moves, also those that were taken back; `names` are those of the two sides. */
export function listMoves(box, game, names, values, act) {
  const focus = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  const entry = (move, index) => {
    const found = button(shown(game, move), () => act.go(index + 1), { className: index >= game.at ? "later" : "" });
    if (isMistake(values, index)) found.append(element("span", { className: "mistake", textContent: " ?" }));
    if (index === game.at - 1) found.setAttribute("aria-current", "step");
    return found;
  };
  const heads = ["", names[game.first], names[1 - game.first]].map((textContent) => element("span", { textContent }));
  box.replaceChildren(element("div", { className: "heads" }, ...heads));
  for (let index = 0; index < game.moves.length; index += 2) {
    const entries = game.moves.slice(index, index + 2).map((move, side) => entry(move, index + side));
    const variations = game.variations.filter(({ from }) => from === index || from === index + 1).map((one) => {
      const turns = one.moves.map((move) => shown(game, move)).join(" ");
      return button(`instead: ${turns}`, () => act.enter(one), { className: "variation" });
    });
    box.append(element("div", {}, element("small", { textContent: Game.number(index) }), ...entries, ...variations));
  }
  scroll(box);
  sizes.observe(box);
  box.onscroll = () => fade(box);
  if (focus >= 0) box.querySelectorAll("button")[focus]?.focus();
}

/** Scrolls a list of moves to the current one; the page does not scroll. */
function scroll(box) {
  const now = box.querySelector("[aria-current]");
  box.scrollTop = now ? now.offsetTop - box.clientHeight + 60 : 0;
  box.scrollLeft = now ? now.offsetLeft - box.clientWidth + now.offsetWidth + 40 : 0;
  fade(box);
}

/** The last moves fade where more are below. */
const fade = (box) => box.classList.toggle("whole", box.scrollHeight - box.scrollTop <= box.clientHeight + 1);
const sizes = new ResizeObserver(([{ target }]) => scroll(target));

/**
 * Asks for a position of a game, unless what the server keeps and solves cannot have it: rejects with
 * `unknown`, too. Unless it `waits`, nothing is solved for it that takes long.
 */
export async function positionOf(game, position, waits = true) {
  const { keep, spot_pieces: spot } = game.offer;
  const [held, least] = [count(position), keep === "database" ? 0 : Number(keep.split(":")[1] ?? Infinity)];
  const isSolvable = held <= (spot ?? -1);
  if (held >= least || (isSolvable && (waits || held <= AT_ONCE))) return ask("v1/position", { ...game.about, p: position });
  throw Object.assign(new Error("The value of this position is not known."), { unknown: true, isSolvable });
}

/** Shows how far an answer is that has to be solved. */
export function follow(done) {
  const isSolving = done !== undefined;
  $("solving").hidden = $("stop").hidden = !isSolving;
  if (!isSolving) return;
  $("solve").hidden = true;
  if (done === null) $("solving").removeAttribute("value"); else $("solving").value = done;
  $("value").textContent = done === null ? "Another position is being solved first." : `Solving: ${Math.floor(100 * done)} %`;
}

/** Says who is where: a sign, a heading and a line below it. */
export function say(sign, heading, line) {
  const kind = { "✓": "win", "✕": "loss", "●": "turn", "○": "waits" }[sign];
  $("sign").className = kind ? `sign ${kind}` : "";
  $("sign").textContent = /[✓✕]/.test(sign) ? sign : "";
  [$("turn").textContent, $("news").textContent, $("news").dataset.line] = [heading, line, line];
}
