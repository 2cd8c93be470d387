// What is said of a game: who wins and by which moves, who was winning as a graph, and what decided it.

import { ask, askAll } from "./api.js";
import { made } from "./board.js";
import { Game, count } from "./game.js";
import {
  LEVELS, attempt, changed, epoch, fresh, game, isAgainstProgram, names, offers, rulesOf, seed,
  trouble, turnOf, view, walk, wins,
} from "./page.js";
import {
  $, button, element, inMoves, isMistake, isWin, listMoves, pieces, positionOf, rowsOf, say, shown, winning,
} from "./record.js";

/** Draws one bar a position: up where player 0 wins, as high as moves or pieces are left. */
function drawGraph(svg, game, values, names, act) {
  const [width, axis, top] = [358, 46, 38];
  const far = values.every((found) => !found || found.distance !== null);
  const length = (found, index) => (far ? found.distance : count(game.positions[index]));
  const most = Math.max(1, ...values.map((found, index) => (found ? length(found, index) : 0)));
  const step = Math.min(width / values.length, 34);
  svg.setAttribute("viewBox", `0 0 ${width} 96`);
  svg.replaceChildren();
  const hatch = made("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" }, made("defs", {}, svg));
  made("path", { d: "M-1 1 1 -1M-1 6 6 -1M4 6 6 4", class: "hatch" }, hatch);
  values.forEach((found, index) => {
    const x = index * step;
    const winner = found && (isWin(found) ? game.playerAt(index) : 1 - game.playerAt(index));
    const wins = names[winner] === "You" ? "you win" : `${names[winner]} wins`;
    const value = found ? `${wins}${far ? ` in ${found.distance}` : ""}` : "not known";
    const link = made("a", { href: act.address(index), "aria-label": `After ${index} moves: ${value}` }, svg);
    if (index === game.at) link.setAttribute("aria-current", "step");
    made("rect", { x, y: 0, width: step, height: 82, class: index === game.at ? "now" : "hit" }, link);
    if (found) {
      const height = Math.max(1.5, (top * length(found, index)) / most);
      const place = { x: x + 0.15 * step, width: 0.7 * step, y: winner ? axis : axis - height, height };
      made("rect", { ...place, class: winner ? "down" : "up" }, link);
      const y = winner ? axis - 5 : axis + 15;
      if (index && isMistake(values, index - 1)) {
        made("text", { x: x + step / 2, y, class: "mistake" }, link).textContent = "?";
      }
    } else {
      made("circle", { cx: x + step / 2, cy: axis, r: 2.5 }, link);
    }
    link.addEventListener("click", (event) => {
      event.preventDefault();
      act.go(index);
    });
    const every = Math.ceil(12 / step);
    if (index % 2 && Game.number(index) % every === 0) {
      made("text", { x: Math.min(x + step, width - 6), y: 94 }, svg).textContent = Game.number(index);
    }
  });
  made("line", { x1: 0, x2: width, y1: axis, y2: axis }, svg);
  return far ? "moves to the end" : "pieces left";
}

/** What decided a game that is over: two sentences, and the last mistake of the person. */
function tale(game, values, names, winner) {
  if (values.some((found) => !found)) return { text: "Not every position of this game is known here.", slips: "" };
  const mistakes = [...game.moves.keys()].filter((index) => isMistake(values, index));
  const [loser, was] = [1 - winner, (player) => (names[player] === "You" ? "You were" : `${names[player]} was`)];
  const own = mistakes.filter((index) => game.playerAt(index) === loser);
  const last = own.at(-1);
  const number = (index) => `move ${Game.number(index)}`;
  if (last === undefined) return { text: `${was(winner)} winning from the first move to the last: `, end: "no mistake", slips: "" };
  const kept = winning(values[last]).slice(0, 3).map((move) => shown(game, move.cells));
  const given = `: ${shown(game, game.moves[last])} gave the win away, ${kept.join(" or ")} kept it.`;
  const earlier = mistakes.filter((index) => index < last);
  const lines = [...new Set(earlier.map((index) => `${names[game.playerAt(index)]} at ${number(index)}`))];
  const slips = lines.length ? `Earlier slips: ${lines.join(", ")}.` : "";
  return { text: `${was(loser)} winning until `, end: number(last), rest: given, slips, last: loser === 0 ? last : null };
}

