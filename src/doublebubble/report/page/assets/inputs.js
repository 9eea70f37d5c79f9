// The table of inputs: sorted, filtered, a page of rows at a time, by mouse or by keyboard.

const ROWS = matchMedia("(max-width: 40rem)").matches ? 12 : 25;
const COLUMNS = [
  { key: "index", title: "input", value: (run, at) => run.index[at] },
  { key: "label", title: "label", value: (run, at) => run.label[at] ?? -2 },
  { key: "prediction", title: "predicted", value: (run, at) => run.prediction[at] },
  { key: "radius", title: "radius", value: (run, at) => run.radius[at] },
  ...(page.runs.some((run) => run.attacked)
    ? [{ key: "attacked", title: "attack", value: (run, at) => run.attacked?.[at]?.[0] ?? Infinity }]
    : []),
  { key: "plan", title: "plan", value: (run, at) => run.words[run.method[at]] },
  { key: "outcome", title: "outcome", value: (run, at) => outcomeOf(run, at) },
];
const DRAWN = "with a drawn picture";
const FILTERS = ["all", "correct", "wrong", "abstained", "failed", DRAWN];

function passes(run, at, filter) {
  if (filter === DRAWN) return run.index[at] in run.pictures;
  return filter === "all" || outcomeOf(run, at) === filter;
}

class Inputs {
  constructor(place) {
    this.state = { run: 0, key: "index", rising: true, filter: "all", first: 0, selected: null, focused: 0 };
    this.body = make("tbody", { onkeydown: (event) => this.key(event) });
    this.heads = COLUMNS.map((column) => this.head(column));
    this.detail = make("aside", { class: "detail card", tabindex: 0, "aria-label": "the selected input", "aria-live": "polite" });
    this.count = make("span", { class: "quiet", role: "status" });
    this.pager = ["first", "previous", "next", "last"].map((word) =>
      make("button", { type: "button", onclick: () => this.turn(word) }, word),
    );
    const picture = make("th", { scope: "col", class: "picture-column" }, make("span", { class: "unseen" }, "picture"));
    const head = make("thead", {}, make("tr", {}, picture, this.heads.map((one) => one.cell)));
    this.table = make("table", { class: "rows" }, head, this.body);
    const list = make("div", {}, this.controls(), this.table, make("div", { class: "pager" }, this.pager, this.count));
    place.append(list, this.detail);
    this.arrange();
    this.select(this.order[0], false);
  }

  get run() {
    return page.runs[this.state.run];
  }

  head(column) {
    const sort = () => this.sort(column.key);
    const button = make("button", { type: "button", onclick: sort }, column.title, make("span", { class: "arrow" }));
    return { key: column.key, cell: make("th", { scope: "col", class: `${column.key}-column` }, button) };
  }

  controls() {
    const runs = page.runs.map((run, number) => make("option", { value: number }, titled(run)));
    const choose = (event) => {
      Object.assign(this.state, { run: Number(event.target.value), selected: null });
      this.arrange();
      this.select(this.order[0], false);
    };
    const filter = (event) => {
      this.state.filter = event.target.value;
      this.arrange();
    };
    const seek = (event) => {
      event.preventDefault();
      this.seek(event.target.elements.wanted.value);
    };
    this.found = make("span", { class: "quiet", role: "status" });
    return make(
      "div",
      { class: "controls" },
      runs.length > 1 ? make("label", {}, "run ", make("select", { id: "inputs-run", onchange: choose }, runs)) : null,
      make("label", {}, "show ", make("select", { id: "inputs-filter", onchange: filter }, FILTERS.map((word) => make("option", {}, word)))),
      make(
        "form",
        { onsubmit: seek },
        make("label", {}, "input ", make("input", { name: "wanted", type: "number", min: 0, inputmode: "numeric" })),
        make("button", {}, "find"),
      ),
      this.found,
      mark(page.runs.length === 1 ? page.runs[0].mark : ""),
    );
  }

  // Puts the rows in order and shows the first of them.
  arrange() {
    const { filter, key, rising } = this.state;
    const run = this.run;
    const value = COLUMNS.find((column) => column.key === key).value;
    const keys = run.index.map((_, at) => value(run, at));
    const compare = (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0);
    this.order = [...run.index.keys()].filter((at) => passes(run, at, filter));
    this.order.sort((a, b) => (rising ? compare(a, b) : compare(b, a)) || a - b);
    Object.assign(this.state, { first: 0, focused: 0 });
    for (const head of this.heads) {
      const sorted = head.key === key ? (rising ? "ascending" : "descending") : "none";
      head.cell.setAttribute("aria-sort", sorted);
    }
    this.draw();
  }

