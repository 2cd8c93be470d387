// The board as SVG: cells that are dragged over, tapped, or reached by keys.

const SVG = "http://www.w3.org/2000/svg";
/** Radii in cells: of a piece, of a hole, of marks around pieces and holes. */
const [PIECE, HOLE, AROUND, LAST] = [0.37, 0.27, 0.455, 0.41];
/** How far a pointer goes before it drags, and may be from a cell, in cells. */
const [SLACK, NEAR] = [0.3, 0.62];
/** How long the next character belongs to the same name, in ms. */
const TYPING = 1000;

export function made(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

export const $ = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const found = Object.assign(document.createElement(name), properties);
  found.append(...children);
  return found;
}

export function icon(name) {
  const found = made("svg", { class: "icon", "aria-hidden": "true" });
  made("use", { href: `#i-${name}` }, found);
  return found;
}

export const key = (kind, text) => element("span", {}, element("i", { className: kind }), text);

export function button(text, act, properties = {}, sign = null) {
  const found = element("button", { type: "button", ...properties }, ...(sign ? [icon(sign)] : []), text);
  found.addEventListener("click", () => act(found));
  return found;
}

/** The letter, digit or name of a key, also on a keyboard of another script. */
export const keyOf = (event) => (/^[^\0-\x7f]$/.test(event.key) && event.code.match(/^(?:Key|Digit)(.)$/)?.[1] || event.key).toLowerCase();
export const write = (words, x, y, parent, kind = "") => { made("text", { x, y, class: kind }, parent).textContent = words; };
/** The largest coordinates of cells; the least are 0. */
export const extent = (offer) => ["x", "y"].map((axis) => Math.max(...offer.cells.map((cell) => cell[axis])));
const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/** The two cells of a move that are farthest apart. */
function endsOf(move, cells) {
  const span = ([one, other]) => distance(cells[one], cells[other]);
  const pairs = move.flatMap((one) => move.map((other) => [one, other]));
  return pairs.reduce((best, pair) => (span(pair) > span(best) ? pair : best));
}

/** A capsule around the cells of a move; a circle around each if they are not in one line. */
export function capsule(move, cells, radius, kind, parent) {
  const [from, to] = endsOf(move, cells).map((cell) => cells[cell]);
  const [dx, dy, far] = [to.x - from.x, to.y - from.y, distance(from, to)];
  const isOff = (cell) => Math.abs((cell.x - from.x) * dy - (cell.y - from.y) * dx) > 0.1 * far;
  if (move.some((cell) => isOff(cells[cell]))) { return move.map((cell) => capsule([cell], cells, radius, kind, parent))[0]; }
  const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
  return made("rect", {
    class: `mark ${kind}`, x: -radius, y: -radius, width: far + 2 * radius, height: 2 * radius, rx: radius,
    transform: `translate(${from.x} ${from.y}) rotate(${angle.toFixed(2)})`,
  }, parent);
}

