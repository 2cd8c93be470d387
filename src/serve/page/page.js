// The page: which of its four parts is shown, whose turn it is, answers, and the address of it all.

import { $, ask, follow, icon, leave, listMoves, onProgress, pieces, rowsOf, say, shown } from "./answers.js";
import { BoardView, pictures } from "./board.js";
import { Game, count, isPosition, replay } from "./game.js";

/** The parts of the page whose address holds a game, and those that have only a board. */
const [OF_GAME, BY_BOARD] = [["play", "analyse"], ["puzzles", "statistics"]];
export const LEVELS = { beginner: "Easy", club: "Club", perfect: "Perfect", person: "Second" };

export let [offers, game, seed] = [[], null, 1 + Math.floor(Math.random() * 1e9)];
/** Grows with every change, so that late answers are recognised. */
export let epoch = 0;
/** The game before this one, and the one to which puzzles and statistics lead back. */
let [former, table] = [null, null];
let [page, isFirst, isSetUp] = ["play", false, false];
/** The losing move that was warned of last, what is asked again after a failure, the puzzles once they are loaded. */
let [warned, retry, puzzles] = ["", null, null];

// A browser may keep nothing.
export function stored(area, key) {
  try { return JSON.parse(window[area].getItem(`trinim.${key}`)); } catch { return null; }
}
export function store(area, key, value) {
  try { window[area].setItem(`trinim.${key}`, JSON.stringify(value)); } catch { /* as above */ }
}

export const view = new BoardView($("stage"), $("board"), {
  take: (move) => attempt(move),
  choice: (move) => {
    if (!move && $("news").dataset.line) $("news").textContent = $("news").dataset.line;
    if (!move || !game || isSetUp) return;
    const names = [move[0], move.at(-1)].map((cell) => game.offer.cells[cell].name);
    $("news").textContent = move.length > 1 ? `${names.join(" to ")}, ${pieces(move.length)}` : `${names[0]} is chosen.`;
  },
  toggle: (cell) => { setUp(game.toggled(cell), game.player); view.cells[cell].focus(); },
  refuse: (from, to) => {
    const [one, other] = [from, to].map((cell) => game.offer.cells[cell].name);
    $("news").textContent = one === other ? `${one} cannot be taken alone.` : `No move leads from ${one} to ${other}.`;
  },
});

export const isAgainstProgram = () => $("opponent").value !== "person";
const isProgramsTurn = () => page === "play" && isAgainstProgram() && game.player === 1 && game.winner() === null;
/** One step back: in a game against the program to where the person moves; negative if there is none. */
const before = () => game.before(page === "play" && isAgainstProgram() ? [0] : [0, 1]);
export const names = () => {
  if (isAgainstProgram()) return ["You", LEVELS[$("opponent").value]];
  return game.first === 0 ? ["First", "Second"] : ["Second", "First"];
};
export const wins = (player) => (names()[player] === "You" ? "You win" : `${names()[player]} wins`);
export const turnOf = (player) => (names()[player] === "You" ? "Your turn" : `${names()[player]} to move`);
const offered = () => offers.find((one) => one.board === $("boards").value && one.rule === $("rule").value);

/** Says what failed, and what to do to ask again; nothing without a reason. */
export function trouble(error, again) {
  retry = error && again;
  [$("b-trouble").hidden, $("again").hidden, $("trouble").textContent] = [!error, !again, error?.message ?? ""];
}

// The game.

