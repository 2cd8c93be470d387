// Puzzles: positions with one winning move. A day is a seed; the browser stores what was tried.

import { $, button, element, key } from "./board.js";
import { Game, aboutOf, pieces, plural, ruleOf, short, shown } from "./game.js";
import { answerTo, positionOf, winning } from "./story.js";
import { addressOf, ask, change, epoch, game, load, offerOf, offers, place, remark, say, store, stored, trouble, view, visit } from "./table.js";

/** How far back the next open day may be, in days. */
const BACK = 60;
/** What is known of a puzzle that was never opened. */
const NEW = { tries: 0, hint: false, shown: false, solved: false };
/** A day as a number, like 20261125, and its noon: a day of daylight saving has another length. */
const dayOf = (date) => date.getFullYear() * 10000 + (date.getMonth() + 1) * 100 + date.getDate();
const dateOf = (day, later = 0) => new Date(Math.floor(day / 10000), (Math.floor(day / 100) % 100) - 1, (day % 100) + later, 12);
const today = () => dayOf(new Date());
const before = (one) => dayOf(dateOf(one, -1));
const written = (day, parts) => dateOf(day).toLocaleDateString("en-GB", parts);
const nameOf = (day) => written(day, { day: "numeric", month: "long" });
/** The puzzle, as a day and the number of an extra one, and what is known of it. */
let offer, day, extra, record;
/** Whether its solution is on the board; the month that the calendar shows, as its first day. */
let isShown, isSolved, month;
/** The board of the puzzle of a day, the same one for everybody. Puzzles of other boards are extra. */
const daily = () => offerOf("triangle:4", "misere") ?? offers[0];
const isDaily = () => !extra && offer === daily();
const id = () => (isDaily() ? day : [day, ...Object.values(aboutOf(offer)), extra].join("/"));
const days = () => stored("localStorage", "days");
/** Days were words before tries were counted. */
const recordOf = (found) => ({ ...NEW, ...(typeof found === "string" ? { solved: found === "solved" } : found) });
const stateOf = (known, one) => (!known[one] ? "open" : recordOf(known[one]).solved ? "solved" : "tried");

/** Notes what happened to the puzzle, until it is solved. */
function note(news) {
  if (record.solved || recordOf(days()[id()]).solved) return;
  record = { ...record, ...news };
  store("localStorage", "days", { ...days(), [id()]: record });
}

/** On how many days in a row up to one a puzzle was solved. */
function streak(known, one) { let length = 0; for (; stateOf(known, one) === "solved"; one = before(one)) length += 1; return length; }
/** The streak that today can go on with. */
const streakNow = (known) => streak(known, today()) || streak(known, before(today()));
/** What the address says of the puzzle. */
export const parameters = () => ({ ...game.about, day, ...(extra ? { extra } : {}) });

/** Sets the puzzle of a day, or an extra one of it. */
export async function open(chosen, given) {
  const [asked, number] = [Number(given.get("day")), Number(given.get("extra"))];
  const isDay = asked > 20000000 && dayOf(dateOf(asked)) === asked;
  offer = given.has("board") || given.has("rule") ? chosen : daily();
  day = isDay && asked <= today() ? asked : today();
  extra = Number.isInteger(number) && number > 0 && number < 1000 ? number : 0;
  if (isDay && asked > day) remark(`The puzzle of ${nameOf(asked)} is still to come; this is today’s.`);
  else if (given.has("day") && !isDay) remark(`Wrong in the address: day ${short(given.get("day"))}; this is today’s.`);
  record = recordOf(days()[id()]);
  isShown = isSolved = false;
  month = day - (day % 100) + 1;
  // On large boards most positions have more pieces than one can think through.
  const few = offer.cells.length > 15 ? { pieces: 10 } : {};
  const waits = epoch;
  const found = await ask("v1/random", { ...aboutOf(offer), ...few, wins: 1, seed: extra ? day * 1000 + extra : day });
  if (waits !== epoch) return;
  place(new Game(offer, { start: found.position }));
  change({ begins: true, keeps: true });
  show();
}

/** Shows a sentence, marks on the board, and what can be done. */
function show(text = "", marks = [], isWrong = false) {
  if (!isSolved) headline();
  $("corner").textContent = isSolved ? "Green ring: the move that wins." : "Dashes: your try. Ring: the answer that beats it.";
  const hadFocus = $("b-tries").contains(document.activeElement);
  view.locked = isSolved || isShown;
  view.update(game);
  view.mark(marks);
  const sign = element("span", { className: "sign loss", textContent: "✕", hidden: !isWrong, ariaHidden: "true" });
  $("b-tries").replaceChildren(element("p", { className: "wide", role: "status", hidden: !text }, sign, text), ...(view.locked
    ? [button("Next puzzle", next, { className: "main" }), button("Share", share, {}, "share"), button("Play on", () => visit(addressOf("play", game.parameters())), {}, "play")]
    : [button("Hint", hint, {}, "hint"), button("Solution", solution), button("Skip", next, {}, "forward")]));
  if (hadFocus) $("b-tries").querySelector("button").focus();
  calendar();
}

const triesOf = (number) => (number === 1 ? "1 try" : `${number} tries`);
const go = (to) => visit(addressOf("puzzles", to));

