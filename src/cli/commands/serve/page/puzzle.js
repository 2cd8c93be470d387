// Puzzles: positions with one winning move. A day is a seed, so the server stores nothing.

import { ask } from "./api.js";
import { Game } from "./game.js";
import { $, button, element, pieces, positionOf, ruleOf, say, shown, winning } from "./record.js";
import { begin, game, goTo, store, stored, trouble, view } from "./page.js";

const DAY = 86_400_000;
/** How far back the next open day may be, in days. */
const BACK = 60;

/** A day as a number, like 20261125. */
const dayOf = (date) => date.getFullYear() * 10000 + (date.getMonth() + 1) * 100 + date.getDate();
const dateOf = (day) => new Date(Math.floor(day / 10000), (Math.floor(day / 100) % 100) - 1, day % 100, 12);
const dateName = (date) => date.toLocaleDateString("en-GB", { day: "numeric", month: "long" });
const before = (date) => new Date(date.getTime() - DAY);

let offer, day, extra, tries, isShown, isSolved, month;

/** What is known of days: solved, or tried. */
const days = () => stored("localStorage", "days") ?? {};
const isDone = (date) => days()[dayOf(date)] === "solved";

/** On how many days in a row up to a date a puzzle was solved. */
function streak(date) {
  let length = 0;
  for (let at = date; isDone(at); at = before(at)) length += 1;
  return length;
}

/** The streak that today can go on with, the longest one, and how many days of this month. */
function counts() {
  const today = dateOf(dayOf(new Date()));
  const solved = Object.keys(days()).filter((one) => days()[one] === "solved");
  return {
    now: streak(today) || streak(before(today)),
    best: Math.max(0, ...solved.map((one) => streak(dateOf(Number(one))))),
    month: solved.filter((one) => Math.floor(one / 100) === Math.floor(dayOf(today) / 100)).length,
  };
}

function note(result) {
  if (extra || days()[day] === "solved") return;
  store("localStorage", "days", { ...days(), [day]: result });
}

/** What the address says of the puzzle. */
export const parameters = () => ({ ...game.about, day, ...(extra ? { extra } : {}) });

/** Sets the puzzle of a day, or an extra one of it. */
export async function open(chosen, given) {
  const today = dayOf(new Date());
  const asked = Number(given.get("day"));
  [offer, day] = [chosen, asked > 20000000 && asked <= today ? asked : today];
  extra = Number(given.get("extra")) || 0;
  [tries, isShown, isSolved, month] = [0, false, false, dateOf(day)];
  // On large boards most positions have more pieces than one can think through.
  const few = offer.cells.length > 15 ? { pieces: 10 } : {};
  const { board, rule } = offer;
  const found = await ask("v1/random", { board, rule, ...few, wins: 1, seed: extra ? day * 1000 + extra : day });
  begin(new Game(offer, { start: found.position }), false);
  tell();
}

/** Shows what is known: a sentence, and the buttons that go with it. */
function tell(text = "", kind = "", marks = []) {
  const name = extra ? `Extra puzzle ${extra}` : dateName(dateOf(day));
  if (!isSolved) say("●", "One move wins. Find it.", `${name}. ${game.legal().length} moves, ${ruleOf(offer)}.`);
  $("corner").textContent = isSolved ? "Green ring: the move that wins." : "Dashes: your try. Ring: the answer that beats it.";
  view.choose(null);
  view.mark(marks);
  view.locked = isSolved || isShown;
  const sign = element("span", { className: `sign ${kind}`, textContent: kind === "loss" ? "✕" : "✓", hidden: !kind, ariaHidden: "true" });
  const line = element("p", { className: "wide", role: "status", hidden: !text }, sign, text);
  const isOver = isSolved || isShown;
  $("b-tries").className = isOver ? "bar" : "bar thirds";
  $("b-tries").replaceChildren(line, ...(isOver
    ? [button("Next puzzle", next, { className: "main" }), button("Share", share), button("Play on", () => goTo("play"))]
    : [button("Hint", hint), button("Solution", solution), button("Skip", next)]));
  calendar();
}

const winner = async () => winning(await positionOf(game, game.position))[0].cells;

