// What is said of a game: who wins and by which moves, who was winning as a graph, and what decided it.

import { $, button, capsule, element, key, made, write } from "./board.js";
import { Game, count, heldIn, inMoves, plural, rowsOf, shown } from "./game.js";
import { LEVELS, addressOf, ask, change, epoch, fresh, game, isAgainstProgram, names, offerOf, remember, say, seed, trouble, turnOf, view, walk, wins } from "./table.js";

/** Positions that were asked for, null where no value is known. */
const among = new Map();
/** The most pieces of a position that the server solves at once. */
const AT_ONCE = 28;
/** The most rings around moves that win: more would hide a full board. */
const RINGS = 12;
/** The radius of a run in the picture of a game, in cells. */
const RUN = 0.385;
/** The most buttons of moves that are shown at first. */
const CHIPS = 8;

/** The answers to many positions of a board, null where none is known. Only new ones are asked for. */
async function askAll(about, positions) {
  const missing = positions.filter((one) => !among.has(keyOf(about, one)));
  const found = missing.length ? await ask("v1/positions", about, missing) : [];
  found.forEach((one, index) => remember(among, keyOf(about, missing[index]), one.error ? null : one));
  return positions.map((one) => among.get(keyOf(about, one)) ?? null);
}
const keyOf = ({ board, rule }, position) => `${board} ${rule} ${position}`;

/**
 * Asks for a position of a game, unless what the server keeps and solves cannot have it: rejects with
 * `unknown`, too. Unless it `waits`, nothing is solved for it that takes long.
 */
export async function positionOf({ offer, about }, position, waits = true) {
  const { keep: kept, spot_pieces: spot } = offer;
  const [held, least] = [count(position), kept === "database" ? 0 : Number(kept.split(":")[1] ?? Infinity)];
  const isSolvable = held <= (spot ?? -1);
  // The server begins to solve what it keeps without some moves.
  if (!waits && isSolvable && held > AT_ONCE) {
    const [found] = held >= least ? await askAll(about, [position]) : [];
    if (found) return found;
  } else if (held >= least || isSolvable) {
    return remember(among, keyOf(about, position), await ask("v1/position", { ...about, p: position }));
  }
  throw Object.assign(new Error("The value of this position is not known."), { unknown: true, isSolvable });
}

const isWin = (found) => found?.value === "win";
/** Whether a move gives a won game away, by the values of the positions before and after it. */
const isMistake = (values, index) => isWin(values[index]) && isWin(values[index + 1]);
/** The moves that are known to win in a position; the quickest first, if it is timed. */
export const winning = (found) => found.moves.filter((move) => move.value === "loss");
/** Whether it is known how long the game lasts, after each move. */
const isTimed = (found) => found.distance !== null && !found.moves_not_kept && found.moves.every((move) => move.distance !== null);

/** What answers a move, by what is known of the position after it: marks and words. */
export function answerTo(game, after) {
  const [answer] = winning(after);
  if (!answer) return { marks: [], why: game.legal(after.position).length ? "some move answers" : "no move is left" };
  return { marks: [["answer", answer.cells]], why: `${shown(game, answer.cells)} answers` };
}

const numberOf = (index) => `move ${Game.number(index)}`;
const was = (player) => (names()[player] === "You" ? "You were" : `${names()[player]} was`);
const signOf = (kind) => element("span", { className: `sign ${kind}`, textContent: kind === "win" ? "✓" : "✕", ariaHidden: "true" });

/** Takes a variation in place of what followed there, which becomes one. */
function enter(variation) {
  game.go(variation.from);
  game.variations = game.variations.filter((one) => one !== variation);
  game.branch();
  variation.moves.forEach((move) => game.play(move));
  walk(variation.from + 1);
}

/** Lists all moves, also those that were taken back, with a mark at mistakes by these values. */
export function listMoves(values = []) {
  const box = $("moves");
  const focus = [...box.querySelectorAll("button")].indexOf(document.activeElement);
  const entry = (move, index) => {
    const found = button(shown(game, move), () => walk(index + 1), { className: index >= game.at ? "later" : "" });
    if (isMistake(values, index)) found.append(element("span", { className: "mistake", textContent: " ?" }));
    if (index === game.at - 1) found.setAttribute("aria-current", "step");
    return found;
  };
  const heads = ["", names()[game.first], names()[1 - game.first]].map((textContent) => element("span", { textContent }));
  box.replaceChildren(element("div", { className: "heads" }, ...heads));
  for (let index = 0; index < game.moves.length; index += 2) {
    const entries = game.moves.slice(index, index + 2).map((move, side) => entry(move, index + side));
    const variations = game.variations.filter(({ from }) => from === index || from === index + 1).map((one) => {
      const turns = one.moves.map((move) => shown(game, move)).join(" ");
      return button(`instead: ${turns}`, () => enter(one), { className: "variation" });
    });
    box.append(element("div", {}, element("small", { textContent: Game.number(index) }), ...entries, ...variations));
  }
  scroll();
  if (focus >= 0) box.querySelectorAll("button")[focus]?.focus();
}

