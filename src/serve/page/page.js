// The page: which of its four parts is shown, whose turn it is, and what the controls do.

import { $, icon, keyOf, pictures } from "./board.js";
import { Game, aboutOf, count, isPosition, pieces, replay, rowsOf, short, shown } from "./game.js";
import {
  address, addressOf, ask, begin, change, epoch, events, flush, former, fresh, game, isAgainstProgram, keep, leave, load, names, offer, offered,
  offers, place, remark, replace, rulesOf, say, seed, store, stored, trouble, turnOf, view, visit, walk, wins,
} from "./table.js";

/** The parts of the page whose address holds a game, and those that have only a board. */
const [OF_GAME, BY_BOARD] = [["play", "analyse"], ["puzzles", "statistics"]];
let [page, isFirst, isSetUp] = ["play", false, false];
/** The game to which puzzles and statistics lead back, and what the address says. */
let [table, given] = [null, new URLSearchParams()];
/** The losing move that was warned of last, and the puzzles once they are loaded. */
let [warned, puzzles] = ["", null];

view.act = {
  take: (move) => attempt(move),
  choice: (move) => {
    if (!move && $("news").dataset.line) $("news").textContent = $("news").dataset.line;
    if (!move || !game || isSetUp) return;
    const ends = [move[0], move.at(-1)].map((cell) => game.offer.cells[cell].name);
    $("news").textContent = move.length > 1 ? `${ends.join(" to ")}, ${pieces(move.length)}` : `${ends[0]} is chosen.`;
  },
  toggle: (cell) => { setUp(game.toggled(cell), game.player); view.cells[cell].focus(); },
  refuse: (from, to) => {
    const [one, other] = [from, to].map((cell) => game.offer.cells[cell].name);
    const now = view.from === null ? "" : ` ${other} is chosen now.`;
    $("news").textContent = one === other ? `${one} cannot be taken alone.` : `No move leads from ${one} to ${other}.${now}`;
  },
};

const isProgramsTurn = () => page === "play" && isAgainstProgram() && game.player === 1 && game.winner() === null;
/** One step back, to where the person moves; negative: none. */
const before = () => game.before(page === "play" && isAgainstProgram() ? [0] : [0, 1]);

function stateOf() {
  if (page !== "play") return isSetUp ? "set-up" : page;
  if (isFirst) return "first";
  return game.winner() === null ? "play" : "end";
}

/** What a state says: a sign, a heading and a line. */
const SAYS = {
  first: () => ["", "Triangular Nim", game.offer.rules],
  "set-up": () => ["", "Set up", "Tap cells to fill or empty them."],
  end: (line) => ["", wins(game.winner()), line],
  play: (line) => (view.locked ? ["○", `Waiting for ${names()[1]}`, line] : ["●", turnOf(game.player), line]),
  analyse: (line) => ["", turnOf(game.player), line],
};

/** Shows the parts of a state, which name it in `data-in`. */
function arrange(state) {
  for (const part of document.querySelectorAll("[data-in]")) part.hidden = !part.dataset.in.split(" ").includes(state);
  if ($("main").dataset.state === state) return;
  $("main").dataset.state = state;
  $("b-moves")[state === "end" ? "before" : "after"]($("b-graph"));
  $("new").textContent = state === "first" ? "Start" : "New game";
  $("new").className = state === "first" ? "main" : "wide";
}

/** Shows the game after a change, and lets the program move if it is its turn. */
function changed({ news, begins = false, keeps = false }) {
  warned = "";
  if (begins) isFirst = isSetUp = false;
  if (!keeps) remark("");
  trouble(null);
  const state = stateOf();
  isFirst &&= state === "first";
  if (state !== "puzzles") table = game;
  const hadFocus = $("stage").contains(document.activeElement);
  arrange(state);
  drawBoard(state);
  const moved = game.last ? `${names()[1 - game.player]} took ${shown(game, game.last)}.` : "";
  const left = `${pieces(count(game.position))} ${count(game.position) === 1 ? "is" : "are"} left.`;
  if (SAYS[state]) say(...SAYS[state](`${news ?? moved} ${left}`.trim()));
  $("rules-text").textContent = game.offer.rules;
  $("corner").textContent = state !== "first" ? game.offer.rules : view.locked ? "The opponent begins: press Start." : $("how").textContent;
  steps(state);
  link();
  if (["play", "end", "analyse"].includes(state)) more(state, hadFocus);
  if (isProgramsTurn() && state === "play") reply(epoch);
}

