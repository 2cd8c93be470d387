// What is said of a game: who wins and by which moves, who was winning as a graph, and what decided it.

import { $, answerTo, ask, askAll, button, element, inMoves, isMistake, isWin, key, listMoves, pieces, positionOf, rowsOf, say, shown, winning } from "./answers.js";
import { made, write } from "./board.js";
import { Game, count } from "./game.js";
import { LEVELS, attempt, changed, epoch, fresh, game, isAgainstProgram, names, offers, seed, trouble, turnOf, view, walk, wins } from "./page.js";

/** The most rings around moves that win: more would hide a full board. */
const RINGS = 12;
/** The most buttons of moves that are shown at first. */
const CHIPS = 8;

const numberOf = (index) => `move ${Game.number(index)}`;
const was = (player) => (names()[player] === "You" ? "You were" : `${names()[player]} was`);
const signOf = (kind) => element("span", { className: `sign ${kind}`, textContent: kind === "win" ? "✓" : "✕", ariaHidden: "true" });

/** Draws one bar a position: up where player 0 wins, as high as moves or pieces are left. */
function drawGraph(found) {
  const [svg, width, axis, top] = [$("graph"), 358, 46, 38];
  const far = found.every((one) => !one || one.distance !== null);
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
    const link = made("a", { href: walk.address(index), "aria-label": `After ${index} ${index === 1 ? "move" : "moves"}: ${value}` }, svg);
    if (index === game.at) link.setAttribute("aria-current", "step");
    made("rect", { x, y: 0, width: step, height: 82, class: index === game.at ? "now" : "hit" }, link);
    if (one) {
      const height = Math.max(1.5, (top * length(one, index)) / most);
      made("rect", { x: x + 0.15 * step, width: 0.7 * step, y: winner ? axis : axis - height, height, class: winner ? "down" : "up" }, link);
    } else made("circle", { cx: x + step / 2, cy: axis, r: 2.5 }, link);
    if (index && isMistake(found, index - 1)) write("?", x + step / 2, winner ? axis - 5 : axis + 15, link, "mistake");
    if (index % 2 && Game.number(index) % Math.ceil(12 / step) === 0) write(Game.number(index), Math.min(x + step, width - 6), 94, svg);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      walk.go(index);
    });
  });
  made("line", { x1: 0, x2: width, y1: axis, y2: axis }, svg);
  $("height").textContent = `Who was winning, and ${far ? "moves to the end" : "pieces left"}`;
  $("legend").replaceChildren(key("up", wins(0)), key("down", wins(1)), element("span", {}, element("b", { className: "mistake", textContent: "? " }), "Mistake"));
}

/** Asks for all positions of the game, draws who was winning and marks mistakes; null if it is too late. */
async function graph(asked) {
  const found = await askAll(game.about, game.positions).catch((error) => { if (asked === epoch) trouble(error, () => changed()); });
  if (asked !== epoch || !found) return null;
  listMoves($("moves"), game, names(), found, walk);
  drawGraph(found);
  const last = game.at - 1;
  if (last >= 0 && isMistake(found, last)) {
    const kept = shown(game, winning(found[last])[0].cells);
    $("note").textContent = `? ${names()[game.playerAt(last)]} gave the win away with ${shown(game, game.last)}; ${kept} kept it.`;
  }
  return found;
}

/** Says who wins, where that is wanted, and marks what the analysis shows. */
export async function values(asked, state, waits = false) {
  const isAnalysis = state === "analyse";
  for (const id of ["value", "best", "wins"]) $(id).replaceChildren();
  $("solve").hidden = true;
  $("b-value").hidden = isAnalysis && !waits;
  if (isAnalysis) {
    say("", "…", "");
    graph(asked);
  }
  try {
    const found = await positionOf(game, game.position, waits);
    if (asked !== epoch) return;
    const winner = isWin(found) ? game.player : 1 - game.player;
    const [kind, text] = [winner === 0 ? "win" : "loss", `${wins(winner)}${inMoves(found.distance)}`];
    if (!isAnalysis) return $("value").replaceChildren(signOf(kind), text);
    $("b-value").hidden = true;
    const best = winning(found);
    const moves = `${best.length || "None"} of ${found.moves.length} moves ${best.length > 1 ? "win" : "wins"}.`;
    say(kind === "win" ? "✓" : "✕", text, [
      game.winner() === null ? `${turnOf(game.player)} at ${numberOf(game.at)}. ${moves}` : "The game is over.",
      found.nimber === null ? "" : ` Nimber ${found.nimber}.`, found.moves_not_kept ? ` ${found.moves_not_kept} more are not known.` : "",
    ].join(""));
    if (game.winner() === null) chips(found, best);
  } catch (error) {
    if (asked !== epoch) return;
    $("b-value").hidden = false;
    if (isAnalysis) say("", turnOf(game.player), `${pieces(count(game.position))} are left.`);
    if (error.lost) return trouble(error, () => changed());
    $("value").textContent = error.message;
    $("solve").hidden = !(error.isSolvable || error.unknown && waits);
  }
}

