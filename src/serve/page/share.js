// What leaves the page and comes back: the link, the game as text, and a picture.

import { $, button, element, extent, sketch } from "./board.js";
import { Game, isPosition, replay, rowsOf, ruleOf, short } from "./game.js";
import { here } from "./table.js";

const [WIDTH, HEIGHT] = [1200, 900];
const named = ({ board, identity }) => (identity ? `${board} ${identity}` : board);

/** The game as text, which `trinim play` reads. */
function textOf(game) {
  const { offer, start, first, moves } = game;
  const head = ["# trinim game", `board ${named(offer)}`, `rule ${offer.rule}`, `start ${start}`];
  const turns = moves.map((move) => `take ${game.name(move)}`);
  return [...head, `first ${first === 0 ? "person" : "program"}`, ...turns, ""].join("\n");
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
    if (!game && ["board", "rule", "start"].includes(word)) head[word] = rest;
    else if (!game && word === "first") {
      const offer = offers.find((one) => named(one) === head.board && one.rule === head.rule);
      if (!offer) throw wrong(`board ${head.board}, rule ${head.rule}: not offered here`);
      if (!isPosition(head.start, offer)) throw wrong(`${head.start} is not a position of ${head.board}`);
      game = new Game(offer, { start: head.start, first: rest === "person" ? 0 : 1 });
    } else if (game && word === "take") {
      const trouble = replay(game, [rest]);
      if (trouble) throw wrong(trouble);
    // A position that is set up, and sides that are exchanged, begin a game of their own.
    } else if (game && word === "set" && isPosition(rest, game.offer)) game = new Game(game.offer, { start: rest });
    else if (game && word === "swap") game = new Game(game.offer, { start: game.position, first: 1 - game.player });
    else throw wrong(`${short(line)} is not understood`);
  });
  if (!game) throw new Error("the game ends before it begins");
  return game;
}

/** The board as PNG. Drawn here: the page's policy shows no picture that is not a file of the server. */
function pictureOf(game, title, url) {
  const canvas = element("canvas", { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
  const { cells } = game.offer;
  const [right, bottom] = extent(game.offer);
  const scale = Math.min((WIDTH - 80) / (right + 1), (HEIGHT - 210) / (bottom + 1));
  pen.fillStyle = colour("ground");
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const write = (text, x, y, size, ink) => {
    [pen.font, pen.fillStyle] = [`${size}px system-ui, sans-serif`, colour(ink)];
    pen.fillText(text, x, y);
  };
  write(title, WIDTH / 2, 60, 40, "ink");
  write(`${rowsOf(game.offer.board)}, ${ruleOf(game.offer)}`, WIDTH / 2, 110, 28, "soft");
  write(short(url.replace(/^\w+:\/\//, ""), 90), WIDTH / 2, HEIGHT - 30, 20, "soft");
  const places = cells.map((cell) => [WIDTH / 2 + (cell.x - right / 2) * scale, 150 + (cell.y + 0.5) * scale]);
  const line = (one, other, width, ink) => {
    [pen.lineWidth, pen.strokeStyle, pen.lineCap] = [width * scale, colour(ink), "round"];
    pen.beginPath();
    pen.moveTo(...places[one]);
    pen.lineTo(...places[other]);
    pen.stroke();
  };
  // The last move as a wide band with a lighter one on it; a move round a corner, too.
  for (const [width, ink] of [[0.88, "soft"], [0.82, "ground"]]) game.last?.forEach((cell, at) => line(game.last[Math.max(0, at - 1)], cell, width, ink));
  for (const [one, other] of game.offer.moves.filter((move) => move.length === 2)) line(one, other, 0.035, "mesh");
  cells.forEach((cell, index) => {
    line(index, index, ...(game.has(index) ? [0.74, "piece"] : [0.54, "hole"]));
    write(cell.name, ...places[index], 0.28 * scale, game.has(index) ? "piece-ink" : "soft");
  });
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

/** Lets the browser save a file. */
function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Opens the dialog; `line` says how a puzzle went. */
export function share(game, title, line = null) {
  const dialog = $("share-dialog");
  const url = here();
  const field = element("input", { value: url, readOnly: true, hidden: true, ariaLabel: "Link" });
  const copy = (text) => async (found) => {
    try {
      if (matchMedia("(pointer: coarse)").matches && navigator.share) return await navigator.share({ text: line ?? `trinim: ${title}`, url });
      await navigator.clipboard.writeText(text);
      found.textContent = "Copied";
    } catch {
      field.value = text;
      field.hidden = false;
      field.select();
    }
  };
  const about = `${rowsOf(game.offer.board)}, ${ruleOf(game.offer)}. The link holds the whole game.`;
  dialog.replaceChildren(
    element("div", { className: "card" }, sketch(game.offer, game.position, game.marks, title),
      element("p", { className: "soft" }, element("b", { textContent: `${title}${game.last ? `, after move ${Game.number(game.at - 1)}` : ""}` }), element("br"), about)),
    button("Copy the link", copy(url), { className: "main" }, "share"), ...(line ? [button("Copy the result", copy(`${line} ${url}`))] : []), field,
    button("Save picture", async () => save("trinim.png", await pictureOf(game, title, url))),
    button("Save text", () => save("trinim.txt", new Blob([textOf(game)], { type: "text/plain" }))),
    button("Close", () => dialog.close(), { className: "plain" }),
  );
  dialog.showModal();
}
