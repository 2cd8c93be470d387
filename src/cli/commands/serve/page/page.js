// The page: settings, turns, answers, and the address that names the position.

import { ask, isAsked, leave, onProgress } from "/api.js";
import { BoardView } from "/board.js";
import { Game, count, isPosition } from "/game.js";
import { RecordView } from "/record.js";
import { dayOf, pngOf, puzzleOf, readGame, solvedOn, steps, svgOf, transcript } from "/study.js";

const $ = (id) => document.getElementById(id);
const WORDS = { win: "win", loss: "loss" };

let offers = [];
let game = null;
let seed = 1;
/** Grows with every change of the game, so that late answers are recognised. */
let epoch = 0;
/** The puzzle on the board that is not solved yet, and how often it was tried. */
let puzzle = null;
/** The losing move that was warned of last. */
let warned = "";

const view = new BoardView($("board"), {
  take: (move) => attempt(move),
  preview: (move) => preview(move),
  toggle: (cell) => {
    game.set(game.toggled(cell));
    changed();
    view.cells[cell].focus();
  },
  refuse: (from, to) => {
    const [one, other] = [from, to].map((cell) => game.offer.cells[cell].name);
    say(one === other ? `${one} cannot be taken alone.` : `No move leads from ${one} to ${other}.`);
  },
});

const record = new RecordView($("record"), $("graph"), {
  go: (at) => {
    if (at < 0 || at >= game.stands.length || at === game.at) return;
    game.at = at;
    changed(at ? `After turn ${at} of ${game.stands.length - 1}.` : "The start.");
  },
  enter: (variation) => { game.enter(variation); changed("The variation."); },
});

const isAgainstProgram = () => $("opponent").value !== "person";
const isProgramsTurn = () => isAgainstProgram() && game.player === 1 && game.winner() === null && !view.editing;
/** A look back at the program's turns lets it play nothing. */
const isPast = () => game.at < game.stands.length - 1;
const mine = () => (isAgainstProgram() ? [0] : [0, 1]);
const who = (player) => {
  if (!isAgainstProgram()) return `Player ${player + 1}`;
  return player === 0 ? "You" : "The program";
};

/** Parameters of a question about a position. */
const about = (position) => ({ board: game.offer.board, rule: game.offer.rule, p: position });

function say(text) { $("turn").textContent = text; }

// The game.

const offered = () => offers.find((one) => one.board === $("boards").value && one.rule === $("rule").value);

/** How many of the moves win, in words. */
function movesThatWin(winning, all, noun = "move") {
  if (all === 1) return `the only ${noun} ${winning ? "wins" : "loses"}`;
  return winning > 1 ? `${winning} of ${all} ${noun}s win` : `${winning || "none"} of ${all} ${noun}s wins`;
}

function begin(position = null, player = Number($("first").value)) {
  const offer = offered();
  puzzle = null;
  open(new Game(offer, isPosition(position, offer) ? position : null, player));
}

/** Puts a game on the table. */
function open(other) {
  game = other;
  const { offer } = game;
  $("guide").hidden = true;
  seed = 1 + Math.floor(Math.random() * 1e9);
  view.layOut(game);
  $("rules").textContent = offer.rules;
  // A move that takes more than one piece shows how such moves are written.
  const example = game.moves().find((move) => move.length === 3) ?? game.moves().at(-1);
  $("move").placeholder = example ? game.name(example) : "";
  $("counts").replaceChildren();
  if ($("statistics").open) statistics();
  changed();
}

/** Sets the puzzle of the day. */
async function setPuzzle() {
  const asked = epoch;
  try {
    const position = await puzzleOf(offered(), dayOf());
    if (asked !== epoch) return;
    begin(position, 0);
    puzzle = { position, tries: 0 };
    say("Puzzle of the day: exactly one move wins. Find it.");
  } catch (error) {
    if (asked === epoch) say(`There is no puzzle here: ${error.message}.`);
  }
}

