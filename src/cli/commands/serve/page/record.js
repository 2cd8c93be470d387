// The game so far: its turns with marks and variations, and a graph of who wins after each.

const SVG = "http://www.w3.org/2000/svg";
/** Moves until the end from which on a bar is not shorter. */
const FAR = 40;

/** Shows the turns of a game. Calls `act.go(index)` and `act.enter(variation)`. */
export class RecordView {
  constructor(list, graph, act) {
    Object.assign(this, { list, graph, act });
  }

  button(text, act, parent) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    parent.append(button);
    return button;
  }

  /** Lists all turns, also those that were taken back; `words(before, after)` names one. */
  show(game, words) {
    const hadFocus = this.list.contains(document.activeElement);
    this.items = game.stands.map((stand, index) => {
      const item = document.createElement("li");
      const text = index ? words(game.stands[index - 1], stand) : "start";
      const button = this.button(text, () => this.act.go(index), item);
      item.value = index;
      item.classList.toggle("played", index > 0);
      item.classList.toggle("later", index > game.at);
      if (index === game.at) button.setAttribute("aria-current", "step");
      for (const variation of game.variations.filter((one) => one.from === index - 1)) {
        const turns = variation.stands.map((one) => (one.move ? game.name(one.move) : "…")).join(" ");
        this.button(`instead: ${turns}`, () => this.act.enter(variation), item).className = "variation";
      }
      return item;
    });
    this.list.replaceChildren(...this.items);
    const now = this.items[game.at].firstChild;
    if (hadFocus) now.focus();
    // The list scrolls, the page does not.
    this.list.scrollTop = this.items[game.at].offsetTop - this.list.clientHeight / 2;
  }

  /** Marks a turn as a mistake. */
  mark(index, text) {
    const mark = document.createElement("span");
    mark.className = "loss";
    mark.textContent = ` ${text}`;
    this.items[index].querySelector("button").after(mark);
  }

  /** Draws what is known of each position: up where player 0 wins, longer the sooner the game ends. */
  draw(game, values, names) {
    this.graph.replaceChildren();
    this.graph.setAttribute("viewBox", `0 -1.1 ${Math.max(game.stands.length, 12)} 2.2`);
    const winners = values.map((found, index) => {
      if (!found) return "not known";
      const winner = found.value === "win" ? game.stands[index].player : 1 - game.stands[index].player;
      const length = 1 - 0.8 * Math.min(found.distance ?? 0, FAR) / FAR;
      const bar = document.createElementNS(SVG, "rect");
      const [y, kind] = winner === 0 ? [-length, "up"] : [0, "down"];
      for (const [key, value] of Object.entries({ x: index + 0.1, y, width: 0.8, height: length })) {
        bar.setAttribute(key, value);
      }
      bar.setAttribute("class", index === game.at ? `${kind} now` : kind);
      bar.addEventListener("click", () => this.act.go(index));
      this.graph.append(bar);
      return names[winner];
    });
    this.graph.setAttribute("aria-label", `Who wins, from the start on: ${winners.join(", ")}`);
  }
}