function drawBoard(state) {
  view.editing = state === "set-up";
  view.locked = isProgramsTurn();
  view.layOut(game.offer);
  view.update(game);
  const isRow = (move) => move.length === 3 && move.every((cell, index) => cell === move[0] + index);
  view.mark(state === "first" ? game.legal().filter(isRow).slice(-2, -1).map((move) => ["choice", move]) : game.marks);
}

function steps(state) {
  $("undone").hidden = !former || state !== "play" || game.moves.length > game.first;
  $("undo").disabled = $("back").disabled = $("first-step").disabled = before() < 0;
  $("hint").disabled = view.locked || game.winner() !== null;
  $("forward").disabled = $("last-step").disabled = !game.isPast;
  $("note").textContent = "";
}

/** Says what is known of the game: with the part that is loaded when it is first needed. */
async function more(state, hadFocus, waits = false) {
  $("value").textContent = "";
  $("solve").hidden = true;
  const asked = epoch;
  const story = await load("./story.js", change);
  if (asked !== epoch || !story) return;
  story.listMoves();
  if (state === "end") await story.end(hadFocus);
  else if (state === "analyse" || $("help").value === "values") await story.values(state, waits);
}

/** Plays a person's move, unless it loses a won game and that is to be said first. */
async function attempt(move) {
  if (page === "puzzles") return puzzles?.attempt(move);
  if (isFirst) keep();
  isFirst = false;
  if (page === "analyse" || $("help").value !== "warnings" || warned === move.join()) return play(move);
  const asked = epoch;
  const isWarning = await (await load("./story.js", () => attempt(move)))?.warn(move);
  if (asked === epoch && isWarning) warned = move.join();
  else if (asked === epoch) play(move);
}

function play(move, how = {}) { game.play(move); change(how); }

/** Lets the program move, as it did if the game goes on here. */
async function reply(asked) {
  try {
    const [answer] = await Promise.all([
      game.isPast ? { move: { cells: game.moves[game.at] } }
        : ask("v1/reply", { ...game.about, p: game.position, level: $("opponent").value, seed }),
      // Long enough for the eye to see what the person took.
      new Promise((done) => { setTimeout(done, 350); }),
    ]);
    if (asked !== epoch || !answer.move) return;
    const { cells, guess } = answer.move;
    play(cells, { keeps: true, news: guess ? `${names()[1]} guessed ${shown(game, cells)}.` : undefined });
  } catch (error) {
    if (asked === epoch) trouble(error, change);
  }
}

/** Puts what is shown into the address, and into the links to the other parts of the page. */
function link() {
  const kept = table ?? game;
  const all = { ...kept.parameters(), opponent: $("opponent").value };
  const of = { play: all, analyse: all, puzzles: {}, statistics: aboutOf(offered()) };
  if (page === "puzzles" && puzzles) of.puzzles = puzzles.parameters();
  for (const one of $("nav").children) {
    const which = one.id.slice(2);
    one.href = addressOf(which, of[which]);
    one.ariaCurrent = which === page ? "page" : null;
  }
  address(isFirst ? null : addressOf(page, of[page]));
  store("sessionStorage", "variations", { game: kept.key, variations: kept.variations });
}