const signOf = (kind) => element("span", { className: `sign ${kind}`, textContent: kind === "win" ? "✓" : "✕", ariaHidden: "true" });

/** Says who wins, where that is wanted, and marks what the analysis shows. */
export async function values(asked, state, waits = false) {
  const isAnalysis = state === "analyse";
  $("value").textContent = $("best").textContent = "";
  $("solve").hidden = true;
  $("b-value").hidden = isAnalysis && !waits;
  $("wins").replaceChildren();
  if (isAnalysis) say("", "…", "");
  if (isAnalysis) graph(asked);
  if (!isAnalysis && $("help").value !== "values") return;
  try {
    const found = await positionOf(game, game.position, waits);
    if (asked !== epoch) return;
    const isWon = found.value === "win";
    const text = `${wins(isWon ? game.player : 1 - game.player)}${inMoves(found.distance)}`;
    const good = (isWon ? game.player : 1 - game.player) === 0 ? "win" : "loss";
    if (!isAnalysis) return $("value").replaceChildren(signOf(good), text);
    $("b-value").hidden = true;
    const best = winning(found);
    const nimber = found.nimber === null ? "" : ` Nimber ${found.nimber}.`;
    const more = found.moves_not_kept ? ` ${found.moves_not_kept} more are not known.` : "";
    const of = game.winner() !== null ? "The game is over." : `${turnOf(game.player)} at move ${Game.number(game.at)}. `
      + `${best.length || "None"} of ${found.moves.length} moves ${best.length === 1 ? "wins" : best.length ? "win" : "wins"}.`;
    say(good === "win" ? "✓" : "✕", text, of + nimber + more);
    chips(found, best);
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
  if (game.winner() !== null) return;
  const longest = Math.max(...found.moves.map((move) => move.distance ?? 0));
  const moves = best.length ? best : found.moves.filter((move) => (move.distance ?? 0) === longest);
  const marks = best.map((move, index) => [index ? "win" : "quick", move.cells]).reverse();
  $("best").textContent = best.length ? "Winning moves" : "Every move loses; these last longest";
  // The full board may have many: rings around all would hide it.
  const all = () => view.mark([...game.marks, ...marks.slice(-12)]);
  all();
  const groups = game.classes(moves);
  const show = (most) => $("wins").replaceChildren(...groups.slice(0, most).map((alike, index) => {
    const [move] = alike;
    const many = alike.length > 1 ? ` ×${alike.length}` : "";
    const far = move.distance === null ? "" : ` in ${move.distance + 1}`;
    const kind = best.length ? (index ? "" : "quick") : "loss";
    const found = button(`${shown(game, move.cells)}${far}${many}`, () => attempt(move.cells), { className: kind });
    const own = [best.length ? "quick" : "wrong", move.cells];
    const alone = async () => {
      view.mark([own]);
      const after = await positionOf(game, game.after(move.cells), false).catch(() => null);
      if (found.matches(":hover, :focus") && after?.moves.length) view.mark([own, ["answer", after.moves[0].cells]]);
    };
    for (const event of ["focus", "pointerenter"]) found.addEventListener(event, alone);
    for (const event of ["blur", "pointerleave"]) found.addEventListener(event, all);
    return found;
  }), ...(groups.length > most ? [button(`${groups.length - most} more`, () => show(Infinity))] : []));
  show(8);
}

/** Asks for all positions of the game, draws who was winning and marks mistakes; null if it is too late. */
async function graph(asked) {
  const found = await askAll(game.about, game.positions).catch((error) => error);
  if (asked !== epoch) return null;
  if (found instanceof Error) {
    trouble(found, () => changed());
    return null;
  }
  listMoves($("moves"), game, names(), found, walk);
  $("height").textContent = `Who was winning, and ${drawGraph($("graph"), game, found, names(), walk)}`;
  const key = (kind, text) => element("span", {}, element("i", { className: kind }), text);
  $("legend").replaceChildren(key("up", wins(0)), key("down", wins(1)), element("span", {}, element("b", { className: "mistake", textContent: "? " }), "Mistake"));
  if (game.at && isMistake(found, game.at - 1)) {
    const kept = shown(game, winning(found[game.at - 1])[0].cells);
    $("note").textContent = `? ${names()[game.playerAt(game.at - 1)]} gave the win away with ${shown(game, game.last)}; ${kept} kept it.`;
  }
  return found;
}

/** A game that is over: who won and why, what comes next, and the game as a picture. */
export async function end(asked, hadFocus) {
  const winner = game.winner();
  const [who, name] = [names()[1 - game.player], shown(game, game.last ?? [])];
  const isMisere = game.offer.rule === "misere";
  const took = !isMisere || who === "You" || !isAgainstProgram() ? "took" : "had to take";
  say(winner === 0 || !isAgainstProgram() ? "✓" : "✕", wins(winner),
    game.last ? `${who} ${took} the last ${game.last.length === 1 ? "piece" : "pieces"}, ${name}, at move ${Game.number(game.at - 1)}.` : "No piece is left.");
  const step = winner === 0 && isAgainstProgram() ? nextStep() : null;
  $("next").textContent = step?.text ?? "Play again";
  $("next").onclick = () => { step?.choose(); fresh(); };
  $("story").textContent = $("slips").textContent = "";
  $("retry").textContent = "Play again";
  $("retry").hidden = !step;
  $("retry").onclick = fresh;
  if (hadFocus) $("next").focus();
  const paint = (found) => view.paint(game.moves.map((move, index) => ({
    move, mine: game.playerAt(index) === 0, text: `${Game.number(index)}${isMistake(found, index) ? "?" : ""}`,
  })));
  view.mark([]);
  paint([]);
  const found = await graph(asked);
  if (!found) return;
  paint(found);
  const story = tale(game, found, names(), winner);
  $("story").replaceChildren(story.text, element("b", { textContent: story.end ?? "" }), story.rest ?? (story.end ? "." : ""));
  $("slips").textContent = story.slips;
  if (step || (story.last ?? null) === null) return;
  $("retry").hidden = false;
  $("retry").textContent = `Retry move ${Game.number(story.last)}`;
  $("retry").onclick = () => { game.go(story.last); changed(); };
}

/** After a win: a larger board, then a stronger opponent. */
function nextStep() {
  const board = `triangle:${Number(game.offer.board.split(":")[1]) + 1}`;
  if (game.offer.board.startsWith("triangle:") && offers.some((one) => one.board === board)) {
    return { text: `Next: ${rowsOf(board)}`, choose: () => { $("boards").value = board; rulesOf(); } };
  }
  const level = { beginner: "club", club: "perfect" }[$("opponent").value];
  return level ? { text: `Next: ${LEVELS[level].toLowerCase()} opponent`, choose: () => { $("opponent").value = level; } } : null;
}

/** Marks a move to play. */
export async function hint() {
  const asked = epoch;
  try {
    const found = await positionOf(game, game.position);
    const best = winning(found)[0];
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
  if (asked !== epoch || found?.value !== "win" || after.value !== "win") return false;
  const answer = winning(after)[0];
  view.choose(null);
  view.mark([["wrong", move], ...(answer ? [["answer", answer.cells]] : [])]);
  const why = answer ? `${shown(game, answer.cells)} answers` : "no piece is left to take";
  $("news").textContent = `${shown(game, move)} gives the win away: ${why}. The same move again plays it.`;
  return true;
}
