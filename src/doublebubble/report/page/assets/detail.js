// All about one input: picture, outcome in words, votes, radii by method, plan.

const sheets = new Map();

// The sheet that holds a tile, decoded once and only when first looked at.
function sheetOf(gallery, number) {
  const key = `${gallery} ${number}`;
  if (!sheets.has(key)) {
    const image = new Image();
    image.src = page.thumbnails[gallery].sheets[number];
    sheets.set(key, image.decode().then(() => image));
  }
  return sheets.get(key);
}

// A canvas with the thumbnail of an input, or nothing where there is none.
function thumbnail(run, position, label) {
  const set = page.thumbnails[run.gallery];
  const tile = set ? firstAtLeast(set.indices, run.index[position]) : -1;
  if (!set || set.indices[tile] !== run.index[position]) return null;
  const canvas = make("canvas", { width: set.width, height: set.height, class: "thumbnail" });
  // Without words it stands beside them, and is not read out.
  for (const [name, value] of label ? [["role", "img"], ["aria-label", label]] : [["aria-hidden", "true"]])
    canvas.setAttribute(name, value);
  const place = tile % set.perSheet;
  const left = (place % set.columns) * set.width;
  const top = Math.floor(place / set.columns) * set.height;
  sheetOf(run.gallery, Math.floor(tile / set.perSheet)).then((sheet) => {
    canvas.getContext("2d").drawImage(sheet, left, top, set.width, set.height, 0, 0, set.width, set.height);
  });
  return canvas;
}

function outcomeOf(run, position) {
  if (run.failedSet.has(position)) return "failed";
  if (run.prediction[position] === ABSTAIN) return "abstained";
  if (run.label[position] === null) return "no label";
  return run.prediction[position] === run.label[position] ? "correct" : "wrong";
}

function bar(name, fraction, text, strong) {
  const fill = make("span", { class: "fill" });
  fill.style.width = `${(100 * fraction).toFixed(2)}%`;
  return make(
    "li",
    { class: strong ? "bar strong" : "bar" },
    make("span", { class: "bar-name" }, name),
    make("span", { class: "track", "aria-hidden": "true" }, fill),
    make("span", { class: "bar-value" }, text),
  );
}

function votesOf(run, position) {
  const votes = run.votes[position];
  const total = run.voted[position];
  if (!votes.length) return [];
  const bars = [];
  for (let place = 0; place < votes.length; place += 2) {
    const [label, count] = [votes[place], votes[place + 1]];
    const chosen = label === run.prediction[position];
    bars.push(bar(className(run, label), count / total, `${count} (${percent(count, total)})`, chosen));
  }
  const words = `${total} ${run.words[run.voters[position]]}`;
  return [make("h4", {}, "Votes"), make("p", { class: "quiet" }, words), make("ul", { class: "bars" }, bars)];
}

function radiiOf(run, position) {
  const known = run.methods.filter((method) => run.radii[method][position] !== null);
  if (!known.length) return [];
  const largest = Math.max(1, ...known.map((method) => run.radii[method][position]));
  const planned = run.words[run.method[position]];
  const bars = known.map((method) => {
    const radius = run.radii[method][position];
    return bar(method, radius / largest, radiusText(radius, 6), method === planned);
  });
  const words = run.mark === "not guaranteed"
    ? "each as published, the reported one is the largest"
    : "each holds by itself; the largest is no certificate, the reported one is that of the plan";
  const title = make("h4", {}, "Radius by method", mark(run.words[run.marks[position]]));
  return [title, make("p", { class: "quiet" }, words), make("ul", { class: "bars" }, bars)];
}

function planOf(run, position) {
  const parts = [];
  const method = run.words[run.method[position]];
  const reason = run.words[run.reason[position]];
  if (method || reason) parts.push(make("p", {}, method ? make("b", {}, method) : null, method ? ": " : "", reason));
  const balls = run.balls[position];
  if (balls.length) {
    const rows = balls.map(([own, radius, n, alpha]) =>
      make(
        "tr",
        {},
        make("td", {}, own ? "the input" : "another point"),
        make("td", {}, radiusText(radius, 6)),
        make("td", {}, String(n)),
        make("td", {}, String(alpha)),
      ),
    );
    const head = ["ball around", "radius", "draws", "alpha"].map((name) => make("th", { scope: "col" }, name));
    parts.push(make("table", { class: "balls" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)));
  }
  if (parts.length) parts.unshift(make("h4", {}, "Plan", mark(balls.length ? run.words[run.marks[position]] : "")));
  return parts;
}

function verdict(run, position) {
  const outcome = outcomeOf(run, position);
  const label = run.label[position] === null ? "no label" : `label ${className(run, run.label[position])}`;
  const named = run.prediction[position] === ABSTAIN ? "No class named" : `Predicted ${className(run, run.prediction[position])}`;
  const marked = run.words[run.marks[position]];
  const status = run.words[run.status[position]];
  const whole = run.wholeDomain.includes(position) ? " The whole domain gets this class." : "";
  const error = run.error[position];
  return [
    make("p", { class: "verdict" }, `${named}, ${label}: `, make("b", { class: outcome }, outcome), "."),
    make("p", { class: "radius" }, make("span", { class: "quiet" }, "radius "), radiusText(run.radius[position], 6), mark(marked)),
    make("p", {}, `${sentence(`${marked ? `${marked}: ` : ""}${status}`)}.${whole}`),
    error === undefined ? null : make("p", { class: "error" }, error),
    make("p", { class: "quiet" }, run.words[run.promise[position]]),
  ];
}

// What an attack found: the truth lies between the certified radius and its nearest success.
function attackOf(run, position) {
  const found = run.attacked?.[position];
  if (!found) return [];
  const [distance, rival, searched] = found;
  const title = make("h4", {}, "Attack");
  if (distance === null) {
    return [title, make("p", { class: "attack" }, `No other class was found as far as ${radiusText(searched, 6)}.`)];
  }
  const radius = run.radius[position];
  const [other, named] = [className(run, rival), className(run, run.prediction[position])];
  const where = `${other} is likelier than ${named} at distance ${distanceText(distance, 6)}`;
  const between = distance < radius
    ? ", inside the radius."
    : `: a gap of ${distanceText(distance - radius, 6)}, ${(distance / radius).toFixed(2)} times the radius.`;
  return [title, make("p", { class: "attack" }, sentence(where), between)];
}

// A picture that fills the window when it is pressed, until it is pressed again or Escape is.
function enlargeable(source, alt) {
  const open = () => {
    const dialog = make("dialog", { class: "large" }, make("img", { src: source, alt }));
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  const image = make("img", { src: source, class: "picture", alt });
  return make("button", { type: "button", class: "enlarge", title: "enlarge", onclick: open }, image);
}

function detail(run, position) {
  const index = run.index[position];
  const picture = run.pictures[index];
  const seconds = (run.milliseconds[position] / 1000).toFixed(3);
  const cost = run.draws[position] ? `${run.draws[position]} draws, ${seconds} s` : `${seconds} s`;
  const words = `Input ${index}, label ${className(run, run.label[position])}`;
  return [
    make("h3", {}, `Input ${index}`),
    make("div", { class: "opening" }, thumbnail(run, position, words), make("div", {}, verdict(run, position))),
    ...attackOf(run, position),
    ...votesOf(run, position),
    ...radiiOf(run, position),
    picture ? make("h4", {}, "Picture") : null,
    picture ? enlargeable(picture, `The plane through the balls of input ${index}`) : null,
    ...planOf(run, position),
    make("p", { class: "quiet" }, cost),
  ].filter((part) => part !== null);
}
