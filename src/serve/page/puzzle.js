// Puzzles: positions with one winning move. A day is a seed, so the server stores nothing.

import { $, answerTo, ask, button, element, key, pieces, positionOf, ruleOf, say, shown, winning } from "./answers.js";
import { Game } from "./game.js";
import { begin, game, goTo, store, stored, trouble, view } from "./page.js";

/** How far back the next open day may be, in days. */
const BACK = 60;

/** A day as a number, like 20261125, and its noon: a day of daylight saving has another length. */
const dayOf = (date) => date.getFullYear() * 10000 + (date.getMonth() + 1) * 100 + date.getDate();
const dateOf = (day, later = 0) => new Date(Math.floor(day / 10000), (Math.floor(day / 100) % 100) - 1, (day % 100) + later, 12);
const before = (one) => dayOf(dateOf(one, -1));
const written = (day, parts) => dateOf(day).toLocaleDateString("en-GB", parts);
const nameOf = (day) => written(day, { day: "numeric", month: "long" });

/** The puzzle, as a day and the number of an extra one; the month that the calendar shows, as its first day. */
let offer, day, extra, tries, isShown, isSolved, month;

/** What is known of days: solved, or tried. */
const days = () => stored("localStorage", "days") ?? {};

function note(result) {
  if (!extra && days()[day] !== "solved") store("localStorage", "days", { ...days(), [day]: result });
}

/** On how many days in a row up to one a puzzle was solved. */
function streak(one) {
  let length = 0;
  for (const known = days(); known[one] === "solved"; one = before(one)) length += 1;
  return length;
}

/** The streak that today can go on with. */
const streakNow = () => streak(dayOf(new Date())) || streak(before(dayOf(new Date())));

/** What the address says of the puzzle. */
export const parameters = () => ({ ...game.about, day, ...(extra ? { extra } : {}) });

/** Sets the puzzle of a day, or an extra one of it. */
export async function open(chosen, given) {
  const [today, asked] = [dayOf(new Date()), Number(given.get("day"))];
  [offer, day] = [chosen, asked > 20000000 && asked <= today ? asked : today];
  extra = Number(given.get("extra")) || 0;
  [tries, isShown, isSolved, month] = [0, false, false, day - (day % 100) + 1];
  // On large boards most positions have more pieces than one can think through.
  const few = offer.cells.length > 15 ? { pieces: 10 } : {};
  const { board, rule } = offer;
  const found = await ask("v1/random", { board, rule, ...few, wins: 1, seed: extra ? day * 1000 + extra : day });
  begin(new Game(offer, { start: found.position }), false);
  tell();
}

/** Shows what is known: a sentence, and the buttons that go with it. */
function tell(text = "", marks = [], isWrong = false) {
  const isOver = isSolved || isShown;
  const name = extra ? `Extra puzzle ${extra}` : nameOf(day);
  if (!isSolved) say("●", "One move wins. Find it.", `${name}. ${game.legal().length} moves, ${ruleOf(offer)}.`);
  $("corner").textContent = isSolved ? "Green ring: the move that wins." : "Dashes: your try. Ring: the answer that beats it.";
  view.choose(null);
  view.mark(marks);
  view.locked = isOver;
  const sign = element("span", { className: "sign loss", textContent: "✕", hidden: !isWrong, ariaHidden: "true" });
  $("b-tries").replaceChildren(element("p", { className: "wide", role: "status", hidden: !text }, sign, text), ...(isOver
    ? [button("Next puzzle", next, { className: "main" }), button("Share", share, {}, "share"), button("Play on", () => goTo("play"), {}, "play")]
    : [button("Hint", hint, {}, "hint"), button("Solution", solution), button("Skip", next, {}, "forward")]));
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
    isSolved = after.value === "loss";
    note(isSolved ? "solved" : "tried");
    if (!isSolved) {
      const { marks, why } = answerTo(game, after);
      return tell(`${shown(game, move)} loses: ${why}. Try again.`, [["wrong", move], ...marks], true);
    }
    const far = after.distance ? `, and the game ends in ${after.distance + 1} moves` : "";
    say("✓", tries === 1 ? "Solved at once" : `Solved in ${tries} tries`, `${shown(game, move)} wins: no answer to it does${far}.`);
    tell("", [["quick", move]]);
    $("b-tries").querySelector(".main").focus();
  } catch (error) {
    trouble(error, () => { trouble(null); attempt(move); });
  }
}

async function hint() {
  const move = await winner();
  tell(`It takes ${game.offer.cells[move[0]].name}, one of ${pieces(move.length)}.`, [["win", [move[0]]]]);
}

async function solution() {
  const move = await winner();
  isShown = true;
  note("tried");
  tell(`${shown(game, move)} wins. A puzzle that was shown does not count.`, [["quick", move]]);
}

/** The next day that is open, then extra puzzles. */
function next() {
  if (!isSolved) note("tried");
  const today = dayOf(new Date());
  const back = Array.from({ length: BACK }, (_, at) => dayOf(dateOf(today, -at)));
  const open = back.find((one) => !days()[one]);
  go(open ? { day: open } : { day: today, extra: extra + 1 });
}

const go = (to) => { location.hash = `puzzles&${new URLSearchParams({ ...game.about, ...to })}`; };

async function share() {
  const how = isShown ? "solution seen" : tries === 1 ? "first try" : `${tries} tries`;
  const line = `trinim ${nameOf(day)}, ${how}, ${streakNow()} days`;
  (await import("./share.js")).share($("share-dialog"), game, "One move wins", line);
}

/** Streak and calendar; each past day leads to its puzzle. */
function calendar() {
  const [known, today, now] = [days(), dayOf(new Date()), streakNow()];
  const solved = Object.keys(known).map(Number).filter((one) => known[one] === "solved");
  const inMonth = (one) => Math.floor(one / 100) === Math.floor(month / 100);
  const turn = (label, sign, to) => {
    const act = () => { month = to - (to % 100) + 1; calendar(); $("b-days").querySelector(`[aria-label="${label}"]`).focus(); };
    return button("", act, { className: "plain", ariaLabel: label, disabled: to > today }, sign);
  };
  const all = Array.from({ length: 31 }, (_, later) => dayOf(dateOf(month, later))).filter(inMonth).map((one) => {
    const state = known[one] ?? "open";
    const ariaLabel = `${nameOf(one)}, ${state}`;
    const found = button(one % 100, () => go({ day: one }), { className: state, ariaLabel, disabled: one > today });
    if (one === day && !extra) found.setAttribute("aria-current", "date");
    return found;
  });
  const heads = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map((textContent) => element("span", { textContent }));
  const gap = Array.from({ length: (dateOf(month).getDay() + 6) % 7 }, () => element("span"));
  const best = Math.max(0, ...solved.filter((one) => known[dayOf(dateOf(one, 1))] !== "solved").map(streak));
  const ofMonth = solved.filter((one) => Math.floor(one / 100) === Math.floor(today / 100)).length;
  $("b-days").replaceChildren(
    element("p", { className: "row" }, element("span", {}, element("b", { textContent: now }), ` ${now === 1 ? "day" : "days"} in a row`),
      element("small", { textContent: `Best ${best} · ${ofMonth} this month` })),
    element("p", { className: "row" }, element("h2", { textContent: written(month, { month: "long", year: "numeric" }) }),
      element("span", {}, turn("Month before", "back", before(month)), turn("Month after", "forward", dayOf(dateOf(month, 31))))),
    element("div", { className: "calendar" }, ...heads, ...gap, ...all),
    element("p", { className: "legend" }, key("solved", "Solved"), key("tried", "Tried"), key("today", "This one")),
  );
}