/** Tries a move: the one that wins solves the puzzle, another one is answered. */
export async function attempt(move) {
  if (isSolved || isShown) return;
  const start = game.position;
  try {
    const after = await positionOf(game, game.after(move));
    if (start !== game.position) return;
    tries += 1;
    if (after.value === "loss") {
      isSolved = true;
      note("solved");
      const how = tries === 1 ? "Solved at once" : `Solved in ${tries} tries`;
      say("✓", how, `${shown(game, move)} wins: no answer to it does${after.distance ? `, and the game ends in ${after.distance + 1} moves` : ""}.`);
      tell("", "", [["quick", move]]);
      $("b-tries").querySelector(".main").focus();
    } else {
      note("tried");
      const answer = winning(after)[0];
      const why = answer ? `${shown(game, answer.cells)} answers` : "no piece is left";
      tell(`${shown(game, move)} loses: ${why}. Try again.`, "loss", [["wrong", move], ...(answer ? [["answer", answer.cells]] : [])]);
    }
  } catch (error) {
    trouble(error, () => { trouble(null); attempt(move); });
  }
}

async function hint() {
  const move = await winner();
  tell(`It takes ${game.offer.cells[move[0]].name}, one of ${pieces(move.length)}.`, "", [["win", [move[0]]]]);
}

async function solution() {
  const move = await winner();
  isShown = true;
  note("tried");
  tell(`${shown(game, move)} wins. A puzzle that was shown does not count.`, "", [["quick", move]]);
}

/** The next day that is open, then extra puzzles. */
function next() {
  if (!isSolved) note("tried");
  let date = dateOf(dayOf(new Date()));
  for (let back = 0; back < BACK && days()[dayOf(date)]; back += 1) date = before(date);
  const isOpen = !days()[dayOf(date)];
  go(isOpen ? { day: dayOf(date) } : { day: dayOf(new Date()), extra: extra + 1 });
}

const go = (to) => { location.hash = `puzzles&${new URLSearchParams({ ...game.about, ...to })}`; };

async function share() {
  const how = isShown ? "solution seen" : tries === 1 ? "first try" : `${tries} tries`;
  const line = `trinim ${dateName(dateOf(day))}, ${how}, ${counts().now} days`;
  (await import("./share.js")).share($("share-dialog"), game, "One move wins", line);
}

/** Streak and calendar; each past day leads to its puzzle. */
function calendar() {
  const { now, best, month: solved } = counts();
  const today = dayOf(new Date());
  const first = new Date(month.getFullYear(), month.getMonth(), 1, 12);
  const turn = (label, text, by) => {
    const to = new Date(first.getFullYear(), first.getMonth() + by, 1, 12);
    const act = () => { month = to; calendar(); $("b-days").querySelector(`[aria-label="${label}"]`).focus(); };
    return button(text, act, { className: "plain", ariaLabel: label, disabled: dayOf(to) > today });
  };
  const grid = element("div", { className: "calendar" }, ...["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map((name) => element("span", { textContent: name })),
    ...Array.from({ length: (first.getDay() + 6) % 7 }, () => element("span")));
  for (let date = first; date.getMonth() === first.getMonth(); date = new Date(date.getTime() + DAY)) {
    const number = dayOf(date);
    const state = days()[number] ?? "open";
    const ariaLabel = `${dateName(date)}, ${state}`;
    const cell = button(date.getDate(), () => go({ day: number }), { className: state, ariaLabel, disabled: number > today });
    if (number === day && !extra) cell.setAttribute("aria-current", "date");
    grid.append(cell);
  }
  $("b-days").replaceChildren(
    element("p", { className: "row" }, element("span", {}, element("b", { textContent: now }), ` ${now === 1 ? "day" : "days"} in a row`),
      element("small", { textContent: `Best ${best} · ${solved} this month` })),
    element("p", { className: "row" }, element("h2", { textContent: first.toLocaleDateString("en-GB", { month: "long", year: "numeric" }) }),
      element("span", {}, turn("Month before", "‹", -1), turn("Month after", "›", 1))), grid,
    element("p", { className: "legend" }, "Underlined: solved. Dot: tried."),
  );
}