/** Plays a person's move, unless it is a try at a puzzle, or loses a won game and that is to be said first. */
async function attempt(move) {
  const isTry = puzzle?.position === game.position;
  if (!isTry && (!$("teach").checked || warned === `${epoch} ${move}`)) return play(move);
  const asked = epoch;
  let found, after;
  try {
    [found, after] = await Promise.all([positionOf(game.position), positionOf(game.after(move))]);
  } catch (error) {
    // Of what is not known there is no warning.
    if (asked === epoch) return error.unknown && !isTry ? play(move) : say(error.message);
  }
  if (asked !== epoch) return;
  const name = game.name(move);
  if (isTry && after.value === "loss") {
    const [tries, days] = [puzzle.tries + 1, solvedOn()];
    puzzle = null;
    view.show(move);
    say(`Right: ${name} wins, found ${tries === 1 ? "at once" : `in ${tries} tries`}. `
      + `${days} ${days === 1 ? "day" : "days"} in a row. Play on from here, or begin a new game.`);
  } else if (isTry || found.value === "win" && after.value === "win") {
    const answer = after.moves.find((one) => one.value === "loss");
    const why = answer ? `the answer is ${game.name(answer.cells)}` : "the other side has no move and wins";
    if (isTry) puzzle.tries += 1; else warned = `${epoch} ${move}`;
    view.choose(null);
    say(isTry ? `${name} loses: ${why}. Try again.` : `${name} gives the game away: ${why}. Take it again to play it.`);
  } else {
    play(move);
  }
}

function play(move, isGuess = false) {
  const taken = `${who(game.player)} took ${game.name(move)}.`;
  game.play(move);
  changed(isGuess ? `${taken} It is a guess: the values are not known here.` : taken);
}

/** Shows the game after a change, and lets the program move if it is its turn. */
function changed(news = "") {
  epoch += 1;
  leave();
  view.locked = isProgramsTurn();
  view.update(game);
  view.mark("good", []);
  view.mark("bad", []);
  $("unread").textContent = "";
  const winner = game.winner();
  const next = () => {
    if (view.editing) return "Set up: choose cells to fill or empty them.";
    if (winner !== null) return `No piece can be taken: ${won(winner)}`;
    if (isProgramsTurn()) return isPast() ? "The program moved here." : "The program is choosing …";
    return isAgainstProgram() ? "Your move." : `${who(game.player)} to move.`;
  };
  say(`${news} ${next()}`.trim());
  $("undo").disabled = !game.stands.slice(0, game.at).some((stand) => mine().includes(stand.player));
  $("redo").disabled = game.at === game.stands.length - 1;
  $("hint").disabled = winner !== null || view.locked;
  $("swap").disabled = winner !== null || view.locked;
  record.show(game, turn);
  $("text").href = `data:text/plain;charset=utf-8,${encodeURIComponent(transcript(game))}`;
  address();
  values();
  if (isProgramsTurn() && !isPast()) reply(epoch);
}

function won(winner) {
  if (!isAgainstProgram()) return `${who(winner)} wins.`;
  return winner === 0 ? "you win." : "the program wins.";
}

async function reply(asked) {
  try {
    const level = $("opponent").value;
    const [answer] = await Promise.all([
      ask("/v1/reply", { ...about(game.position), level, seed }),
      // Long enough for the eye to see what the person took.
      new Promise((done) => { setTimeout(done, 350); }),
    ]);
    if (asked === epoch && answer.move) play(answer.move.cells, answer.move.guess);
  } catch (error) {
    if (asked === epoch) say(`No move of the program: ${error.message}.`);
  }
}

/** Says what happened between two entries of a game. */
function turn(before, after) {
  if (after.move) return `${who(before.player)}: ${game.name(after.move)}`;
  return after.position === before.position ? "sides exchanged" : "position set up";
}

/** Puts the game into the address, so that it can be shared and reloaded. */
function address() {
  const parameters = new URLSearchParams({
    board: game.offer.board, rule: game.offer.rule, p: game.position, to: game.player, opponent: $("opponent").value,
  });
  const hash = `#${parameters.toString().replaceAll("%2F", "/").replaceAll("%3A", ":")}`;
  history.replaceState(null, "", hash);
  $("link").href = hash;
}

// Answers.

/** The most pieces of a position that the server solves at once. */
const AT_ONCE = 28;

/**
 * Asks for a position, unless what the server keeps and solves cannot have it: rejects with `unknown`, too. Unless
 * it `waits`, nothing is solved for it that takes long.
 */
async function positionOf(position, waits = true) {
  const { keep, spot_pieces: spot } = game.offer;
  const least = keep === "database" ? 0 : Number(keep.split(":")[1] ?? Infinity);
  const most = waits || isAsked("/v1/position", about(position)) ? spot : Math.min(spot, AT_ONCE);
  if (count(position) < least && count(position) > (spot === null ? -1 : most)) {
    throw Object.assign(new Error("The value of this position is not known here."), { unknown: true });
  }
  return ask("/v1/position", about(position));
}

/** " in 5 moves"; nothing if that is not known. */
const inMoves = (moves) => (moves ? ` in ${moves} ${moves === 1 ? "move" : "moves"}` : "");