/** Reads an address; what it does not name stays, and what it names wrongly is said. */
async function restore(hash) {
  given = new URLSearchParams(hash.slice(1));
  const wrong = [];
  page = [...OF_GAME, ...BY_BOARD].find((one) => given.has(one)) ?? "play";
  isSetUp = false;
  const choose = (id, name = id) => {
    const value = given.get(name);
    if ([...$(id).options].some((option) => option.value === value && !option.disabled)) $(id).value = value;
    else if (value !== null) wrong.push(`${name} ${short(value)}`);
  };
  choose("boards", "board");
  rulesOf();
  for (const id of ["rule", "opponent", "first"]) choose(id);
  const [isOther, isChanged] = ["board", "identity"].map((name) => given.has(name) && given.get(name) !== offered()[name]);
  if (isChanged && !isOther) wrong.push(`${rowsOf(offered().board)} is a different board here`);
  if (isChanged || isOther) for (const one of ["p", "moves", "at", "day"]) given.delete(one);
  const isGame = OF_GAME.includes(page) && (given.has("board") || given.has("p"));
  if (!game || isGame) {
    const start = given.get("p") ?? offered().start;
    const isRight = isPosition(start, offered());
    if (!isRight) wrong.push(`position ${short(start)}`);
    // Links of earlier versions name a position and who moves.
    const first = Number(given.get("to") ?? $("first").value) === 1 ? 1 : 0;
    const next = new Game(offered(), { start: isRight ? start : offered().start, first });
    wrong.push(replay(next, given.get("moves")?.split(",").filter(Boolean) ?? []));
    const kept = stored("sessionStorage", "variations");
    if (table?.key === next.key) next.variations = table.variations;
    else if (kept.game === next.key && Array.isArray(kept.variations)) next.variations = kept.variations;
    if (given.has("at")) next.go(Number(given.get("at")) || 0);
    place(next);
    table = next;
    // The list of moves is there with the board.
    if (next.moves.length) await load("./story.js", change);
  } else if (OF_GAME.includes(page)) place(table ?? game);
  if (given.size) isFirst = false;
  const said = wrong.filter(Boolean).join("; ");
  remark(said && `Wrong in the address: ${said}.`);
  await show();
}

/** Shows the page that is chosen. */
async function show() {
  if (OF_GAME.includes(page)) return change({ keeps: true });
  const asked = leave();
  trouble(null);
  // Until there is a puzzle, the board shows another game.
  view.locked = true;
  const part = await load(page === "puzzles" ? "./puzzle.js" : "./stats.js", show);
  if (asked !== epoch) return;
  if ($("main").dataset.state !== page) say("", page === "puzzles" ? "Puzzles" : "Statistics", "");
  arrange(page);
  if (!part) return;
  if (page === "puzzles") puzzles = part; else link();
  await part.open(offered(), given).catch((error) => { if (asked === epoch) trouble(error, show); });
}

function setUp(start, first) { replace(new Game(game.offer, { start, first })); change(); }
const undo = () => { if (before() >= 0) { game.go(before()); change({ news: "Taken back." }); } };
const forward = () => { if (game.isPast) walk(game.at + 1); };
const back = () => { if (before() >= 0) walk(before()); };
const share = async () => (await load("./share.js", share))?.share(game, $("turn").dataset.line);

async function readText(text) {
  const part = await load("./share.js", () => readText(text));
  $("misread").textContent = "";
  try { if (part) begin(part.readGame(text, offers)); } catch (error) { $("misread").textContent = `Not read: ${short(error.message, 200)}.`; }
}

const goTo = (which) => visit(addressOf(which, which === "puzzles" ? {} : { ...game.parameters(), opponent: $("opponent").value }));
const openSetUp = () => { page = "analyse"; isSetUp = true; $("mover").value = game.player; change(); };
function stop() { if (!view.locked) return change(); leave(); trouble(new Error("Not solved: stopped."), change); }

