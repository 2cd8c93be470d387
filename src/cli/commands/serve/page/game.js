// A game: a position, whose turn it is, and what happened. Knows the rules, but no values.

/** One game on an offered board. Player 0 is the person at the page, player 1 the opponent. */
export class Game {
  constructor(offer, position, player) {
    this.offer = offer;
    // Each entry: the position, who moves, and the move that led there.
    this.stands = [{ position: position ?? offer.start, player, move: null }];
    this.at = 0;
    // What was played in place of the turns after one: one level, without variations of its own.
    this.variations = [];
  }

  get stand() { return this.stands[this.at]; }
  get position() { return this.stand.position; }
  get player() { return this.stand.player; }

  /** Whether a cell of the position holds a piece. */
  has(cell) { return pieces(this.position)[cell] === "1"; }

  /** The legal moves, each a list of cells. */
  moves() {
    const held = pieces(this.position);
    return this.offer.moves.filter((move) => move.every((cell) => held[cell] === "1"));
  }

  /** The shortest legal move that takes both cells; null if there is none, or more than one. */
  between(from, to) {
    const through = this.moves().filter((move) => move.includes(from) && move.includes(to));
    const least = Math.min(...through.map((move) => move.length));
    const shortest = through.filter((move) => move.length === least);
    return shortest.length === 1 ? shortest[0] : null;
  }

  /** Moves, each with its cells, in classes of images of each other under the symmetries of the position. */
  classes(moves) {
    const held = pieces(this.position);
    const kept = this.offer.symmetries.filter((image) => image.every((to, cell) => held[to] === held[cell]));
    const name = (cells) => [...cells].sort((one, other) => one - other).join();
    const classes = new Map();
    for (const move of moves) {
      const images = kept.map((image) => name(move.cells.map((cell) => image[cell])));
      const first = images.find((image) => classes.has(image)) ?? name(move.cells);
      classes.set(first, [...(classes.get(first) ?? []), move]);
    }
    return [...classes.values()];
  }

  /** The position after a move. */
  after(move) {
    const held = pieces(this.position);
    move.forEach((cell) => { held[cell] = "0"; });
    return written(held, this.offer.start);
  }

  /** The name of a move, as the server and the terminal write it. */
  name(move) {
    const names = move.map((cell) => this.offer.cells[cell].name);
    if (names.length === 1) return names[0];
    const [first, last] = [move[0], move[move.length - 1]];
    const through = this.offer.moves.filter((other) => other.includes(first) && other.includes(last));
    const least = Math.min(...through.map((other) => other.length));
    const shortest = through.filter((other) => other.length === least);
    const isRun = shortest.length === 1 && least === move.length;
    return isRun ? `${names[0]}-${names[names.length - 1]}` : names.join(",");
  }

  /** Reads a move that a person typed; throws an error with the reason. */
  read(text) {
    const cellOf = (name) => {
      const cell = this.offer.cells.findIndex((one) => one.name === name.trim().toLowerCase());
      if (cell < 0) throw new Error(`no cell is named “${name.trim()}”`);
      if (!this.has(cell)) throw new Error(`there is no piece on ${name.trim()}`);
      return cell;
    };
    if (text.includes("-")) {
      const ends = text.split("-").map(cellOf);
      const move = ends.length === 2 ? this.between(...ends) : null;
      if (!move) throw new Error(`no move leads along ${text.trim()}`);
      return move;
    }
    const cells = text.split(/[\s,]+/).filter(Boolean).map(cellOf).sort((one, other) => one - other);
    const move = this.moves().find((one) => one.join() === cells.join());
    if (!move) throw new Error(cells.length ? `${text.trim()} is not a move` : "type a move, like d-f");
    return move;
  }

  play(move) { this.push({ position: this.after(move), player: 1 - this.player, move }); }
  set(position) { this.setUp(position, this.player); }

  swap() {
    if (this.stand.isSet) this.setUp(this.position, 1 - this.player);
    else this.push({ position: this.position, player: 1 - this.player, move: null });
  }

  /** Sets up a position and who moves; successive changes are one turn, as in the game's text. */
  setUp(position, player) {
    if (this.stand.isSet) this.stands.splice(this.at--);
    this.push({ position, player, move: null, isSet: true });
  }

  push(stand) {
    const next = this.stands[this.at + 1];
    if (next?.position !== stand.position || next.player !== stand.player) {
      this.branch();
      this.stands.push(stand);
    }
    this.at += 1;
  }

  /** Makes the turns after this one a variation. */
  branch() {
    const stands = this.stands.splice(this.at + 1);
    this.variations = this.variations.filter((one) => one.from <= this.at);
    if (stands.length > 0) this.variations.push({ from: this.at, stands });
  }

  /** Takes a variation in place of what followed there, which becomes one. */
  enter(variation) {
    this.at = variation.from;
    this.variations = this.variations.filter((one) => one !== variation);
    this.branch();
    this.stands.push(...variation.stands);
    this.at += 1;
  }

  /** Goes back to the last stand in which one of these players moves. */
  undo(players) {
    const earlier = this.stands.slice(0, this.at).findLastIndex((stand) => players.includes(stand.player));
    if (earlier >= 0) this.at = earlier;
    return earlier >= 0;
  }

  redo(players) {
    const later = this.stands.findIndex((stand, index) => index > this.at && players.includes(stand.player));
    const next = later >= 0 ? later : this.stands.length - 1;
    const moved = next > this.at;
    this.at = next;
    return moved;
  }

  /** Who has won; null if a move is left. */
  winner() {
    if (this.moves().length > 0) return null;
    return this.offer.rule === "misere" ? this.player : 1 - this.player;
  }

  /** The position with one cell filled or emptied. */
  toggled(cell) {
    const held = pieces(this.position);
    held[cell] = held[cell] === "1" ? "0" : "1";
    return written(held, this.offer.start);
  }
}

/** The cells of a position in rows, as characters. */
function pieces(rows) { return [...rows.replaceAll("/", "")]; }

/** Cells in the rows of the full board. */
function written(held, start) {
  let cell = 0;
  return start.replace(/[01]/g, () => held[cell++]);
}

/** How many pieces a position has. */
export function count(rows) { return rows.replace(/[^1]/g, "").length; }

/** Whether a text is a position of the offered board, in rows. */
export function isPosition(text, offer) {
  return typeof text === "string" && text.replace(/[01]/g, "1") === offer.start;
}
