// A chart of step curves with a legend of buttons that also reads out every curve at a chosen radius.

// Corners as Plotly draws them: up or down at a radius, then on to the next; down to 0 after the last.
function corners(curve, n) {
  const x = curve.radii.map((radius) => radius / 1e6);
  const y = curve.certified.map((count) => count / n);
  return { x: [...x, x[x.length - 1]], y: [...y, 0] };
}

function bandTraces(series, number) {
  const [low, high] = page.bands[series.n];
  const x = series.curve.radii.map((radius) => radius / 1e6);
  const edge = (limits) => series.curve.certified.map((count) => limits[count] / 1e4);
  const common = { x, mode: "lines", hoverinfo: "skip", showlegend: false, meta: number };
  const line = { width: 0, shape: "vh", color: colour(series.colour) };
  const fill = { fill: "tonexty", fillcolor: `${colour(series.colour)}${series.band}` };
  return [
    { ...common, name: "band low", y: edge(low), line },
    { ...common, name: "band high", y: edge(high), line, ...fill },
  ];
}

function lineTrace(series, number) {
  return {
    ...(series.points ?? corners(series.curve, series.n)),
    name: series.name,
    mode: "lines",
    hoverinfo: "skip",
    connectgaps: false,
    showlegend: false,
    meta: number,
    line: { shape: "vh", width: series.width ?? 2.2, color: colour(series.colour), dash: series.dash },
  };
}

function layout() {
  const text = cssValue("--text");
  const axis = { gridcolor: cssValue("--line"), zerolinecolor: cssValue("--line"), linecolor: cssValue("--line") };
  return {
    height: 360,
    margin: { l: 52, r: 12, t: 8, b: 44 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, color: text, size: 13 },
    xaxis: { ...axis, title: { text: "radius (L2, in units of the input)" }, rangemode: "tozero" },
    yaxis: { ...axis, title: { text: "certified accuracy" }, tickformat: ".0%", range: [0, 1.02] },
    hovermode: false,
    dragmode: matchMedia("(pointer: fine)").matches ? "zoom" : false,
  };
}

class Chart {
  // series: {name, note, mark, curve, n, colour, dash, band, width, points}; `curve` is read out, `points` drawn
  // if given, `band` is how opaque its band is in two hexadecimal digits, or nothing.
  constructor(place, label) {
    this.plot = make("div", { class: "plot", role: "img", "aria-label": label });
    this.line = make("div", { class: "reading-line", "aria-hidden": "true" });
    this.legend = make("ul", { class: "legend" });
    this.slider = make("input", { type: "range", min: 0, step: 0.01, "aria-label": "radius to read the curves at" });
    this.shown = make("output", {});
    this.slider.addEventListener("input", () => this.read());
    this.plot.addEventListener("pointermove", (event) => this.pick(event));
    this.plot.addEventListener("pointerdown", (event) => this.pick(event));
    const reading = make("label", { class: "reading" }, make("span", {}, "at radius"), this.slider, this.shown);
    place.append(make("div", { class: "frame" }, this.plot, this.line), reading, this.legend);
    dark.addEventListener("change", () => this.draw());
  }

  // `behind` are further curves, drawn below the others and without an entry in the legend.
  show(series, radius, behind = []) {
    this.series = series;
    this.behind = behind;
    this.hidden = new Set();
    const largest = Math.max(...series.map((one) => one.curve.radii[one.curve.radii.length - 1])) / 1e6;
    const step = [0.001, 0.005, 0.01, 0.05, 0.1].find((size) => largest / size <= 250) ?? 0.5;
    this.slider.step = step;
    this.slider.max = (Math.ceil(largest / step) * step).toFixed(3);
    this.slider.value = radius;
    this.entries = series.map((one, number) => this.entry(one, number));
    this.legend.replaceChildren(...this.entries.map((entry) => entry.item));
    this.draw();
    this.read();
  }

  entry(series, number) {
    const swatch = make("span", { class: `swatch ${series.dash ?? "solid"}`, "aria-hidden": "true" });
    swatch.style.setProperty("--swatch", colour(series.colour));
    const toggle = () => this.toggle(number);
    const button = make("button", { type: "button", "aria-pressed": "true", onclick: toggle }, swatch);
    button.append(make("span", { class: "series-name" }, series.name, series.note ? ` ${series.note}` : ""));
    const value = make("span", { class: "value" });
    return { button, value, item: make("li", {}, make("span", {}, button, mark(series.mark)), value) };
  }

  toggle(number) {
    if (!this.hidden.delete(number)) this.hidden.add(number);
    this.entries[number].button.setAttribute("aria-pressed", String(!this.hidden.has(number)));
    this.draw();
  }

  draw() {
    if (!this.series) return;
    const shown = this.series.flatMap((one, number) => {
      if (this.hidden.has(number)) return [];
      return [...(one.band ? bandTraces(one, number) : []), lineTrace(one, number)];
    });
    const traces = [...this.behind.map((one) => lineTrace(one, -1)), ...shown];
    const settings = { displayModeBar: false, responsive: true, doubleClick: "reset" };
    const first = !this.plot.layout;
    Plotly.react(this.plot, traces, layout(), settings);
    if (first) this.plot.on("plotly_afterplot", () => this.placeLine());
    this.placeLine();
  }

  read() {
    const radius = Number(this.slider.value);
    this.shown.textContent = radius.toFixed(3);
    this.series.forEach((one, number) => {
      const count = certifiedAt(one.curve, Math.round(radius * 1e6));
      this.entries[number].value.replaceChildren(
        make("b", {}, percent(count, one.n)),
        make("span", { class: "quiet" }, `${interval(count, one.n)}, ${count} of ${one.n}`),
      );
    });
    this.placeLine();
  }

  placeLine() {
    const axis = this.plot._fullLayout?.xaxis;
    if (!axis) return;
    const left = axis.d2p(Number(this.slider.value));
    this.line.hidden = left < 0 || left > axis._length;
    this.line.style.left = `${axis._offset + left}px`;
  }

  // Where the pointer is, there the curves are read.
  pick(event) {
    const axis = this.plot._fullLayout?.xaxis;
    if (!axis) return;
    const left = event.clientX - this.plot.getBoundingClientRect().left - axis._offset;
    if (left < 0 || left > axis._length) return;
    this.slider.value = axis.p2d(left);
    this.read();
  }
}