const CLICKS = {
  undo, forward, back, share, stop,
  hint: async () => (await load("./story.js", CLICKS.hint))?.hint(),
  "first-step": () => walk(0), "last-step": () => walk(game.moves.length),
  solve: () => more(stateOf(), false, true),
  new: fresh,
  "back-to": () => begin(former),
  other: () => { $("first").value = 1 - game.first; fresh(); },
  analyse: () => { game.go(0); goTo("analyse"); },
  "play-on": () => goTo("play"),
  "set-up": openSetUp, open: openSetUp, daily: () => goTo("puzzles"),
  fill: () => setUp(game.offer.start, game.player),
  clear: () => setUp(game.offer.start.replaceAll("1", "0"), game.player),
  read: () => readText($("text").value),
  done: () => { isSetUp = false; change(); },
  rules: () => $("rules-dialog").showModal(),
  close: () => $("rules-dialog").close(),
};
for (const [id, act] of Object.entries(CLICKS)) $(id).addEventListener("click", () => act());
$("help").addEventListener("change", () => { store("sessionStorage", "help", $("help").value); change(); });
$("mover").addEventListener("change", () => setUp(game.position, Number($("mover").value)));
$("opponent").addEventListener("change", () => { keep(); change(); });
for (const id of ["boards", "rule", "first"]) $(id).addEventListener("change", () => {
  rulesOf();
  if (BY_BOARD.includes(page)) visit(addressOf(page, aboutOf(offered())));
  else if (isFirst) { place(new Game(offered(), { first: Number($("first").value) })); change(); } else fresh();
});
events.addEventListener("change", ({ detail }) => changed(detail));
events.addEventListener("visit", ({ detail }) => restore(detail));
addEventListener("hashchange", () => { address(null); restore(location.hash); });
$("nav").addEventListener("click", flush);
addEventListener("pagehide", flush);
addEventListener("online", () => { if (!$("b-trouble").hidden) $("again").click(); });
document.addEventListener("dragover", (event) => { if (isSetUp) event.preventDefault(); });
document.addEventListener("drop", async (event) => {
  if (isSetUp) event.preventDefault();
  if (isSetUp && event.dataTransfer.files.length) readText(await event.dataTransfer.files[0].text());
});

// Only steps through the game are repeated while a key is held; and only for keys the focus is shown.
const isTyping = (event) => event.target.matches("input, select, textarea");
addEventListener("pointerdown", () => document.documentElement.classList.remove("keys"), true);
addEventListener("keydown", (event) => {
  document.documentElement.classList.add("keys");
  if (!event.repeat || isTyping(event) || !["enter", " ", "n", "?"].includes(keyOf(event))) return;
  event.preventDefault();
  event.stopPropagation();
}, true);
document.addEventListener("keydown", (event) => {
  if (isTyping(event) || event.altKey || !OF_GAME.includes(page) || document.querySelector("dialog[open]")) return;
  const [key, isControl] = [keyOf(event), event.ctrlKey || event.metaKey];
  const act = isControl ? key === "z" && (event.shiftKey ? forward : undo) : {
    arrowleft: back, arrowright: forward, home: CLICKS["first-step"], end: CLICKS["last-step"], n: fresh,
    "?": () => !$("hint").disabled && CLICKS.hint(),
  }[key];
  if (!act) return;
  event.preventDefault();
  act();
});

async function start() {
  $("lost").hidden = true;
  for (const section of $("column").children) section.hidden = true;
  $("main").hidden = false;
  try {
    offer((await ask("v1/boards")).boards);
    const boards = [...new Set(offers.map((one) => one.board))];
    $("boards").replaceChildren(...boards.map((board) => new Option(rowsOf(board), board)));
    const kept = stored("localStorage", "settings");
    isFirst = !kept.board && location.hash.length < 2;
    const usual = { boards: kept.board ?? "triangle:4", rule: kept.rule, first: kept.first, opponent: kept.opponent, help: stored("sessionStorage", "help") };
    for (const [id, value] of Object.entries(usual)) { if ([...$(id).options].some((option) => option.value === String(value))) $(id).value = value; }
    for (const one of document.querySelectorAll("[data-icon]:not(:has(svg))")) one.prepend(icon(one.dataset.icon));
    for (const id of ["pictures", "rules-pictures"]) $(id).replaceChildren(...pictures());
    await restore(location.hash);
  } catch (error) {
    say("", "trinim", "");
    trouble(error, start);
  }
}

start();
