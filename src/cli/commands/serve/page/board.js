// The board as SVG: cells that are dragged over, clicked, or reached by the arrow keys.

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 0.41;

function made(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/** Draws a board. Calls `act.take(move)`, `act.preview(move or null)`, `act.toggle(cell)`, `act.refuse(from, to)`. */
export class BoardView {
  constructor(svg, act) {
    this.svg = svg;
    this.act = act;
    this.editing = false;
    this.locked = false;
    this.from = null;
    this.dragged = false;
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", (event) => this.up(event));
    svg.addEventListener("pointercancel", () => this.cancel());
    svg.addEventListener("pointerleave", () => { if (this.pointer === undefined) this.show(null); });
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focusin", (event) => this.focused(event));
  }

  /** Lays out the cells of a game's board. */
  layOut(game) {
    this.svg.replaceChildren();
    const { cells, moves } = game.offer;
    const [right, bottom] = [Math.max(...cells.map((cell) => cell.x)), Math.max(...cells.map((cell) => cell.y))];
    // Small boards are no larger than those of four layers, in the middle.
    const [width, height] = [Math.max(right, 3) + 1.2, Math.max(bottom, 2.6) + 1.2];
    const [left, top] = [(right - width) / 2, (bottom - height) / 2];
    this.svg.setAttribute("viewBox", [left, top, width, height].map((length) => length.toFixed(3)).join(" "));
    const lines = made("g", { class: "lines", "aria-hidden": "true" }, this.svg);
    for (const [one, other] of moves.filter((move) => move.length === 2)) {
      const [a, b] = [cells[one], cells[other]];
      made("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y }, lines);
    }
    this.cells = cells.map((cell, index) => {
      const tabindex = index ? "-1" : "0";
      const group = made("g", { class: "cell", role: "button", tabindex, "data-cell": index }, this.svg);
      made("circle", { cx: cell.x, cy: cell.y, r: RADIUS }, group);
      made("circle", { cx: cell.x, cy: cell.y + 0.28, r: 0.07, class: "dot" }, group);
      made("text", { x: cell.x, y: cell.y, "aria-hidden": "true" }, group).textContent = cell.name;
      return group;
    });
    this.from = null;
    this.update(game);
  }

  /** Shows the pieces of the game. */
  update(game) {
    this.game = game;
    const last = new Set(game.stand.move ?? []);
    this.cells.forEach((group, cell) => {
      const has = game.has(cell);
      const name = game.offer.cells[cell].name;
      group.classList.toggle("piece", has);
      group.classList.toggle("empty", !has);
      group.classList.toggle("last", last.has(cell));
      group.setAttribute("aria-label", `${name}, ${has ? "piece" : "empty"}`);
      group.setAttribute("aria-disabled", String(!this.editing && (this.locked || !has)));
    });
    // The way in by the Tab key is a piece, if there is one.
    const way = this.cells.find((group) => group.getAttribute("tabindex") === "0");
    if (!this.editing && way !== document.activeElement && !way.classList.contains("piece")) {
      this.enter(this.cells.find((group) => group.classList.contains("piece")) ?? way);
    }
    this.choose(null);
  }

  /** Makes this cell the one that the Tab key leads to. */
  enter(cell) { this.cells.forEach((group) => group.setAttribute("tabindex", group === cell ? "0" : "-1")); }

  /** Marks cells; each kind is a list of cells. */
  mark(kind, marked) {
    const all = new Set(marked);
    this.cells.forEach((group, cell) => group.classList.toggle(kind, all.has(cell)));
  }

  choose(from) {
    this.from = from;
    this.cells.forEach((group, cell) => group.setAttribute("aria-pressed", String(cell === from)));
    // Where the line may end: a dot.
    this.mark("end", from === null ? [] : [...this.cells.keys()].filter((cell) => this.game.between(from, cell)));
    this.show(from === null ? null : this.game.between(from, from) ?? [from]);
  }

  /** Shows a move that is about to be made. */
  show(move) {
    this.mark("chosen", move ?? (this.from === null ? [] : [this.from]));
    this.act.preview(move);
  }

  cellAt(event) {
    const group = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".cell");
    return group && this.svg.contains(group) ? Number(group.dataset.cell) : null;
  }

  isFree(cell) { return cell !== null && !this.locked && (this.editing || this.game.has(cell)); }

  down(event) {
    const cell = this.cellAt(event);
    if (event.button > 0 || !this.isFree(cell)) return;
    this.cells[cell].focus();
    event.preventDefault();
    this.pointer = event.pointerId;
    this.dragged = false;
    this.begun = cell;
    if (!this.editing && this.from === null) {
      this.fresh = true;
      this.choose(cell);
    } else {
      this.fresh = false;
    }
  }

  move(event) {
    const cell = this.cellAt(event);
    if (this.editing || this.from === null || cell === null) return;
    if (this.pointer === event.pointerId && cell !== this.begun) {
      // A drag begins where the pointer went down.
      if (!this.dragged && !this.fresh) this.choose(this.begun);
      this.dragged = true;
    }
    const move = this.game.has(cell) ? this.game.between(this.from, cell) : null;
    this.show(move ?? (this.pointer === undefined ? [this.from] : null));
  }

  up(event) {
    if (this.pointer !== event.pointerId) return;
    this.pointer = undefined;
    const cell = this.cellAt(event);
    if (this.editing) {
      if (cell === this.begun) this.act.toggle(cell);
    } else if (this.dragged) {
      this.finish(cell);
    } else if (!this.fresh) {
      this.finish(this.begun);
    }
  }

  cancel() {
    this.pointer = undefined;
    this.choose(null);
  }

  /** Takes the pieces up to this cell, or begins anew there. */
  finish(cell) {
    const move = cell !== null && this.game.has(cell) ? this.game.between(this.from, cell) : null;
    if (move) {
      this.act.take(move);
    } else {
      if (this.dragged && cell !== null) this.act.refuse(this.from, cell);
      this.choose(this.dragged || !this.isFree(cell) ? null : cell);
    }
  }

  activate(cell) {
    if (!this.isFree(cell)) return;
    if (this.editing) return this.act.toggle(cell);
    this.dragged = false;
    if (this.from === null) this.choose(cell); else this.finish(cell);
  }

  focused(event) {
    const cell = Number(event.target.closest?.(".cell")?.dataset.cell);
    if (Number.isNaN(cell)) return;
    this.enter(this.cells[cell]);
    if (this.pointer === undefined && this.from !== null && !this.editing) {
      this.show(this.game.has(cell) ? this.game.between(this.from, cell) : null);
    }
  }

  key(event) {
    const cell = Number(event.target.closest?.(".cell")?.dataset.cell);
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (Number.isNaN(cell) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      this.activate(cell);
    } else if (event.key === "Escape") {
      this.choose(null);
    } else if (steps[event.key]) {
      this.cells[this.neighbour(cell, steps[event.key])]?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The nearest cell in a direction; the cell itself if there is none. */
  neighbour(cell, [dx, dy]) {
    const { cells } = this.game.offer;
    let [best, least] = [cell, Infinity];
    cells.forEach((other, index) => {
      const [x, y] = [other.x - cells[cell].x, other.y - cells[cell].y];
      const along = x * dx + y * dy;
      const across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along > 0.01 && across <= along + 0.01 && along + 1.5 * across < least) {
        [best, least] = [index, along + 1.5 * across];
      }
    });
    return best;
  }
}
