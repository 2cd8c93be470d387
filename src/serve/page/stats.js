// Statistics of a board: how often the player to move is lost, first moves that win, and the counts.

import { $, element, made, sketch, write } from "./board.js";
import { Game, aboutOf, inMoves, pieces, shown } from "./game.js";
import { classesOf } from "./story.js";
import { ask, epoch } from "./table.js";

const number = new Intl.NumberFormat("en");
/** From this many bars on no figures stand above them. */
const MANY = 30;
const [LEFT, TOP] = [56, 24];
/** Where the style has two columns. */
const columns = matchMedia("(min-width: 900px), (max-height: 500px) and (min-width: 740px)");
const share = (one) => (one.positions ? one.losses / one.positions : 0);
const percent = (one) => `${(100 * share(one)).toFixed(1)} %`;

/** What a move takes, and where, if that is on an edge of a triangle. */
function taken({ board, moves }, cells) {
  const edge = moves.find((move) => board === `triangle:${move.length}` && cells.every((cell) => move.includes(cell)));
  if (edge?.length === cells.length) return "a whole edge";
  return edge && cells.length > 1 ? `${edge.indexOf(cells[0]) + 1} to ${edge.indexOf(cells.at(-1)) + 1} of an edge` : pieces(cells.length);
}

/** Shows the statistics of a board. */
export async function open(offer) {
  const asked = epoch;
  // Beside the column; on phones within it, between the choice of the board and the table.
  if (columns.matches) $("column").before($("figures")); else $("b-settings").after($("figures"));
  const [found, start] = await Promise.all([
    ask("v1/stats", aboutOf(offer)), ask("v1/position", { ...aboutOf(offer), p: offer.start }).catch(() => null),
  ]);
  if (asked !== epoch) return;
  window.onresize = () => $("main").dataset.state === "statistics" && open(offer);
  const game = new Game(offer);
  const kinds = classesOf(game, found.winning_first_moves.map((cells) => ({ cells })));
  const cards = kinds.map((alike) => [alike.at(-1).cells, alike.length]).map(([cells, images]) => element("div", { className: "card" },
    sketch(offer, offer.start, [["win", cells]], shown(game, cells)),
    element("p", {}, element("b", { textContent: shown(game, cells) }), element("br"), taken(offer, cells), element("br"),
      element("small", { textContent: images > 1 ? `${images} alike` : "" }))));
  $("figures").replaceChildren(
    element("section", { className: "chart" }, element("h1", { textContent: "How often the player to move loses" }),
      element("p", { className: "soft", id: "told", textContent: "Percent of all positions with that many pieces." }), chart(found.by_pieces)),
    element("section", { className: "kinds" },
      element("h2", { textContent: `First moves that win: ${found.winning_first_moves.length} of ${found.first_moves}` }),
      element("div", { className: "cards" }, ...cards)),
  );
  const facts = [["Positions", number.format(found.positions)], ["Lost positions", number.format(found.losses)], ["Share", percent(found)],
    ["The start", start ? `${found.start === "win" ? "won" : "lost"}${inMoves(start.distance)}` : found.start]].filter(([, text]) => text);
  $("b-counts").replaceChildren(
    element("dl", {}, ...facts.map(([name, textContent]) => element("div", { className: "row" }, element("dt", {}, name), element("dd", { textContent })))),
    table(found.by_pieces),
  );
}

function table(rows) {
  const line = (kind, texts) => element("tr", {}, ...texts.map((textContent) => element(kind, { textContent })));
  const head = line("th", ["Pieces", "Positions", "Lost", "Share"]);
  for (const one of head.children) one.scope = "col";
  const body = rows.map((one) => line("td", [one.pieces, number.format(one.positions), number.format(one.losses), percent(one)]));
  return element("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: "Table" }, element("table", { id: "counts", className: rows.length > MANY ? "long" : "" },
    element("caption", { className: "spoken", textContent: "Lost positions by number of pieces" }),
    element("thead", {}, head), element("tbody", {}, ...body)));
}

function chart(rows) {
  const WIDTH = Math.max(240, $("figures").clientWidth - 42);
  const HEIGHT = Math.max(250, Math.round(WIDTH * 0.58));
  const BASE = HEIGHT - 44;
  const svg = made("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Share of lost positions by number of pieces; the table has the figures" });
  for (const part of [0, 25, 50, 75, 100]) {
    const y = BASE - ((BASE - TOP) * part) / 100;
    made("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y }, svg);
    write(`${part} %`, LEFT - 8, y + 5, svg, "axis");
  }
  const step = (WIDTH - LEFT) / rows.length;
  const every = Math.ceil((25 * rows.length) / WIDTH);
  rows.forEach((one, index) => {
    const [x, height] = [LEFT + index * step, (BASE - TOP) * share(one)];
    const group = made("g", {}, svg);
    made("rect", { x, y: TOP, width: step, height: BASE - TOP, class: "hit" }, group);
    made("rect", { x: x + 0.15 * step, y: BASE - height, width: 0.7 * step, height, rx: 2 }, group);
    if (index % every === 0) write(one.pieces, x + step / 2, BASE + 20, group);
    if (WIDTH > 700 && rows.length < MANY) write(Number((100 * share(one)).toPrecision(2)), x + step / 2, BASE - height - 6, group);
    group.addEventListener("pointerenter", () => {
      $("told").textContent = `${pieces(one.pieces)}: ${percent(one)} of ${number.format(one.positions)} positions are lost.`;
    });
  });
  write("Pieces on the board", (LEFT + WIDTH) / 2, HEIGHT - 4, svg);
  return svg;
}