onProgress((done) => {
  $("waiting").hidden = done === undefined;
  const share = `Solving this position: ${Math.floor(100 * done)} %.`;
  $("share").textContent = done === null ? "Another position is being solved first." : share;
});

async function values() {
  // The property would do for HTML, not for SVG.
  for (const id of ["answer", "verdict", "graph", "caption"]) $(id).toggleAttribute("hidden", !$("values").checked);
  if (!$("values").checked) return;
  const asked = epoch;
  [$("upper").textContent, $("lower").textContent] = [0, 1].map((player) => won(player).slice(0, -1));
  $("moves").replaceChildren();
  $("answer").hidden = game.winner() !== null;
  if (game.winner() !== null) {
    $("verdict").textContent = "The game is over.";
    marks(asked);
    return;
  }
  $("verdict").textContent = "…";
  try {
    const found = await positionOf(game.position);
    if (asked !== epoch) return;
    const winning = found.moves.filter((move) => move.value === "loss").length;
    const more = found.moves_not_kept ? `; ${found.moves_not_kept} more are not known` : "";
    const moves = movesThatWin(winning, found.moves.length) + more;
    const nimber = found.nimber === null ? "" : `, nimber ${found.nimber},`;
    $("verdict").replaceChildren(
      worded(found.value), `${inMoves(found.distance)}${nimber} for the player to move: ${moves}.`,
    );
    const kind = ["distance", "nimber"].find((kind) => found.moves.some((move) => move[kind] !== null));
    $("numbers").hidden = !kind;
    $("kind").textContent = kind === "distance" ? "moves until the end" : "nimber";
    $("moves").replaceChildren(...game.classes(found.moves).map((moves) => alike(moves, kind)));
    colour(found);
  } catch (error) {
    if (asked === epoch) $("verdict").textContent = error.message;
  }
  if (asked === epoch) marks(asked);
}

/** Marks the turns that gave a won game away, says so of the last one, and draws who was winning. */
async function marks(asked) {
  const values = [];
  for (const [index, { position }] of game.stands.entries()) {
    const found = await positionOf(position, false).catch(() => null);
    if (asked !== epoch || !$("values").checked) return;
    values.push(found);
    const move = game.stands[index + 1]?.move;
    const right = (found?.moves ?? []).filter((one) => one.value === "loss");
    if (!move || right.length === 0 || right.some((one) => one.cells.join() === move.join())) continue;
    const text = `a mistake: it was won${inMoves(found.distance)}; ${game.name(right[0].cells)} kept it`;
    record.mark(index + 1, text);
    if (index + 1 === game.at) $("verdict").append(` The last move was ${text}.`);
  }
  record.draw(game, values, [0, 1].map(who));
}

function worded(value) {
  const span = document.createElement("span");
  span.className = value;
  span.textContent = `${value === "win" ? "+" : "−"} ${WORDS[value]}`;
  return span;
}

/** A class of moves: images of each other, whose values are the same. */
function alike(moves, kind) {
  const item = document.createElement("li");
  item.append(...moves.map((move) => chip(move, kind)));
  if (moves.length > 1) {
    const number = document.createElement("span");
    number.className = "soft";
    number.textContent = `${moves.length} alike`;
    item.append(number);
  }
  return item;
}

/** A move as a button, in the colour and with the sign of what it does for whoever makes it. */
function chip(move, kind) {
  const button = document.createElement("button");
  const wins = move.value === "loss";
  const part = (kind, text) => {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = text;
    button.append(span);
  };
  button.type = "button";
  button.className = wins ? "win" : "loss";
  button.textContent = `${wins ? "+" : "−"} ${game.name(move.cells)}`;
  // Sign and colour in words, for those who hear them.
  part("spoken", ` ${wins ? "wins" : "loses"}`);
  if (kind && move[kind] !== null) {
    part("spoken", kind === "nimber" ? ", nimber " : ", moves until the end: ");
    part("nimber", move[kind]);
  }
  button.disabled = view.locked;
  button.addEventListener("click", () => attempt(move.cells));
  for (const event of ["focus", "pointerenter"]) button.addEventListener(event, () => view.show(move.cells));
  for (const event of ["blur", "pointerleave"]) button.addEventListener(event, () => view.show(null));
  return button;
}

/** Colours the pieces: those of a winning move, and those that only losing moves take. */
function colour(found) {
  const of = (value) => found.moves.filter((move) => move.value === value).flatMap((move) => move.cells);
  const good = new Set(of("loss"));
  view.mark("good", good);
  view.mark("bad", of("win").filter((cell) => !good.has(cell)));
}

let previewed = null;