/** Scrolls the list of moves to the current one; the page does not scroll. */
function scroll() {
  const [box, now] = [$("moves"), $("moves").querySelector("[aria-current]")];
  box.scrollTop = now ? now.offsetTop - box.clientHeight + 60 : 0;
  box.scrollLeft = now ? now.offsetLeft - box.clientWidth + now.offsetWidth + 40 : 0;
  fade();
}

/** The last moves fade where more are below. */
const fade = () => $("moves").classList.toggle("whole", $("moves").scrollHeight - $("moves").scrollTop <= $("moves").clientHeight + 1);
$("moves").onscroll = fade;
new ResizeObserver(scroll).observe($("moves"));

/** Draws one bar a position: up where player 0 wins, as high as moves or pieces are left. */
function drawGraph(found) {
  const [svg, width, axis, top] = [$("graph"), 358, 46, 38];
  const far = found.some(Boolean) && found.every((one) => !one || one.distance !== null);
  const length = (one, index) => (far ? one.distance : count(game.positions[index]));
  const most = Math.max(1, ...found.map((one, index) => (one ? length(one, index) : 0)));
  const step = Math.min(width / found.length, 34);
  svg.setAttribute("viewBox", `0 0 ${width} 96`);
  svg.replaceChildren();
  const hatch = made("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" }, made("defs", {}, svg));
  made("path", { d: "M-1 1 1 -1M-1 6 6 -1M4 6 6 4", class: "hatch" }, hatch);
  found.forEach((one, index) => {
    const x = index * step;
    const winner = one && (isWin(one) ? game.playerAt(index) : 1 - game.playerAt(index));
    const value = one ? `${wins(winner).replace("You", "you")}${far ? ` in ${one.distance}` : ""}` : "not known";
    const link = made("a", { href: addressOf("analyse", { ...game.parameters(), at: index }), "aria-label": `After ${plural(index, "move")}: ${value}` }, svg);
    if (index === game.at) link.setAttribute("aria-current", "step");
    made("rect", { x, y: 0, width: step, height: 82, class: index === game.at ? "now" : "hit" }, link);
    if (one) {
      const height = Math.max(1.5, (top * length(one, index)) / most);
      made("rect", { x: x + 0.15 * step, width: 0.7 * step, y: winner ? axis : axis - height, height, class: winner ? "down" : "up" }, link);
    } else made("circle", { cx: x + step / 2, cy: axis, r: 2.5 }, link);
    if (index && isMistake(found, index - 1)) write("?", x + step / 2, winner ? axis - 5 : axis + 15, link, "mistake");
    if (index % 2 && Game.number(index) % Math.ceil(12 / step) === 0) write(Game.number(index), Math.min(x + step, width - 6), 94, svg);
    link.addEventListener("click", (event) => { event.preventDefault(); walk(index); });
  });
  made("line", { x1: 0, x2: width, y1: axis, y2: axis }, svg);
  $("height").textContent = `Who was winning, and ${far ? "moves to the end" : "pieces left"}`;
  $("legend").replaceChildren(key("up", wins(0)), key("down", wins(1)), element("span", {}, element("b", { className: "mistake", textContent: "? " }), "Mistake"));
}

$("moves").addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest", inline: "nearest" }));

/** Asks for all positions of the game, draws who was winning and marks mistakes; null if it is too late. */
async function graph() {
  const asked = epoch;
  const found = await askAll(game.about, game.positions).catch((error) => { if (asked === epoch) trouble(error, change); });
  if (asked !== epoch || !found) return null;
  listMoves(found);
  drawGraph(found);
  const last = game.at - 1;
  if (last >= 0 && isMistake(found, last)) {
    const kept = keptIt(found[last], "; ", 1);
    $("note").textContent = `? ${names()[game.playerAt(last)]} gave the win away with ${shown(game, game.last)}${kept}.`;
  }
  return found;
}

/** Which moves kept a win, as far as they are known. */
function keptIt(found, before, most) {
  const kept = winning(found).slice(0, most).map((move) => shown(game, move.cells));
  return kept.length ? `${before}${kept.join(" or ")} kept it` : "";
}

