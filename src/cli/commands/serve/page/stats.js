// Statistics of a board: how often the player to move is lost, first moves that win, and the counts.

import { ask } from "./api.js";
import { made, sketch } from "./board.js";
import { Game } from "./game.js";
import { element, inMoves, pieces, rowsOf, ruleOf, shown } from "./record.js";

const number = new Intl.NumberFormat("en");
/** From this many bars on no figures stand above them. */
const MANY = 30;
const [LEFT, TOP] = [56, 24];

const share = (one) => (one.positions ? one.losses / one.positions : 0);
const percent = (one) => `${(100 * share(one)).toFixed(1)} %`;

/** Fills a box with the statistics of a board; `choose(board, rule)` shows another one. */
export async function statistics(box, offers, offer, choose) {
  const { board, rule } = offer;
  box.replaceChildren(element("p", { className: "soft", role: "status", textContent: "…" }));
  const [found, start] = await Promise.all([
    ask("v1/stats", { board, rule }), ask("v1/position", { board, rule, p: offer.start }).catch(() => null),
  ]);
  const select = (label, options, value, act) => {
    const one = element("select", { ariaLabel: label }, ...options.map(([text, key]) => new Option(text, key)));
    one.value = value;
    one.addEventListener("change", () => act(one.value));
    return one;
  };
  const boards = [...new Set(offers.map((one) => one.board))].map((one) => [rowsOf(one), one]);
  const rules = offers.filter((one) => one.board === board).map((one) => [ruleOf(one).replace("l", "L"), one.rule]);
  const ruleFor = (other) => (offers.some((one) => one.board === other && one.rule === rule) ? rule : offers.find((one) => one.board === other).rule);
  const fact = (name, text) => element("div", { className: "row" }, element("dt", { textContent: name }), element("dd", { textContent: text }));
  const kinds = new Game(offer).classes(found.winning_first_moves.map((cells) => ({ cells })));
  const first = found.winning_first_moves.length;
  box.replaceChildren(
    element("div", { className: "bar choice" }, select("Board", boards, board, (other) => choose(other, ruleFor(other))),
      select("Rule", rules, rule, (other) => choose(board, other))),
    element("section", { className: "chart" }, element("h1", { textContent: "How often the player to move is lost" }),
      element("p", { className: "soft", id: "told", textContent: "Percent of all positions with so many pieces." }), chart(found.by_pieces)),
    element("section", { className: "kinds" }, element("h2", { textContent: `First moves that win: ${first} of ${found.first_moves}` }),
      element("div", { className: "cards" }, ...kinds.map(([move, ...alike]) => element("div", { className: "card" },
        sketch(offer, offer.start, [["win", move.cells]], shown(new Game(offer), move.cells)),
        element("p", {}, element("b", { textContent: shown(new Game(offer), move.cells) }), element("br"), pieces(move.cells.length),
          element("br"), element("small", { textContent: alike.length ? `${alike.length + 1} alike` : "" })))))),
    element("section", { className: "counts" },
      element("dl", {}, fact("Positions", number.format(found.positions)), fact("Lost positions", number.format(found.losses)),
        fact("Share", percent(found)), fact("The start", start ? `${found.start === "win" ? "won" : "lost"}${inMoves(start.distance)}` : found.start),
        ...(found.puzzles === null ? [] : [fact("One winning move", number.format(found.puzzles))])),
      table(found.by_pieces)),
  );
}

function table(rows) {
  const line = (kind, texts) => element("tr", {}, ...texts.map((text) => Object.assign(element(kind, { textContent: text }), kind === "th" ? { scope: "col" } : {})));
  return element("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: "Table" }, element("table", { id: "counts" },
    element("caption", { className: "spoken", textContent: "Lost positions by number of pieces" }),
    element("thead", {}, line("th", ["Pieces", "Positions", "Lost", "Share"])),
    element("tbody", {}, ...rows.map((one) => line("td", [one.pieces, number.format(one.positions), number.format(one.losses), percent(one)])))));
}

function chart(rows) {
  const isWide = matchMedia("(min-width: 900px)").matches;
  const [WIDTH, HEIGHT, most] = isWide ? [754, 440, MANY] : [360, 290, 8];
  const BASE = HEIGHT - 44;
  const svg = made("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Share of lost positions by number of pieces; the table has the figures" });
  for (const part of [0, 25, 50, 75, 100]) {
    const y = BASE - ((BASE - TOP) * part) / 100;
    made("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y }, svg);
    made("text", { x: LEFT - 8, y: y + 5, class: "axis" }, svg).textContent = `${part} %`;
  }
  const step = (WIDTH - LEFT) / rows.length;
  const every = Math.ceil(rows.length / most);
  rows.forEach((one, index) => {
    const [x, height] = [LEFT + index * step, (BASE - TOP) * share(one)];
    const group = made("g", {}, svg);
    made("rect", { x, y: TOP, width: step, height: BASE - TOP, class: "hit" }, group);
    made("rect", { x: x + 0.15 * step, y: BASE - height, width: 0.7 * step, height, rx: 2 }, group);
    const text = (y, words) => { made("text", { x: x + step / 2, y }, group).textContent = words; };
    if (index % every === 0) text(BASE + 20, one.pieces);
    if (isWide && rows.length < MANY) text(BASE - height - 6, Number((100 * share(one)).toPrecision(2)));
    group.addEventListener("pointerenter", () => {
      document.getElementById("told").textContent = `${pieces(one.pieces)}: ${percent(one)} of ${number.format(one.positions)} positions are lost.`;
    });
  });
  made("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 4 }, svg).textContent = "Pieces on the board";
  return svg;
}
