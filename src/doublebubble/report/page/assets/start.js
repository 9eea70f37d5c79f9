// Puts the charts and the table where the page has a place for them.

for (const run of page.runs) run.failedSet = new Set(run.failed);

// The name of a run with its mark, for places that hold plain text only.
function titled(run) {
  return run.mark ? `${run.name} (${run.mark})` : run.name;
}

function curveSeries(run, curve, number, band) {
  return { name: curve.name, mark: run.mark, curve, n: run.n, colour: number, dash: dash(number), band };
}

function showRuns() {
  const series = page.runs.map((run, number) => ({
    ...curveSeries(run, run.curves[0], number, page.runs.length > 2 ? "18" : "2b"),
    name: run.name,
  }));
  new Chart(document.getElementById("curves"), "certified accuracy over radius, run by run").show(series, page.start);
}

function showMethods() {
  const place = document.getElementById("methods-chart");
  if (!place) return;
  const able = page.runs.filter((run) => run.methods.length > 1);
  const select = make("select", {}, able.map((run, number) => make("option", { value: number }, titled(run))));
  if (able.length > 1) place.append(make("label", { class: "controls" }, "run ", select));
  const chart = new Chart(place, "certified accuracy over radius, method by method");
  const show = () => {
    const run = able[Number(select.value || 0)];
    const series = run.curves.map((curve, number) => ({
      ...curveSeries(run, curve, number, number === 0 ? "2b" : ""),
      colour: curve.colour ?? 5,
      width: number === 0 ? 3.5 : 1.8,
    }));
    chart.show(series, page.start);
  };
  select.addEventListener("change", show);
  show();
}

// The pieces of the envelope that belong to one run, with gaps where another is better.
function envelopePoints(pieces, member, n) {
  const points = { x: [], y: [] };
  for (const piece of pieces.filter((one) => one.run === member)) {
    points.x.push(piece.after / 1e6, ...piece.radii.map((radius) => radius / 1e6), null);
    points.y.push(piece.certified[0] / n, ...piece.certified.map((count) => count / n), null);
  }
  return points;
}

function showEnvelopes() {
  page.envelopes.forEach((envelope, number) => {
    const members = envelope.runs.map((place, member) => {
      const run = page.runs[place];
      const curve = envelope.curves ? envelope.curves[member] : run.curves[0];
      return { ...curveSeries(run, curve, member, ""), n: envelope.n, name: envelope.names[member] };
    });
    const series = members.map((one, member) => {
      const points = envelopePoints(envelope.pieces, member, envelope.n);
      return { ...one, note: points.x.length ? "" : "(best nowhere)", points, dash: "solid", width: 4 };
    });
    const thin = members.map((one) => ({ ...one, dash: "dot", width: 1.2 }));
    new Chart(document.getElementById(`envelope-${number}`), "the best sigma by radius").show(series, page.start, thin);
  });
}

// Certified accuracy from below and attacked accuracy from above, run by run.
function showAttacks() {
  const place = document.getElementById("attacks-chart");
  if (!place) return;
  const series = page.runs.flatMap((run, number) => {
    if (!run.attackedCurve) return [];
    const certified = { ...curveSeries(run, run.curves[0], number, ""), name: `${run.name}, certified`, dash: "solid" };
    const curve = run.attackedCurve;
    const points = { x: curve.radii.map((radius) => radius / 1e6), y: curve.certified.map((count) => count / run.n) };
    return [certified, { ...certified, name: `${run.name}, attacked`, mark: "", curve, points, dash: "dash" }];
  });
  new Chart(place, "certified and attacked accuracy over radius").show(series, page.start);
}

showRuns();
showMethods();
showEnvelopes();
showAttacks();
new Inputs(document.getElementById("inputs-view"));
