// What a student of the game asks for: the puzzle of the day, a streak of them, and the game as text.

import { ask } from "/api.js";

const STREAK = "trinim.streak";

/** A day as a number, like 20261125. */
export function dayOf(date = new Date()) {
  return date.getFullYear() * 10000 + (date.getMonth() + 1) * 100 + date.getDate();
}

/** The position of a day's puzzle: exactly one move wins there, and everybody has the same. */
export async function puzzleOf({ board, rule, cells }, day) {
  // On large boards most positions have more pieces than one can think through.
  const pieces = cells.length > 15 ? { pieces: 10 } : {};
  return (await ask("/v1/random", { board, rule, ...pieces, wins: 1, seed: day })).position;
}

/** Counts a solved puzzle; returns on how many days in a row one was solved. */
export function solvedOn(date = new Date()) {
  const yesterday = new Date(date.getFullYear(), date.getMonth(), date.getDate() - 1);
  let last = {};
  // A browser may keep nothing, or something else.
  try { last = JSON.parse(localStorage.getItem(STREAK)) ?? {}; } catch { /* then a streak begins */ }
  const days = last.day === dayOf(date) ? last.days : last.day === dayOf(yesterday) ? last.days + 1 : 1;
  try { localStorage.setItem(STREAK, JSON.stringify({ day: dayOf(date), days })); } catch { /* as above */ }
  return days;
}

/** The game as text, which `trinim play` reads. */
export function transcript(game) {
  const [first, ...rest] = game.stands.slice(0, game.at + 1);
  const { board, rule } = game.offer;
  const turns = rest.flatMap((stand) => {
    if (stand.move) return [`take ${game.name(stand.move)}`];
    // After a position is set up, the person moves.
    if (stand.isSet) return [`set ${stand.position}`, ...(stand.player === 1 ? ["swap"] : [])];
    return ["swap"];
  });
  const head = ["# trinim game", `board ${board}`, `rule ${rule}`, `start ${first.position}`];
  return [...head, `first ${first.player === 0 ? "person" : "program"}`, ...turns, ""].join("\n");
}