/** The lines between neighbours, as moves of two pieces have them. */
function mesh(offer, parent) {
  const lines = made("g", { class: "mesh", "aria-hidden": "true" }, parent);
  for (const [one, other] of offer.moves.filter((move) => move.length === 2)) {
    const [a, b] = [offer.cells[one], offer.cells[other]];
    made("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y }, lines);
  }
}

/** A small picture of a position with marked moves, each with its kind. */
export function sketch(offer, position, marks, label) {
  const { cells } = offer;
  const [right, bottom] = extent(offer);
  const box = [-0.55, -0.55, right + 1.1, bottom + 1.1].map((length) => length.toFixed(2)).join(" ");
  const svg = made("svg", { viewBox: box, class: "sketch", role: "img", "aria-label": label });
  mesh(offer, svg);
  for (const [kind, move] of marks) capsule(move, cells, AROUND, kind, svg);
  [...position.replaceAll("/", "")].forEach((held, index) => {
    const [r, kind] = held === "1" ? [PIECE, "piece"] : [HOLE, "empty"];
    made("circle", { cx: cells[index].x, cy: cells[index].y, r, class: kind }, svg);
  });
  return svg;
}

export function pictures() {
  const cards = [
    ["✓", "One line", "1/11/111", "win", [[3, 4, 5]]],
    ["✕", "A gap", "1/11/101", "wrong", [[3, 4, 5]]],
    ["✕", "A corner", "1/11/111", "wrong", [[1, 3], [3, 4]]],
  ];
  return cards.map(([sign, text, position, kind, marks]) => {
    const card = document.createElement("div");
    card.append(sketch(THREE_ROWS, position, marks.map((move) => [kind, move]), text), `${sign} ${text}`);
    return card;
  });
}

/** What these pictures need of three rows, which the server need not offer. */
const THREE_ROWS = {
  cells: [[1, 0], [0.5, 0.866], [1.5, 0.866], [0, 1.732], [1, 1.732], [2, 1.732]].map(([x, y]) => ({ x, y })),
  moves: [[0, 1], [0, 2], [1, 2], [1, 3], [1, 4], [2, 4], [2, 5], [3, 4], [4, 5]],
};

/** Draws a board. Calls `take(move)`, `choice(move or null)`, `toggle(cell)`, `refuse(from, to)` of `act`. */
export class BoardView {
  constructor(stage, svg) {
    Object.assign(this, { stage, svg, act: {}, editing: false, locked: false, from: null, drag: null, typed: "" });
    // On the stage: with listeners on the SVG, Chromium makes that a stop of the Tab key.
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.up(event));
    stage.addEventListener("pointercancel", () => this.cancel());
    stage.addEventListener("keydown", (event) => this.key(event));
    stage.addEventListener("focusin", (event) => this.focused(event));
  }

  layOut(offer) {
    if (this.offer === offer) return;
    this.offer = offer;
    const { cells } = offer;
    const [right, bottom] = extent(offer);
    // Small boards are no larger than those of five cells, in the middle.
    const [width, height] = [Math.max(right, 4) + 1.06, bottom + 1.06];
    const [left, top] = [(right - width) / 2, (bottom - height) / 2];
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", [left, top, width, height].map((length) => length.toFixed(3)).join(" "));
    this.svg.setAttribute("class", cells.length > 21 ? "many" : "");
    // Words stand in the upper left corner if no cell does.
    const isThere = (cell) => (cell.x - left) / width < 0.36 && (cell.y - top) / height < 0.25;
    this.stage.classList.toggle("crowded", cells.some(isThere));
    mesh(offer, this.svg);
    [this.marks, this.chosen] = [0, 1].map(() => made("g", { "aria-hidden": "true" }, this.svg));
    this.cells = cells.map(({ x, y, name }, index) => {
      const group = made("g", { class: "cell", role: "button", tabindex: index ? "-1" : "0", "data-cell": index }, this.svg);
      made("circle", { cx: x, cy: y, r: AROUND, class: "ring" }, group);
      made("circle", { cx: x, cy: y, r: PIECE, class: "disc" }, group);
      made("text", { x, y, "aria-hidden": "true" }, group).textContent = name;
      return group;
    });
    this.picture = made("g", { class: "picture", "aria-hidden": "true" }, this.svg);
    this.from = null;
  }

  update(game) {
    this.game = game;
    this.picture.replaceChildren();
    this.svg.classList.remove("painted");
    this.cells.forEach((group, cell) => {
      const has = game.has(cell);
      group.classList.toggle("piece", has);
      group.classList.toggle("empty", !has);
      group.querySelector(".disc").setAttribute("r", has ? PIECE : HOLE);
      group.setAttribute("aria-label", `${game.offer.cells[cell].name}, ${has ? "piece" : "empty"}`);
      group.setAttribute("aria-disabled", String(!this.isFree(cell)));
    });
    this.drag = null;
    this.choose(null);
    // The way in by the Tab key is a piece, if there is one; so is the cell in focus.
    const way = this.cells.findIndex((group) => group.getAttribute("tabindex") === "0");
    if (this.editing || game.has(way)) return;
    const near = this.nearest(game.offer.cells[way], (cell) => game.has(cell)) ?? way;
    if (this.cells[way] === document.activeElement) this.cells[near].focus({ preventScroll: true });
    this.enter(near);
  }

  /** The cell nearest to a point of those that fit; undefined if none does. */
  nearest(point, fits) {
    const { cells } = this.offer;
    return [...cells.keys()].filter(fits).sort((one, other) => distance(cells[one], point) - distance(cells[other], point))[0];
  }

  enter(cell) { this.cells.forEach((group, index) => group.setAttribute("tabindex", index === cell ? "0" : "-1")); }

  /** Draws marks around moves: pairs of a kind and the cells. */
  mark(marks) {
    this.marks.replaceChildren();
    for (const [kind, move] of marks) capsule(move, this.offer.cells, kind === "last" ? LAST : AROUND, kind, this.marks);
  }

  choose(from) {
    this.from = from;
    this.cells.forEach((group, cell) => group.setAttribute("aria-pressed", String(cell === from)));
    this.show(from === null ? null : [from]);
  }

  show(move) {
    if (this.shown?.join() === move?.join()) return;
    this.shown = move;
    this.chosen.replaceChildren();
    if (move) capsule(move, this.offer.cells, AROUND, "choice", this.chosen);
    this.act.choice(move);
  }

  point(event) { return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse()); }

  cellAt(event) { const point = this.point(event); return this.nearest(point, (cell) => distance(this.offer.cells[cell], point) < NEAR) ?? null; }

  isFree(cell) { return cell !== null && !this.locked && (this.editing || this.game.has(cell)); }

  down(event) {
    if (event.button > 0 || event.target.closest("a, button")) return;
    if (this.drag) return this.cancel();
    const cell = this.cellAt(event);
    if (!this.isFree(cell)) return this.choose(null);
    event.preventDefault();
    this.stage.setPointerCapture(event.pointerId);
    this.drag = { id: event.pointerId, cell, from: this.from, begun: this.point(event), moved: false, move: null };
    this.cells[cell].focus({ preventScroll: true });
    if (!this.editing && this.from === null) this.choose(cell);
  }

  move(event) {
    if (this.editing || (this.drag && this.drag.id !== event.pointerId)) return;
    if (!this.drag) {
      if (this.from === null || event.pointerType === "touch") return;
      const over = this.cellAt(event);
      return this.show((over !== null && this.game.between(this.from, over)) || [this.from]);
    }
    const { drag } = this;
    const point = this.point(event);
    if (!drag.moved && distance(point, drag.begun) < SLACK) return;
    if (!drag.moved) this.choose(drag.cell);
    drag.moved = true;
    drag.move = this.along(drag.cell, point);
    this.show(drag.move ?? [drag.cell]);
  }

  /** The move from a cell in the offered direction nearest to a point, up to there or to a gap. */
  along(cell, point) {
    const { cells, moves } = this.offer;
    const from = cells[cell];
    const runs = moves.filter((move) => move.length > 1 && move.includes(cell)).flatMap((move) => {
      const ends = endsOf(move, cells);
      if (!ends.includes(cell)) return [];
      const to = cells[ends[0] === cell ? ends[1] : ends[0]];
      const reach = distance(from, to);
      return [{ move, reach, far: ((point.x - from.x) * (to.x - from.x) + (point.y - from.y) * (to.y - from.y)) / reach }];
    });
    const far = Math.max(0, ...runs.map((run) => run.far));
    if (far < 0.5 || far < 0.5 * distance(point, from)) return null;
    const legal = runs.filter((run) => run.far > far - 1e-6 && run.move.every((one) => this.game.has(one)));
    legal.sort((one, other) => one.reach - other.reach || one.move.length - other.move.length);
    return (legal.findLast((run) => run.reach < far + 0.5) ?? legal[0])?.move ?? null;
  }

  up(event) {
    const { drag } = this;
    if (drag?.id !== event.pointerId) return;
    this.drag = null;
    if (this.editing) return this.cellAt(event) === drag.cell && this.act.toggle(drag.cell);
    if (!drag.moved) return drag.from !== null && this.finish(drag.cell);
    if (drag.move) this.act.take(drag.move); else this.choose(null);
  }

  cancel() { this.drag = null; this.choose(null); }

  /** Takes the pieces up to this cell, or chooses it in place of the first one. */
  finish(cell) {
    const move = this.game.between(this.from, cell);
    if (move) return this.act.take(move);
    const { from } = this;
    this.choose(this.isFree(cell) && cell !== from ? cell : null);
    this.act.refuse(from, cell);
  }

  activate(cell) {
    if (!this.isFree(cell)) return;
    if (this.editing) this.act.toggle(cell);
    else if (this.from === null) this.choose(cell);
    else this.finish(cell);
  }

  focused(event) {
    const cell = Number(event.target.dataset.cell ?? NaN);
    if (Number.isNaN(cell)) return;
    this.enter(cell);
    if (!this.drag && this.from !== null && !this.editing) this.show(this.game.between(this.from, cell) ?? [this.from]);
  }

  key(event) {
    const cell = Number(event.target.dataset.cell ?? NaN);
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (Number.isNaN(cell) || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = keyOf(event);
    if (event.key === "Enter" || event.key === " ") this.activate(cell);
    else if (event.key === "Escape") this.cancel();
    else if (steps[event.key]) this.cells[this.neighbour(cell, steps[event.key])].focus();
    else if (!/^[a-z0-9]$/.test(key) || !this.type(key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Goes to the cell whose name is typed, one character after another; whether there is one. */
  type(character) {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => { this.typed = ""; }, TYPING);
    const begins = (text) => this.offer.cells.some((cell) => cell.name.startsWith(text));
    this.typed = begins(this.typed + character) ? this.typed + character : character;
    this.cells[this.offer.cells.findIndex((cell) => cell.name === this.typed)]?.focus();
    return begins(this.typed);
  }

  /** The nearest piece in a direction, any cell while editing; the cell itself if there is none. */
  neighbour(cell, [dx, dy]) {
    const { cells } = this.offer;
    const costs = cells.map((other, index) => {
      const [x, y] = [other.x - cells[cell].x, other.y - cells[cell].y];
      const [along, across] = [x * dx + y * dy, Math.abs(x * dy) + Math.abs(y * dx)];
      const isFit = (this.editing || this.game.has(index)) && along > 0.01 && across <= 2 * along;
      return isFit ? along + 2 * across : Infinity;
    });
    const least = Math.min(...costs);
    return least < Infinity ? costs.indexOf(least) : cell;
  }
}