/** Says who wins, where that is wanted, and marks what the analysis shows. */
export async function values(state, waits) {
  const [asked, isAnalysis] = [epoch, state === "analyse"];
  for (const id of ["best", "wins"]) $(id).replaceChildren();
  $("b-value").hidden = isAnalysis && !waits;
  if (isAnalysis) { $("corner").textContent = "Dashes: the last move"; graph(); }
  try {
    const found = await positionOf(game, game.position, waits);
    if (asked !== epoch) return;
    const winner = isWin(found) ? game.player : 1 - game.player;
    const [kind, text] = [winner === 0 ? "win" : "loss", `${wins(winner)}${inMoves(found.distance)}`];
    if (!isAnalysis) return $("value").replaceChildren(signOf(kind), text);
    $("b-value").hidden = true;
    const best = winning(found);
    say(kind === "win" ? "✓" : "✕", text, [
      game.winner() === null ? `${turnOf(game.player)} at ${numberOf(game.at)}. ${shareOf(found, best.length)}` : "The game is over.",
      found.nimber === null ? "" : ` Nimber ${found.nimber}.`, found.moves_not_kept ? ` ${found.moves_not_kept} more are not known.` : "",
    ].join(""));
    if (game.winner() === null) chips(found, best);
  } catch (error) {
    if (asked !== epoch) return;
    $("b-value").hidden = false;
    if (error.lost) return trouble(error, change);
    $("value").textContent = error.message;
    $("solve").hidden = !(error.isSolvable || error.unknown && waits);
  }
}

/** How many moves win; of those that are known, if another one may win. */
function shareOf(found, wins) {
  const [isPart, all] = [found.moves_not_kept > 0, found.moves.length];
  if (all === 1 && !isPart) return `The only move ${wins ? "wins" : "loses"}.`;
  return `${wins || "None"} of ${all}${isPart ? " known" : ""} moves ${wins > 1 ? "win" : "wins"}.`;
}

/** Moves in classes of images of each other under the symmetries of the position. */
export function classesOf(game, moves) {
  const held = heldIn(game.position);
  const symmetries = game.offer.symmetries.filter((image) => image.every((to, cell) => held[to] === held[cell]));
  const name = (cells) => [...cells].sort((one, other) => one - other).join();
  const classes = new Map();
  for (const move of moves) {
    const images = symmetries.map((image) => name(move.cells.map((cell) => image[cell])));
    const first = images.find((image) => classes.has(image)) ?? name(move.cells);
    classes.set(first, [...(classes.get(first) ?? []), move]);
  }
  return [...classes.values()];
}

/** The winning moves as buttons, or in a lost position those that last longest, as far as known. */
function chips(found, best) {
  const [isLost, timed] = [!isWin(found), isTimed(found)];
  const longest = Math.max(...found.moves.map((move) => move.distance));
  const moves = isLost && timed ? found.moves.filter((move) => move.distance === longest) : best;
  const kindOf = (index) => (index || !timed ? "win" : "quick");
  const marks = best.slice(0, RINGS).map((move, index) => [kindOf(index), move.cells]).reverse();
  if (best.length) $("corner").textContent = `${timed ? "Thick ring: the quickest win\nThin rings: other wins" : "Rings: moves that win"}\nDashes: the last move`;
  $("best").textContent = isLost ? `Every move loses${timed ? "; these last longest" : ""}` : best.length ? "Winning moves" : "No winning move is known";
  const all = () => view.mark([...game.marks, ...marks]);
  all();
  const buttons = classesOf(game, moves).map((alike, index) => {
    const [{ cells, distance }] = alike;
    const found = button(shown(game, cells), () => view.act.take(cells), { className: isLost ? "loss" : kindOf(index) });
    const more = `${distance === null ? "" : ` in ${distance + 1}`}${alike.length > 1 ? ` ×${alike.length}` : ""}`;
    found.append(element("small", { textContent: more }));
    const own = [isLost ? "wrong" : kindOf(0), cells];
    const alone = async () => {
      view.mark([own]);
      const after = await positionOf(game, game.after(cells), false).catch(() => null);
      if (found.matches(":hover, :focus") && after?.moves.length && isTimed(after)) view.mark([own, ["answer", after.moves[0].cells]]);
    };
    for (const event of ["focus", "pointerenter"]) found.addEventListener(event, alone);
    for (const event of ["blur", "pointerleave"]) found.addEventListener(event, all);
    return found;
  });
  const more = buttons.splice(CHIPS);
  const rest = more.length ? [button(`${more.length} more`, (one) => { one.replaceWith(...more); more[0].focus(); })] : [];
  $("wins").replaceChildren(...buttons, ...rest);
}

/** What decided a game: words, the second one stressed, earlier slips, and the loser's last mistake. */
function tale(found, winner) {
  const [mistakes, loser] = [[...game.moves.keys()].filter((index) => isMistake(found, index)), 1 - winner];
  const last = mistakes.findLast((index) => game.playerAt(index) === loser);
  if (last === undefined) return { words: [`${was(winner)} winning from the first move to the last: `, "no mistake", "."], slips: [] };
  const slips = mistakes.filter((index) => index < last).map((index) => `${names()[game.playerAt(index)].replace("You", "you")} at ${numberOf(index)}`);
  const words = [`${was(loser)} winning until `, numberOf(last), `: ${shown(game, game.moves[last])} gave the win away${keptIt(found[last], ", ", 3)}.`];
  return { words, slips, last };
}