  sort(key) {
    const again = this.state.key === key;
    Object.assign(this.state, { key, rising: again ? !this.state.rising : true });
    this.arrange();
  }

  draw() {
    const { first } = this.state;
    const rows = this.order.slice(first, first + ROWS).map((at, number) => this.row(at, first + number));
    const none = make("tr", {}, make("td", { colspan: COLUMNS.length + 1, class: "quiet" }, "no such input"));
    this.body.replaceChildren(...(rows.length ? rows : [none]));
    const last = Math.min(first + ROWS, this.order.length);
    this.count.textContent = this.order.length ? `${first + 1} to ${last} of ${this.order.length}` : "none";
    const [start, end] = [first === 0, last === this.order.length];
    this.pager.forEach((button, number) => (button.disabled = number < 2 ? start : end));
  }

  row(at, number) {
    const run = this.run;
    const outcome = outcomeOf(run, at);
    const chosen = at === this.state.selected;
    const choose = () => {
      this.state.focused = number;
      this.select(at, true);
    };
    const marked = run.words[run.marks[at]];
    const [label, predicted] = [className(run, run.label[at]), className(run, run.prediction[at])];
    const attacked = run.attacked?.[at]?.[0] ?? null;
    const attack = make("td", { class: "attacked-column" }, attacked === null ? "" : distanceText(attacked, 4));
    const named = { type: "button", tabindex: number === this.state.focused ? 0 : -1, "data-number": number };
    const cells = [
      make("td", { class: "picture-column" }, thumbnail(run, at, "")),
      make("td", { class: "index-column" }, make("button", named, String(run.index[at]))),
      make("td", { class: "label-column", title: label }, label),
      make("td", { class: "prediction-column", title: predicted }, predicted),
      make("td", { class: "radius-column" }, radiusText(run.radius[at], 4), mark(marked)),
      ...(COLUMNS.some((column) => column.key === "attacked") ? [attack] : []),
      make("td", { class: "plan-column" }, run.words[run.method[at]]),
      make("td", { class: "outcome-column" }, make("span", { class: outcome }, outcome)),
    ];
    return make("tr", { onclick: choose, "aria-current": chosen ? "true" : null }, cells);
  }

  select(at, follow) {
    this.state.selected = at ?? null;
    const shown = at === undefined ? [make("p", { class: "quiet" }, "no input selected")] : detail(this.run, at);
    this.detail.replaceChildren(...shown);
    for (const row of this.body.rows) {
      const button = row.querySelector("button");
      const chosen = button !== null && this.order[Number(button.dataset.number)] === at;
      if (chosen) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      if (button) button.tabIndex = Number(button.dataset.number) === this.state.focused ? 0 : -1;
    }
    const below = this.detail.getBoundingClientRect().top > innerHeight - 120;
    if (follow && below) this.detail.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
  }

  // Moves the focus to a row, turning the page if need be.
  focus(number) {
    const wanted = Math.max(0, Math.min(this.order.length - 1, number));
    const first = Math.floor(wanted / ROWS) * ROWS;
    this.state.focused = wanted;
    if (first !== this.state.first) {
      this.state.first = first;
      this.draw();
    }
    for (const button of this.body.querySelectorAll("button")) {
      button.tabIndex = Number(button.dataset.number) === wanted ? 0 : -1;
      if (button.tabIndex === 0) button.focus();
    }
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: ROWS, PageUp: -ROWS, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.focus(this.state.focused + steps[event.key]);
  }

  turn(word) {
    const last = Math.floor((this.order.length - 1) / ROWS) * ROWS;
    const { first } = this.state;
    this.state.first = { first: 0, previous: Math.max(0, first - ROWS), next: Math.min(last, first + ROWS), last }[word];
    this.state.focused = this.state.first;
    this.draw();
  }

  seek(text) {
    const at = this.order.find((one) => String(this.run.index[one]) === text.trim());
    this.found.textContent = at === undefined ? "not among those shown" : "";
    if (at === undefined) return;
    this.focus(this.order.indexOf(at));
    this.select(at, true);
  }
}