function stateOf() {
  if (page !== "play") return isSetUp ? "set-up" : page;
  if (isFirst) return "first";
  return game.winner() === null ? "play" : "end";
}

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
export function changed(news) {
  epoch += 1;
  warned = "";
  leave();
  trouble(null);
  const state = stateOf();
  if (state !== "puzzles") table = game;
  const hadFocus = $("stage").contains(document.activeElement);
  arrange(state);
  $("undone").hidden = !former || state !== "play" || game.moves.length > 0;
  [view.editing, view.locked] = [state === "set-up", isProgramsTurn()];
  view.layOut(game.offer);
  view.update(game);
  view.paint([]);
  view.mark(game.marks);
  const moved = game.last ? `${names()[1 - game.player]} took ${shown(game, game.last)}.` : "";
  const line = `${news ?? moved} ${pieces(count(game.position))} ${count(game.position) === 1 ? "is" : "are"} left.`.trim();
  if (state === "first") say("", "Triangular Nim", game.offer.rules);
  else if (state === "set-up") say("", "Set up", "Tap cells to fill or empty them.");
  else if (state === "end") say("", wins(game.winner()), line);
  else if (state === "play") say(...(view.locked ? ["○", `Waiting for ${names()[1]}`] : ["●", turnOf(game.player)]), line);
  $("corner").textContent = {
    first: "Drag along a line, or tap its first and its last piece. Tap one piece twice to take it alone.",
    end: `The game in one picture. Filled: ${names()[0].replace("You", "you")} took it. Outlined: ${names()[1]} did. Numbers: at which move; “?”: a mistake.`,
    analyse: "Thick ring: the quickest win\nThin rings: other wins\nDashes: the last move",
  }[state] ?? game.offer.rules;
  const isRow = (move) => move.length === 3 && move.every((cell, index) => cell === move[0] + index);
  if (state === "first") view.mark(game.legal().filter(isRow).slice(-2, -1).map((move) => ["choice", move]));
  $("undo").disabled = before() < 0;
  $("hint").disabled = view.locked;
  $("back").disabled = $("first-step").disabled = before() < 0;
  $("forward").disabled = $("last-step").disabled = !game.isPast;
  $("note").textContent = "";
  $("rules-text").textContent = game.offer.rules;
  listMoves($("moves"), game, names(), [], walk);
  address();
  if (state === "puzzles" || state === "set-up" || state === "first") return;
  if (state === "end" || state === "analyse" || $("help").value === "values") tell(epoch, state, hadFocus);
  else [$("value").textContent, $("solve").hidden] = ["", true];
  if (isProgramsTurn()) reply(epoch);
}

/** Says what is known of the game: with the part that is loaded when it is first needed. */
async function tell(asked, state, hadFocus, waits = false) {
  const story = await load("./story.js");
  if (asked === epoch && story) await (state === "end" ? story.end(asked, hadFocus) : story.values(asked, state, waits));
}

/** Loads a part of the page; null if that fails. */
const load = (part) => import(part).catch(() => trouble(new Error("No answer from the server."), () => location.reload()) ?? null);

export const walk = {
  go: (at) => { game.go(at); changed(); },
  enter: (variation) => { game.enter(variation); changed(); },
  address: (at) => addressOf("analyse", { ...game.parameters(), at }),
};

/** Begins a game; the one before it can be taken back. */
export function begin(next, isNew = true) {
  if (isNew && game?.moves.length) former = game;
  game = next;
  isFirst = isSetUp = false;
  seed = 1 + Math.floor(Math.random() * 1e9);
  [$("boards").value, $("rule").value, $("first").value] = [game.offer.board, game.offer.rule, game.first];
  rulesOf();
  if (isNew) keep();
  changed();
}

const keep = () => store("localStorage", "settings", { ...game.about, first: game.first, opponent: $("opponent").value });

export function fresh() {
  rulesOf();
  begin(new Game(offered(), { first: Number($("first").value) }));
}

/** Plays a person's move, unless it loses a won game and that is to be said first. */
export async function attempt(move) {
  if (page === "puzzles") return puzzles.attempt(move);
  if (isFirst) keep();
  isFirst = false;
  if (page === "analyse" || $("help").value !== "warnings" || warned === move.join()) return play(move);
  const asked = epoch;
  const isWarning = await (await load("./story.js"))?.warn(move);
  if (asked === epoch && isWarning) warned = move.join();
  else if (asked === epoch) play(move);
}

function play(move, isGuess = false) {
  game.play(move);
  changed(isGuess ? `${names()[1]} guessed ${shown(game, move)}.` : undefined);
}

/** Lets the program move, as it did if the game goes on here. */
async function reply(asked) {
  try {
    const [answer] = await Promise.all([
      game.isPast ? { move: { cells: game.moves[game.at] } }
        : ask("v1/reply", { ...game.about, p: game.position, level: $("opponent").value, seed }),
      // Long enough for the eye to see what the person took.
      new Promise((done) => { setTimeout(done, 350); }),
    ]);
    if (asked === epoch && answer.move) play(answer.move.cells, answer.move.guess);
  } catch (error) {
    if (asked === epoch) trouble(error, () => changed());
  }
}

