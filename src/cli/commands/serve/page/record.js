// The moves of a game as a list, what is known of a position, and what all parts are made of.

import { ask } from "./api.js";
import { Game, count } from "./game.js";

export const $ = (id) => document.getElementById(id);

/** The most pieces of a position that the server solves at once. */
const AT_ONCE = 28;

export const pieces = (number) => `${number} ${number === 1 ? "piece" : "pieces"}`;
export const inMoves = (moves) => (moves ? ` in ${moves} ${moves === 1 ? "move" : "moves"}` : "");
export const rowsOf = (board) => (board.startsWith("triangle:") ? `${board.slice(9)} rows` : board.replace(":", " "));
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

export function element(name, properties = {}, ...children) {
  const found = Object.assign(document.createElement(name), properties);
  found.append(...children);
  return found;
}

export function button(textContent, act, properties = {}) {
  const found = element("button", { type: "button", textContent, ...properties });
  found.addEventListener("click", () => act(found));
  return found;
}

/** Lists all moves, also those that were taken back; `names` are those of the two sides. */
export function listMoves(box, game, names, values, act) {
  const focus = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  const entry = (index) => {
    const found = button(shown(game, game.moves[index]), () => act.go(index + 1));
    if (isMistake(values, index)) found.append(element("span", { className: "mistake", textContent: " ?" }));
    found.classList.toggle("later", index >= game.at);
    if (index === game.at - 1) found.setAttribute("aria-current", "step");
    return found;
  };
  const heads = ["", names[game.first], names[1 - game.first]].map((textContent) => element("span", { textContent }));
  box.replaceChildren(element("div", { className: "heads" }, ...heads));
  for (let index = 0; index < game.moves.length; index += 2) {
    const line = element("div", {}, element("small", { textContent: Game.number(index) }), entry(index));
    if (index + 1 < game.moves.length) line.append(entry(index + 1));
    const variations = game.variations.filter(({ from }) => from === index || from === index + 1);
    for (const variation of variations) {
      const turns = variation.moves.map((move) => shown(game, move)).join(" ");
      line.append(button(`instead: ${turns}`, () => act.enter(variation), { className: "variation" }));
    }
    box.append(line);
  }
  const now = box.querySelector("[aria-current]");
  // The list scrolls, the page does not.
  box.scrollTop = now ? now.offsetTop - box.clientHeight / 2 : 0;
  box.scrollLeft = now ? now.offsetLeft - box.clientWidth + now.offsetWidth + 40 : 0;
  box.classList.toggle("whole", box.scrollHeight <= box.clientHeight + 1);
  if (focus >= 0) box.querySelectorAll("button")[focus]?.focus();
}

/**
 * Asks for a position of a game, unless what the server keeps and solves cannot have it: rejects with
 * `unknown`, too. Unless it `waits`, nothing is solved for it that takes long.
 */
export async function positionOf(game, position, waits = true) {
  const { keep, spot_pieces: spot } = game.offer;
  const least = keep === "database" ? 0 : Number(keep.split(":")[1] ?? Infinity);
  const most = spot === null ? -1 : waits ? spot : Math.min(spot, AT_ONCE);
  if (count(position) < least && count(position) > most) {
    const isSolvable = count(position) <= (spot ?? -1);
    throw Object.assign(new Error("The value of this position is not known."), { unknown: true, isSolvable });
  }
  return ask("v1/position", { ...game.about, p: position });
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