function headline() {
  const name = isDaily() ? nameOf(day) : `Extra puzzle ${extra || ""}`.trim();
  const past = [record.solved ? " Solved before." : "", !record.solved && record.tries ? ` ${triesOf(record.tries)} so far.` : "", record.hint ? " A hint was given." : ""];
  say("●", "One move wins. Find it.", `${name}. ${plural(game.legal().length, "move")}, ${ruleOf(game.offer)}.${past.join("")}`);
}

/** Does something with the move that wins, unless the board is locked. */
async function withWinner(act) {
  const asked = epoch;
  if (view.locked) return;
  try {
    const [{ cells }] = winning(await positionOf(game, game.position));
    if (asked === epoch && !isSolved) act(cells);
  } catch (error) {
    if (asked === epoch) trouble(error, () => withWinner(act));
  }
}

/** Tries a move on an unlocked board: the one that wins solves the puzzle, another is answered. */
export async function attempt(move) {
  if (view.locked) return;
  remark("");
  const asked = epoch;
  try {
    const after = await positionOf(game, game.after(move));
    if (asked !== epoch || isSolved) return;
    const isAgain = record.solved;
    isSolved = after.value === "loss";
    note({ tries: record.tries + 1, solved: isSolved && !record.shown });
    if (!isSolved) {
      const { marks, why } = answerTo(game, after);
      return show(`${shown(game, move)} loses: ${why}. Try again.`, [["wrong", move], ...marks], true);
    }
    const far = after.distance ? `, and the game ends in ${plural(after.distance + 1, "move")}` : "";
    const how = record.tries > 1 ? ` in ${triesOf(record.tries)}` : record.tries && !record.hint ? " at once" : "";
    const help = record.shown ? ", but the solution was shown" : record.hint ? " with a hint" : "";
    say("✓", isAgain ? "Solved again" : `Solved${how}${help}`, `${shown(game, move)} wins: no answer to it does${far}.`);
    show("", [["quick", move]]);
    $("b-tries").querySelector(".main").focus();
  } catch (error) {
    if (asked === epoch) trouble(error, () => attempt(move));
  }
}

const hint = () => withWinner((move) => {
  note({ hint: true });
  if (move.length === 1) return show("It takes one piece.");
  show(`It takes ${game.offer.cells[move[0]].name}, one of ${pieces(move.length)}.`, [["win", [move[0]]]]);
});

const solution = () => withWinner((move) => {
  isShown = true;
  note({ shown: true });
  show(`${shown(game, move)} wins. A puzzle that was shown does not count.`, [["quick", move]]);
});

/** The next day that is open, then extra puzzles; on other boards these. */
function next() {
  if (!isSolved && isDaily()) note({});
  const known = days();
  const back = Array.from({ length: BACK }, (_, at) => dayOf(dateOf(today(), -at)));
  const open = offer === daily() && back.find((one) => !known[one]);
  go(open ? { day: open } : { ...game.about, day: today(), extra: extra + 1 });
}

async function share() {
  const how = record.shown ? "solution seen" : record.tries === 1 ? "first try" : triesOf(record.tries);
  const line = [`trinim ${isDaily() ? nameOf(day) : "extra puzzle"}`, how, ...(record.hint ? ["a hint"] : []), ...(isDaily() ? [plural(streakNow(days()), "day")] : [])];
  (await load("./share.js", share))?.share(game, "One move wins", line.join(", "));
}

/** Streak and calendar; each past day leads to its puzzle. */
function calendar() {
  const [known, now, current] = [days(), today(), streakNow(days())];
  const solved = Object.keys(known).map(Number).filter((one) => stateOf(known, one) === "solved");
  const isIn = (one, other) => Math.floor(one / 100) === Math.floor(other / 100);
  const turn = (id, label, sign, to) => {
    const act = () => { month = to - (to % 100) + 1; calendar(); $(id).focus(); };
    return button("", act, { id, className: "plain", ariaLabel: label, disabled: to > now }, sign);
  };
  const all = Array.from({ length: 31 }, (_, later) => dayOf(dateOf(month, later))).filter((one) => isIn(one, month)).map((one) => {
    const state = stateOf(known, one);
    const ariaLabel = `${nameOf(one)}, ${one > now ? "to come" : state}`;
    const found = button(one % 100, () => go({ day: one }), { className: state, ariaLabel, disabled: one > now });
    if (one === day && isDaily()) found.setAttribute("aria-current", "date");
    return found;
  });
  const heads = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map((textContent) => element("span", { textContent }));
  const gap = Array.from({ length: (dateOf(month).getDay() + 6) % 7 }, () => element("span"));
  const best = Math.max(0, ...solved.filter((one) => stateOf(known, dayOf(dateOf(one, 1))) !== "solved").map((one) => streak(known, one)));
  const hadFocus = $("b-days").contains(document.activeElement);
  $("b-days").replaceChildren(
    element("p", { className: "row" }, element("span", {}, element("b", { textContent: current }), ` ${current === 1 ? "day" : "days"} in a row`),
      element("small", { textContent: `Best ${best} · ${solved.filter((one) => isIn(one, now)).length} this month` })),
    element("p", { className: "row" }, element("h2", { textContent: written(month, { month: "long", year: "numeric" }) }),
      element("span", {}, turn("month-before", "Month before", "back", before(month)), turn("month-after", "Month after", "forward", dayOf(dateOf(month, 31))))),
    element("div", { className: "calendar" }, ...heads, ...gap, ...all),
    element("p", { className: "legend" }, key("solved", "Solved"), key("tried", "Tried"), key("today", "This one")),
  );
  if (hadFocus) $("b-days").querySelector("[aria-current]")?.focus();
}