// The address.

function addressOf(which, parameters) {
  const rest = new URLSearchParams(parameters).toString();
  return `#${which}&${rest}`.replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/** Puts the game into the address, so that it can be shared and reloaded. */
function address() {
  const all = { ...(table ?? game).parameters(), opponent: $("opponent").value };
  const board = { board: $("boards").value, rule: $("rule").value };
  const own = page === "puzzles" ? puzzles.parameters() : page === "statistics" ? board : all;
  for (const link of $("nav").children) {
    const which = link.textContent.toLowerCase();
    link.href = addressOf(which, OF_GAME.includes(which) ? all : board);
    if (which === page) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (!isFirst) history.replaceState(null, "", addressOf(page, own));
  store("sessionStorage", "variations", { game: game.parameters().moves, variations: game.variations });
}

/** Offers only the rules that the board has. */
function rulesOf() {
  const has = (rule) => offers.some((one) => one.board === $("boards").value && one.rule === rule);
  for (const option of $("rule").options) option.disabled = !has(option.value);
  if (!has($("rule").value)) $("rule").value = [...$("rule").options].find((option) => !option.disabled).value;
}

/** Reads the address; what it does not name stays, and what it names wrongly is said. */
async function restore() {
  const given = new URLSearchParams(location.hash.slice(1));
  const wrong = [];
  page = [...OF_GAME, ...BY_BOARD].find((one) => given.has(one)) ?? "play";
  isSetUp = false;
  const choose = (id, name = id) => {
    const value = given.get(name);
    if ([...$(id).options].some((option) => option.value === value && !option.disabled)) $(id).value = value;
    else if (value !== null) wrong.push(`${name} ${value}`);
  };
  choose("boards", "board");
  rulesOf();
  for (const id of ["rule", "opponent", "first"]) choose(id);
  const isGame = OF_GAME.includes(page) && (given.has("board") || given.has("p"));
  if (!game || isGame) {
    const offer = offered();
    const start = given.get("p") ?? offer.start;
    if (!isPosition(start, offer)) wrong.push(`position ${start}`);
    // Links of earlier versions name a position and who moves.
    const first = Number(given.get("to") ?? $("first").value) === 1 ? 1 : 0;
    game = new Game(offer, { start: isPosition(start, offer) ? start : offer.start, first });
    table = game;
    wrong.push(replay(game, given.get("moves")?.split(",").filter(Boolean) ?? []));
    const kept = stored("sessionStorage", "variations");
    if (kept && kept.game === game.parameters().moves) game.variations = kept.variations;
    if (given.has("at")) game.go(Number(given.get("at")) || 0);
  } else if (OF_GAME.includes(page)) game = table ?? game;
  if (given.size) isFirst = false;
  $("first").value = game.first;
  await show();
  const said = wrong.filter(Boolean).join("; ");
  if (said) $("news").textContent = `The address is wrong here: ${said}.`;
}

/** Shows the page that is chosen; puzzles and statistics are loaded when they are first opened. */
async function show() {
  document.title = page === "play" ? "trinim" : `trinim: ${page}`;
  if (OF_GAME.includes(page)) return changed();
  const asked = epoch += 1;
  leave();
  trouble(null);
  const part = await load(page === "puzzles" ? "./puzzle.js" : "./stats.js");
  if (asked !== epoch) return;
  if ($("main").dataset.state !== page) say("", "Puzzles", "");
  arrange(page);
  if (!part) return;
  if (page === "puzzles") puzzles = part; else address();
  const given = new URLSearchParams(location.hash.slice(1));
  await part.open(offered(), given).catch((error) => { if (asked === epoch) trouble(error, show); });
}

// Controls.

function setUp(start, first) {
  game = new Game(game.offer, { start, first });
  changed();
}

const undo = () => {
  if ($("undo").disabled) return;
  game.go(before());
  changed("Taken back.");
};
const forward = () => { if (game.isPast) walk.go(game.at + 1); };

async function readText(text) {
  try {
    begin((await import("./share.js")).readGame(text, offers));
    $("misread").textContent = "";
  } catch (error) {
    $("misread").textContent = `Not read: ${error.message}.`;
  }
}

export const goTo = (which) => { history.pushState(null, "", addressOf(which, game.parameters())); page = which; isSetUp = false; show(); };
const openSetUp = () => { page = "analyse"; isSetUp = true; $("mover").value = game.player; changed(); };

const CLICKS = {
  undo, forward,
  hint: async () => (await load("./story.js"))?.hint(),
  back: () => { if (before() >= 0) walk.go(before()); }, "first-step": () => walk.go(0), "last-step": () => walk.go(game.moves.length),
  again: () => retry?.(),
  solve: () => tell(epoch, stateOf(), false, true),
  stop: () => { leave(); changed(); },
  new: () => fresh(),
  "back-to": () => { begin(former); former = null; $("undone").hidden = true; },
  other: () => { $("first").value = 1 - game.first; fresh(); },
  analyse: () => { game.go(0); goTo("analyse"); },
  "play-on": () => goTo("play"),
  "set-up": openSetUp,
  open: openSetUp, daily: () => goTo("puzzles"),
  fill: () => setUp(game.offer.start, game.player),
  clear: () => setUp(game.offer.start.replaceAll("1", "0"), game.player),
  read: () => readText($("text").value),
  done: () => { isSetUp = false; changed(); },
  share: async () => (await import("./share.js")).share($("share-dialog"), game, $("turn").textContent),
  rules: () => $("rules-dialog").showModal(),
  close: () => $("rules-dialog").close(),
};
for (const [id, act] of Object.entries(CLICKS)) $(id).addEventListener("click", act);
$("help").addEventListener("change", () => { store("sessionStorage", "help", $("help").value); changed(); });
$("mover").addEventListener("change", () => setUp(game.position, Number($("mover").value)));
$("opponent").addEventListener("change", () => { keep(); changed(); });
const choose = () => {
  rulesOf();
  if (BY_BOARD.includes(page)) location.hash = addressOf(page, { board: $("boards").value, rule: $("rule").value }); else fresh();
};
for (const id of ["boards", "rule", "first"]) $(id).addEventListener("change", choose);
onProgress(follow);
addEventListener("hashchange", restore);
addEventListener("online", () => retry?.());
document.addEventListener("dragover", (event) => { if (isSetUp) event.preventDefault(); });
document.addEventListener("drop", async (event) => {
  if (isSetUp) event.preventDefault();
  if (isSetUp && event.dataTransfer.files.length) readText(await event.dataTransfer.files[0].text());
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.altKey || document.querySelector("dialog[open]")) return;
  if (!OF_GAME.includes(page)) return;
  const [key, isControl] = [event.key.toLowerCase(), event.ctrlKey || event.metaKey];
  const act = isControl ? key === "z" && (event.shiftKey ? forward : undo) : {
    arrowleft: CLICKS.back, arrowright: forward, home: CLICKS["first-step"], end: CLICKS["last-step"], n: fresh,
    "?": () => !$("hint").disabled && CLICKS.hint(),
  }[key];
  if (!act) return;
  event.preventDefault();
  act();
});

async function start() {
  for (const section of $("column").children) section.hidden = true;
  $("main").hidden = false;
  try {
    offers = (await ask("v1/boards")).boards;
    const boards = [...new Set(offers.map((one) => one.board))];
    $("boards").replaceChildren(...boards.map((board) => new Option(rowsOf(board), board)));
    const kept = stored("localStorage", "settings");
    isFirst = !kept && location.hash.length < 2;
    const usual = { boards: kept?.board ?? "triangle:4", ...kept, help: stored("sessionStorage", "help") };
    for (const [id, value] of Object.entries(usual).filter(([name]) => name !== "board")) {
      if ([...$(id).options].some((option) => option.value === String(value))) $(id).value = value;
    }
    for (const one of document.querySelectorAll("[data-icon]:not(:has(svg))")) one.prepend(icon(one.dataset.icon));
    $("pictures").replaceChildren(...pictures());
    $("rules-pictures").replaceChildren(...pictures());
    await restore();
  } catch (error) {
    say("", "trinim", "");
    trouble(error, start);
  }
}

start();