/** Says what the other side would answer to a move that is about to be made. */
async function preview(move) {
  previewed = move;
  view.mark("reply", []);
  const isWanted = $("explain").checked && move && game && !view.editing && isMove(move);
  // The line keeps its place, so that nothing below it jumps.
  $("why").hidden = !$("explain").checked || game?.winner() !== null;
  if (!isWanted) {
    $("why").textContent = "Choose a move to see what the other side would answer.";
    return;
  }
  const name = game.name(move);
  try {
    const found = await positionOf(game.after(move));
    if (previewed !== move) return;
    const answer = found.moves.find((one) => one.value === "loss");
    if (found.value === "loss") {
      const all = found.moves.length ? `none of the ${found.moves.length} answers wins` : "no piece is left";
      $("why").replaceChildren(`${name} `, verb("wins"), `: ${all}.`);
    } else if (answer) {
      view.mark("reply", answer.cells);
      $("why").replaceChildren(`${name} `, verb("loses"), `: the answer is ${game.name(answer.cells)}.`);
    } else {
      const why = found.moves_not_kept ? "the answer is not known here" : "the other side has no move and wins";
      $("why").replaceChildren(`${name} `, verb("loses"), `: ${why}.`);
    }
  } catch (error) {
    if (previewed === move) $("why").textContent = error.unknown ? `${name}: not known here.` : error.message;
  }
}

function isMove(move) { return game.moves().some((one) => one.join() === move.join()); }

function verb(word) {
  const span = document.createElement("span");
  span.className = word === "wins" ? "win" : "loss";
  span.textContent = word;
  return span;
}

async function hint() {
  const asked = epoch;
  try {
    const found = await positionOf(game.position);
    const best = found.moves.find((move) => move.value === "loss");
    let text = best && `Hint: ${game.name(best.cells)} wins${inMoves(found.distance)}.`;
    if (!best) {
      const { move } = await ask("/v1/reply", { ...about(game.position), level: "perfect", seed });
      const lost = found.value === "loss";
      text = lost ? `Hint: every move loses; try ${game.name(move.cells)}.` : "Hint: no move is known to win here.";
      if (asked === epoch && lost) view.show(move.cells);
    } else if (asked === epoch) {
      view.show(best.cells);
    }
    if (asked === epoch) say(text);
  } catch (error) {
    if (asked === epoch) say(error.message);
  }
}

// Statistics.

async function statistics() {
  const { board, rule } = game.offer;
  const number = new Intl.NumberFormat("en");
  const percent = (share) => `${(100 * share).toFixed(2)} %`;
  try {
    const found = await ask("/v1/stats", { board, rule });
    const text = document.createElement("p");
    text.textContent = `${number.format(found.positions)} positions, ${number.format(found.losses)} of them lost for `
      + `the player to move (${percent(found.loss_rate)}). The start is a ${found.start}; `
      + `${movesThatWin(found.winning_first_moves.length, found.first_moves, "first move")}.`;
    const table = document.createElement("table");
    const row = (kind, cells) => {
      const line = document.createElement("tr");
      for (const cell of cells) {
        const made = document.createElement(kind);
        if (kind === "th") made.scope = "col";
        made.textContent = cell;
        line.append(made);
      }
      return line;
    };
    const head = document.createElement("thead");
    head.append(row("th", ["pieces", "positions", "losses", "share"]));
    const body = document.createElement("tbody");
    body.append(...found.by_pieces.map((one) => row("td", [
      one.pieces, number.format(one.positions), number.format(one.losses), percent(one.losses / one.positions),
    ])));
    const caption = document.createElement("caption");
    caption.textContent = "Losses by number of pieces";
    table.append(caption, head, body);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(table);
    $("counts").replaceChildren(text, scroll);
  } catch (error) {
    $("counts").textContent = error.message;
  }
}

// The rules, step by step, and what is shared.

let stepAt = 0;

/** Shows one of the steps on the board; after the last one the board is as it was. */
function guide(at) {
  const step = steps(game)[at];
  stepAt = at;
  $("guide").hidden = !step;
  view.mark("chosen", step?.cells ?? []);
  if (!step) {
    try { localStorage.setItem("trinim.seen", "1"); } catch { /* a browser may keep nothing */ }
    return view.cells.find((cell) => cell.tabIndex === 0)?.focus();
  }
  $("step").textContent = `${at + 1} of 3. ${step.text}`;
  $("next").textContent = at === 2 ? "Play" : "Next";
}

function isFirstVisit() {
  try { return !location.hash && !localStorage.getItem("trinim.seen"); } catch { return false; }
}

