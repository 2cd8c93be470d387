// The moves of a game as a list, what is known of a position, and what all parts are made of.

import { ask } from "./api.js";
import { made } from "./board.js";
import { Game, count } from "./game.js";

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