/** Draws the game as one picture: the cells of each move, its side and number, and a mark at mistakes. */
function paint(found) {
  view.picture.replaceChildren();
  view.svg.classList.add("painted");
  game.moves.forEach((move, index) => {
    const kind = game.playerAt(index) === 0 ? "mine" : "theirs";
    capsule(move, game.offer.cells, RUN, kind, view.picture);
    const middle = (axis) => move.reduce((sum, cell) => sum + game.offer.cells[cell][axis], 0) / move.length;
    write(`${Game.number(index)}${isMistake(found, index) ? "?" : ""}`, middle("x"), middle("y"), view.picture, kind);
  });
}

/** A game that is over: who won and why, what comes next, and the game as a picture. */
export async function end(hadFocus) {
  const [winner, isAlone] = [game.winner(), !isAgainstProgram()];
  const who = names()[1 - game.player];
  const took = game.offer.rule !== "misere" || who === "You" || isAlone ? "took" : "had to take";
  const [last, at] = game.last ? [shown(game, game.last), numberOf(game.at - 1)] : [];
  const line = count(game.position) ? `${last ? `${who} took ${last} at ${at}; no` : "No"} move is left.`
    : last ? `${who} ${took} the last ${game.last.length === 1 ? "piece" : "pieces"}, ${last}, at ${at}.` : "No piece is left.";
  say(winner === 0 || isAlone ? "✓" : "✕", wins(winner), line);
  const step = winner === 0 && !isAlone ? nextStep() : null;
  const offer = (id, text, act) => Object.assign($(id), { textContent: text, onclick: act, hidden: !text });
  offer("next", step?.text ?? "Play again", () => { step?.choose(); fresh(); });
  offer("retry", step ? "Play again" : "", fresh);
  for (const id of ["story", "slips"]) $(id).replaceChildren();
  if (hadFocus) $("next").focus();
  $("corner").textContent = `The game in one picture. Filled: ${names()[0].replace("You", "you")} took it. Outlined: ${names()[1]} did. Numbers: at which move; “?”: a mistake.`;
  view.mark([]);
  paint([]);
  const found = await graph();
  if (!found) return;
  paint(found);
  if (found.includes(null)) return $("story").append("Not every position of this game is known here.");
  const { words: [before, stressed, after], slips, last: lost } = tale(found, winner);
  $("story").append(before, element("b", { textContent: stressed }), after);
  if (slips.length) $("slips").append(`Earlier slips: ${[...new Set(slips)].join(", ")}.`);
  if (!step && lost !== undefined && winner === 1) offer("retry", `Retry ${numberOf(lost)}`, () => walk(lost));
}

/** After a win: a larger board, then a stronger opponent. */
function nextStep() {
  const board = `triangle:${Number(game.offer.board.split(":")[1]) + 1}`;
  if (game.offer.board.startsWith("triangle:") && offerOf(board, game.offer.rule)) {
    return { text: `Next: ${rowsOf(board)}`, choose: () => { $("boards").value = board; } };
  }
  const level = { beginner: "club", club: "perfect" }[$("opponent").value];
  return level ? { text: `Next: ${LEVELS[level].toLowerCase()} opponent`, choose: () => { $("opponent").value = level; } } : null;
}

/** Marks a move to play. */
export async function hint() {
  const asked = epoch;
  try {
    const found = await positionOf(game, game.position);
    const [best, timed] = [winning(found)[0], isTimed(found)];
    const move = best?.cells ?? (await ask("v1/reply", { ...game.about, p: game.position, level: "perfect", seed })).move.cells;
    if (asked !== epoch) return;
    view.mark([...game.marks, [best ? (timed ? "quick" : "win") : "wrong", move]]);
    const loses = isWin(found) ? "is a guess: no winning move is known" : `loses as every move does${timed ? ", but lasts longest" : ""}`;
    $("news").textContent = `${shown(game, move)} ${best ? "wins" : loses}.`;
  } catch (error) {
    if (asked === epoch) trouble(error, error.lost && hint);
  }
}

/** Shows what answers a move that gives a won game away; whether it does, as far as that is known. */
export async function warn(move) {
  const asked = epoch;
  const [found, after] = await Promise.all([game.position, game.after(move)].map((one) => positionOf(game, one, false)))
    .catch(() => []);
  if (asked !== epoch || !isWin(found) || !isWin(after)) return false;
  view.choose(null);
  const { marks, why } = answerTo(game, after);
  view.mark([["wrong", move], ...marks]);
  $("news").textContent = `${shown(game, move)} gives the win away: ${why}. The same move again plays it.`;
  return true;
}