/** The winning moves as buttons, or in a lost position those that last longest. */
function chips(found, best) {
  const longest = Math.max(...found.moves.map((move) => move.distance ?? 0));
  const moves = best.length ? best : found.moves.filter((move) => (move.distance ?? 0) === longest);
  const marks = best.slice(0, RINGS).map((move, index) => [index ? "win" : "quick", move.cells]).reverse();
  $("best").textContent = best.length ? "Winning moves" : "Every move loses; these last longest";
  const all = () => view.mark([...game.marks, ...marks]);
  all();
  const buttons = game.classes(moves).map((alike, index) => {
    const [{ cells, distance }] = alike;
    const found = button(shown(game, cells), () => attempt(cells), { className: best.length ? (index ? "" : "quick") : "loss" });
    const more = `${distance === null ? "" : ` in ${distance + 1}`}${alike.length > 1 ? ` ×${alike.length}` : ""}`;
    found.append(element("small", { textContent: more }));
    const own = [best.length ? "quick" : "wrong", cells];
    const alone = async () => {
      view.mark([own]);
      const after = await positionOf(game, game.after(cells), false).catch(() => null);
      if (found.matches(":hover, :focus") && after?.moves.length) view.mark([own, ["answer", after.moves[0].cells]]);
    };
    for (const event of ["focus", "pointerenter"]) found.addEventListener(event, alone);
    for (const event of ["blur", "pointerleave"]) found.addEventListener(event, all);
    return found;
  });
  const more = buttons.splice(CHIPS);
  const rest = more.length ? [button(`${more.length} more`, (one) => one.replaceWith(...more))] : [];
  $("wins").replaceChildren(...buttons, ...rest);
}

/** What decided a game: words, of which the second is stressed, slips before that, and the loser's last mistake. */
function tale(found, winner) {
  const [mistakes, loser] = [[...game.moves.keys()].filter((index) => isMistake(found, index)), 1 - winner];
  const last = mistakes.findLast((index) => game.playerAt(index) === loser);
  if (last === undefined) return { words: [`${was(winner)} winning from the first move to the last: `, "no mistake", "."], slips: [] };
  const kept = winning(found[last]).slice(0, 3).map((move) => shown(game, move.cells)).join(" or ");
  const slips = mistakes.filter((index) => index < last).map((index) => `${names()[game.playerAt(index)]} at ${numberOf(index)}`);
  return { words: [`${was(loser)} winning until `, numberOf(last), `: ${shown(game, game.moves[last])} gave the win away, ${kept} kept it.`], slips, last };
}

/** A game that is over: who won and why, what comes next, and the game as a picture. */
export async function end(asked, hadFocus) {
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
  const paint = (found) => view.paint(game.moves.map((move, index) => ({
    move, mine: game.playerAt(index) === 0, text: `${Game.number(index)}${isMistake(found, index) ? "?" : ""}`,
  })));
  view.mark([]);
  paint([]);
  const found = await graph(asked);
  if (!found) return;
  paint(found);
  if (found.includes(null)) return $("story").append("Not every position of this game is known here.");
  const { words: [before, stressed, after], slips, last: lost } = tale(found, winner);
  $("story").append(before, element("b", { textContent: stressed }), after);
  if (slips.length) $("slips").append(`Earlier slips: ${[...new Set(slips)].join(", ")}.`);
  if (!step && lost !== undefined && winner === 1) offer("retry", `Retry ${numberOf(lost)}`, () => walk.go(lost));
}

/** After a win: a larger board, then a stronger opponent. */
function nextStep() {
  const board = `triangle:${Number(game.offer.board.split(":")[1]) + 1}`;
  if (game.offer.board.startsWith("triangle:") && offers.some((one) => one.board === board)) {
    return { text: `Next: ${rowsOf(board)}`, choose: () => { $("boards").value = board; } };
  }
  const level = { beginner: "club", club: "perfect" }[$("opponent").value];
  return level ? { text: `Next: ${LEVELS[level].toLowerCase()} opponent`, choose: () => { $("opponent").value = level; } } : null;
}

/** Marks a move to play. */
export async function hint() {
  const asked = epoch;
  try {
    const best = winning(await positionOf(game, game.position))[0];
    const move = best?.cells ?? (await ask("v1/reply", { ...game.about, p: game.position, level: "perfect", seed })).move.cells;
    if (asked !== epoch) return;
    view.mark([...game.marks, [best ? "quick" : "wrong", move]]);
    $("news").textContent = `${shown(game, move)} ${best ? "wins" : "loses as every move does, but lasts longest"}.`;
  } catch (error) {
    if (asked === epoch) trouble(error, error.lost && (() => { trouble(null); hint(); }));
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
