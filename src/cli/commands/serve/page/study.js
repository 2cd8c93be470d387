// What a student of the game asks for: first steps, the puzzle of the day, a streak of them, the game as text and
// as a picture.

import { ask } from "/api.js";
import { Game, isPosition } from "/game.js";

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

/** Reads a game from text; throws an error that names the line. */
export function readGame(text, offers) {
  const lines = text.split("\n").map((line) => line.trim());
  if (lines.find(Boolean) !== "# trinim game") throw new Error("line 1: expected “# trinim game”");
  const head = {};
  let game = null;
  lines.forEach((line, index) => {
    const [word, rest = ""] = line.split(/\s+(.*)/);
    const wrong = (reason) => new Error(`line ${index + 1}: ${reason}`);
    if (line === "" || line.startsWith("#")) return;
    if (!game && ["board", "rule", "start"].includes(word)) {
      head[word] = rest;
    } else if (!game && word === "first") {
      const offer = offers.find((one) => one.board === head.board && one.rule === head.rule);
      if (!offer) throw wrong(`board ${head.board}, rule ${head.rule}: not offered here`);
      if (!isPosition(head.start, offer)) throw wrong(`${head.start} is no position of ${head.board}`);
      game = new Game(offer, head.start, rest === "person" ? 0 : 1);
    } else if (game && word === "take") {
      try { game.play(game.read(rest)); } catch (error) { throw wrong(error.message); }
    } else if (game && word === "set" && isPosition(rest, game.offer)) {
      game.set(rest);
      game.stand.player = 0;
    } else if (game && word === "swap") {
      game.swap();
    } else {
      throw wrong(`${line} is not understood`);
    }
  });
  if (!game) throw new Error("the game ends before it began");
  return game;
}

/** The rules in three steps: what each says, and the cells that it shows. */
export function steps(game) {
  const [takes, wins] = game.offer.rules.split(/(?<=\.) /);
  const line = game.moves().filter((move) => move.length <= 3).sort((one, other) => other.length - one.length)[0];
  const isMove = (cells) => game.offer.moves.some((move) => cells.every((cell) => move.includes(cell)));
  const pairs = game.moves().filter((move) => move.length === 2);
  const bent = pairs.flatMap(([one, other]) => pairs.filter((pair) => pair[0] === other).map((pair) => [one, ...pair]));
  const corner = bent.find((cells) => !isMove(cells));
  return [
    { text: `${takes} ${game.name(line)} is such a move.`, cells: line },
    { text: "Not over a gap, and not around a corner: these do not go together.", cells: corner ?? [] },
    { text: `${wins} Take your first pieces when you like.`, cells: [] },
  ];
}

/** The board as a picture of its own, in the colours of the day. */
export function svgOf(game) {
  const { cells } = game.offer;
  const [width, height] = ["x", "y"].map((axis) => Math.max(...cells.map((cell) => cell[axis])) + 1.2);
  const circles = cells.map((cell, index) => {
    const [fill, stroke] = game.has(index) ? ["#33475b", "#22303e"] : ["#e4e6ea", "#c9ced6"];
    return `<circle cx="${cell.x}" cy="${cell.y}" r="0.41" fill="${fill}" stroke="${stroke}" stroke-width="0.03"/>`;
  });
  const box = [-0.6, -0.6, width, height].map((length) => length.toFixed(3)).join(" ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" width="${Math.round(width * 60)}" `
    + `height="${Math.round(height * 60)}"><title>${game.offer.board}, ${game.offer.rule}: ${game.position}</title>`
    + `${circles.join("")}</svg>\n`;
}

/** The same as PNG. Drawn here: the page's policy shows no picture that is not a file of the server. */
export function pngOf(game) {
  const canvas = document.createElement("canvas");
  const svg = new DOMParser().parseFromString(svgOf(game), "image/svg+xml").documentElement;
  [canvas.width, canvas.height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const pen = canvas.getContext("2d");
  pen.scale(60, 60);
  pen.translate(0.6, 0.6);
  for (const circle of svg.querySelectorAll("circle")) {
    const of = (name) => circle.getAttribute(name);
    pen.beginPath();
    pen.arc(of("cx"), of("cy"), of("r"), 0, 2 * Math.PI);
    [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [of("fill"), of("stroke"), of("stroke-width")];
    pen.fill();
    pen.stroke();
  }
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}
