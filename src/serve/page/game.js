// A game: where it starts, its moves, what else was played, and how it is called. It knows no values.

/** One game on an offered board. Player 0 is the person at the page, player 1 the opponent. */
export class Game {
  constructor(offer, { start = offer.start, first = 0, moves = [] } = {}) {
    Object.assign(this, { offer, start, first, moves: [], at: 0 });
    // What was played in place of the moves after one: one level, without variations of its own.
    this.variations = [];
    this.positions = [start];
    moves.forEach((move) => this.play(move));
  }

  get position() { return this.positions[this.at]; }
  get player() { return this.playerAt(this.at); }
  get last() { return this.moves[this.at - 1] ?? null; }
  get marks() { return this.last ? [["last", this.last]] : []; }
  get about() { return aboutOf(this.offer); }
  get key() { const { at, ...rest } = this.parameters(); return JSON.stringify(rest); }
  get isPast() { return this.at < this.moves.length; }
  playerAt(index) { return (this.first + index) % 2; }
  /** The number of a move in the list, which has a line for a move of each side. */
  static number(index) { return Math.floor(index / 2) + 1; }
  has(cell) { return heldIn(this.position)[cell] === "1"; }

  legal(position = this.position) {
    const held = heldIn(position);
    return this.offer.moves.filter((move) => move.every((cell) => held[cell] === "1"));
  }

  /** The shortest legal move that takes both cells; null if there is none, or more than one. */
  between(from, to) { return shortest(this.legal(), from, to); }

  after(move, position = this.position) {
    const held = heldIn(position);
    move.forEach((cell) => { held[cell] = "0"; });
    return written(held, this.offer.start);
  }

  toggled(cell) { const held = heldIn(this.position); held[cell] = held[cell] === "1" ? "0" : "1"; return written(held, this.offer.start); }

  /** The name of a move, as the server and the terminal write it. */
  name(move) {
    const names = move.map((cell) => this.offer.cells[cell].name);
    if (names.length === 1) return names[0];
    const run = shortest(this.offer.moves, move[0], move.at(-1));
    return run?.length === move.length ? `${names[0]}-${names.at(-1)}` : names.join(",");
  }

  /** The legal move of this name, which may begin at either end; throws an error with the reason. */
  read(text) {
    const wanted = text.trim().toLowerCase().replace(/[‐-―−]/g, "-").replaceAll(/[\s.]+/g, ",")
      // Small boards had letters.
      .replaceAll(/\b[a-z]\b/g, (one) => (this.offer.cells.length < 27 && this.offer.cells[one.charCodeAt() - 97]?.name) || one);
    const names = this.offer.names ??= this.offer.moves.map((move) => this.name(move));
    const found = [wanted, wanted.split("-").reverse().join("-")].map((name) => names.indexOf(name));
    const move = this.offer.moves[Math.max(...found)];
    if (!move) throw new Error("the board has no such move");
    if (!move.every((cell) => this.has(cell))) throw new Error("a piece of it is gone");
    return move;
  }

  /** Plays a move; what followed here becomes a variation, unless it begins with the same move. */
  play(move) {
    if (this.moves[this.at]?.join() !== move.join()) { this.branch(); this.moves.push(move); this.positions.push(this.after(move)); }
    this.at += 1;
  }

  go(at) { this.at = Math.max(0, Math.min(at, this.moves.length)); }

  branch() {
    const moves = this.moves.splice(this.at);
    this.positions.splice(this.at + 1);
    this.variations = this.variations.filter((one) => one.from <= this.at);
    if (moves.length > 0) this.variations.push({ from: this.at, moves });
  }

  /** The last position before this one in which one of these players moves; -1 if there is none. */
  before(players) { let at = this.at - 1; while (at >= 0 && !players.includes(this.playerAt(at))) at -= 1; return at; }
  winner() { if (this.legal().length > 0) return null; return this.offer.rule === "misere" ? this.player : 1 - this.player; }

  parameters() {
    const { offer, start, first, moves, at } = this;
    const found = { ...aboutOf(offer), first };
    if (start !== offer.start) found.p = start;
    if (moves.length) found.moves = moves.map((move) => this.name(move).replaceAll(",", ".")).join();
    if (at < moves.length) found.at = at;
    return found;
  }
}

/** Plays moves that are given by name up to the first that is wrong; returns what is wrong. */
export function replay(game, names) {
  for (const name of names) {
    try { game.play(game.read(name)); } catch (error) { return `move ${short(name)}: ${error.message}`; }
  }
  return null;
}

function shortest(moves, from, to) {
  const through = moves.filter((move) => move.includes(from) && move.includes(to));
  const least = Math.min(...through.map((move) => move.length));
  const found = through.filter((move) => move.length === least);
  return found.length === 1 ? found[0] : null;
}

/** The cells of a position in rows, as characters. */
export function heldIn(rows) { return [...rows.replaceAll("/", "")]; }
/** Cells in the rows of the full board. */
function written(held, start) { let cell = 0; return start.replace(/[01]/g, () => held[cell++]); }
export function count(rows) { return rows.replace(/[^1]/g, "").length; }
/** Whether a text is a position of the offered board, in rows. */
export function isPosition(text, offer) { return typeof text === "string" && text.replace(/[01]/g, "1") === offer.start; }
export const short = (text, most = 40) => (text.length > most ? `${text.slice(0, most)}…` : text);
export const plural = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
export const pieces = (number) => plural(number, "piece");
export const inMoves = (moves) => (moves ? ` in ${plural(moves, "move")}` : "");
/** Boards from files can share a name. */
export const aboutOf = ({ board, rule, identity }) => (identity ? { board, rule, identity } : { board, rule });
/** The name of a board for people, like “5 rows, at most 3” for triangle:5,take:3. */
export const rowsOf = (board) => board.replace(/^triangle:(\d+)/, "$1 rows").replace(",least:", ", at least ").replace(",take:", ", at most ").replace(":", " ");
export const ruleOf = (offer) => (offer.rule === "misere" ? "last piece loses" : "last piece wins");
export const shown = (game, move) => game.name(move).replace("-", "–");