/** Lets the browser save a file. */
function save(name, blob) {
  const link = document.createElement("a");
  [link.href, link.download] = [URL.createObjectURL(blob), name];
  link.click();
  URL.revokeObjectURL(link.href);
}

// Controls.

function undo() { if (!$("undo").disabled && game.undo(mine())) changed("Taken back."); }
function redo() { if (!$("redo").disabled && game.redo(mine())) changed("Played again."); }

$("next").addEventListener("click", () => guide(stepAt + 1));
$("skip").addEventListener("click", () => guide(3));
$("rules-again").addEventListener("click", () => { guide(0); $("next").focus(); });
$("leave").addEventListener("click", leave);
$("svg").addEventListener("click", () => save("position.svg", new Blob([svgOf(game)], { type: "image/svg+xml" })));
$("png").addEventListener("click", async () => save("position.png", await pngOf(game)));
$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
$("hint").addEventListener("click", hint);
$("new").addEventListener("click", () => {
  if (game.at === 0 || game.winner() !== null || confirm("Leave this game?")) begin();
});
$("puzzle").addEventListener("click", setPuzzle);
$("swap").addEventListener("click", () => { game.swap(); changed("Sides exchanged."); });
$("values").addEventListener("change", () => { leave(); view.mark("good", []); view.mark("bad", []); values(); });
$("explain").addEventListener("change", () => preview(null));
$("edit").addEventListener("change", () => { view.editing = $("edit").checked; changed(); });
$("statistics").addEventListener("toggle", () => { if ($("statistics").open) statistics(); });
$("opponent").addEventListener("change", () => changed());
$("first").addEventListener("change", () => begin());
for (const id of ["boards", "rule"]) $(id).addEventListener("change", () => { rulesOf(); begin(); });

$("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  if (view.locked || game.winner() !== null) return;
  try {
    const move = game.read($("move").value);
    $("move").value = "";
    attempt(move);
  } catch (error) {
    $("unread").textContent = `Not understood: ${error.message}.`;
  }
});

$("paste").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    const read = readGame($("game").value, offers);
    [$("boards").value, $("rule").value] = [read.offer.board, read.offer.rule];
    rulesOf();
    puzzle = null;
    $("misread").textContent = "";
    open(read);
    say(`The game was read: ${$("turn").textContent}`);
  } catch (error) {
    $("misread").textContent = `Not read: ${error.message}.`;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    u: undo, r: redo, h: () => !$("hint").disabled && hint(),
    arrowleft: () => record.act.go(game.at - 1), arrowright: () => record.act.go(game.at + 1),
  }[event.key.toLowerCase()];
  if (act) act();
});

/** Offers only the rules that the board has. */
function rulesOf() {
  const has = (rule) => offers.some((one) => one.board === $("boards").value && one.rule === rule);
  for (const option of $("rule").options) option.disabled = !has(option.value);
  if (!has($("rule").value)) $("rule").value = [...$("rule").options].find((option) => !option.disabled).value;
}

/** Reads the address; what it does not name stays as it is, and what it names wrongly is said. */
function restore() {
  const given = new URLSearchParams(location.hash.slice(1));
  const wrong = [];
  const choose = (select, value) => {
    const isOffered = [...select.options].some((option) => option.value === value && !option.disabled);
    if (isOffered) select.value = value;
    else if (value !== null) wrong.push(`${select.id === "boards" ? "board" : select.id} ${value}`);
  };
  choose($("boards"), given.get("board"));
  rulesOf();
  choose($("rule"), given.get("rule"));
  choose($("opponent"), given.get("opponent"));
  rulesOf();
  const position = given.get("p");
  begin(position, given.get("to") === "1" ? 1 : given.get("to") === "0" ? 0 : undefined);
  if (position !== null && !isPosition(position, game.offer)) wrong.push(`position ${position}`);
  if (wrong.length) say(`The address names no ${wrong.join(", no ")} that there is here. ${$("turn").textContent}`);
}

addEventListener("hashchange", restore);

async function start() {
  try {
    offers = (await ask("/v1/boards")).boards;
    const boards = [...new Set(offers.map((one) => one.board))];
    $("boards").replaceChildren(...boards.map((board) => new Option(board.replace(":", " "), board)));
    // Whoever begins can win it, under both rules.
    const usual = ["triangle:6", "triangle:4"].find((board) => boards.includes(board));
    if (usual) $("boards").value = usual;
    $("main").hidden = false;
    const isFirst = isFirstVisit();
    restore();
    if (isFirst) guide(0);
  } catch (error) {
    $("main").hidden = false;
    say(`The page cannot begin: ${error.message}.`);
  }
}

start();
