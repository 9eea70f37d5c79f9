"""The page put together: one HTML file that holds its styles, scripts, data and pictures and asks for nothing else."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from doublebubble.errors import RunError, SettingError
from doublebubble.files import write_whole
from doublebubble.report.page import sections
from doublebubble.report.page.envelope import Group, choose, common_tables, comparable, envelope
from doublebubble.report.page.markup import Markup, data_block, element, joined
from doublebubble.report.page.media import fit_media
from doublebubble.report.page.run_view import Gallery, RunView, views
from doublebubble.report.page.script_data import curve_data, millionths, run_data
from doublebubble.report.page.steps import bands, steps
from doublebubble.report.radii import table_radii
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun

_SCRIPTS = ("tools.js", "chart.js", "detail.js", "inputs.js", "start.js")
LIMIT = 15_000_000
"""Bytes that the file keeps below unless its numbers alone take more."""
_SENTENCES = 5_000


def write_page(
    runs: Sequence[StoredRun],
    path: Path,
    galleries: Mapping[str, Gallery] | None = None,
    radii: Sequence[float] | None = None,
) -> None:
    """Write the page of some runs; a file that is there already is replaced, whole or not at all.

    `galleries` says by data digest what the inputs look like; without it the page has numbers for classes and no
    thumbnails. Pictures are those stored in the runs. `radii` are those that accuracy is stated at, else as `table_radii`
    chooses them.
    """
    content = page_text(runs, galleries or {}, radii).encode("utf-8", "replace")
    try:
        write_whole(path, content)
    except OSError as error:
        raise RunError(f"{path}: the page could not be written ({error})") from error


def page_text(runs: Sequence[StoredRun], galleries: Mapping[str, Gallery], radii: Sequence[float] | None = None) -> str:
    """The whole file: pictures and thumbnails take what the rest leaves below the limit, and the page says so."""
    if not runs:
        raise SettingError("report: expected at least one run")
    shown, chosen = views(runs), table_radii(runs, radii)
    used = {_digest(view): galleries[_digest(view)] for view in shown if _digest(view) in galleries}
    records = [{**run_data(view), "gallery": _digest(view)} for view in shown]
    content = _content(shown, used, chosen)
    size = len(_whole(shown, {**content, "runs": records}, (), chosen).encode("utf-8", "replace"))
    media = fit_media(runs, used, max(0, LIMIT - size - _SENTENCES))
    alone = (
        f"The numbers of these runs alone take {size / 1e6:.1f} MB, while such a file should have less than "
        f"{LIMIT / 1e6:.0f} MB: write a page about fewer runs for a smaller one."
    )
    filled = [{**run, "pictures": pictures} for run, pictures in zip(records, media.pictures, strict=True)]
    notes = (*([alone] if size > LIMIT - _SENTENCES else []), *media.notes)
    return _whole(shown, {**content, "runs": filled, "thumbnails": media.thumbnails}, notes, chosen)


def _whole(
    shown: Sequence[RunView], content: Mapping[str, object], notes: Sequence[str], radii: Sequence[float]
) -> str:
    from plotly.offline import get_plotlyjs

    plotly, script = get_plotlyjs(), _asset_scripts()
    body = joined(_header(shown), element("main", *_main(shown, notes, radii)), _footer())
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_policy(plotly, script)}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", _title(shown)),
        element("style", Markup(_asset("page.css"))),
    )
    data = data_block("page-data", content)
    scripts = joined(data, element("script", Markup(plotly)), element("script", Markup(script)))
    return f'<!doctype html>\n<html lang="en">{element("head", head)}{element("body", body, scripts)}</html>\n'


def _policy(*scripts: str) -> str:
    """Nothing is fetched, and no script runs but those named by their digest."""
    named = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {named}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _title(shown: Sequence[RunView]) -> str:
    data = dict.fromkeys(view.run.spec.dataset for view in shown if isinstance(view.run.spec, RunSpec))
    return f"Certified accuracy on {', '.join(data)}" if data else "Certified accuracy"


def _header(shown: Sequence[RunView]) -> Markup:
    lead = (
        "How far can an input be moved before the smoothed classifier may change its mind? An input counts as "
        "certified at a radius if it is classified correctly and no input nearer than that radius gets another class. "
        "Misclassified, abstained and failed inputs always count."
    )
    return element("header", element("h1", _title(shown)), element("p", lead, class_="lead"))


def _main(shown: Sequence[RunView], notes: Sequence[str], radii: Sequence[float]) -> list[Markup]:
    parts = [sections.answer(shown, radii)]
    note = (
        "Certified accuracy over radius, one step at every radius of a record. Bands: 95 % for the choice of inputs "
        "(Clopper-Pearson), at each radius by itself."
    )
    chart = element("div", class_="chart", id="curves")
    parts.append(sections.section("accuracy", "Certified accuracy over radius", element("p", note), chart))
    groups, apart = comparable([view.run for view in shown])
    if groups or apart:
        places = [_choice(shown, group, radii, number) for number, group in enumerate(groups)]
        reasons = [sections.apart([shown[i].name for i in several]) for several in apart]
        parts.append(sections.section("sigma", "Which sigma for which radius", *places, *reasons))
    if len(shown) > 1:
        parts.append(sections.section("comparison", "Runs compared", sections.comparison(shown)))
    if any(len(view.methods) > 1 for view in shown):
        parts.append(_methods())
    if any(view.attacks for view in shown):
        parts.append(sections.attacked(shown))
    inputs = element("div", id="inputs-view", class_="inputs")
    said = [element("p", " ".join(notes), class_="quiet")] if notes else []
    parts.append(sections.section("inputs", "Input by input", *said, inputs))
    parts.append(sections.section("making", "How the runs were made", *(sections.making(view) for view in shown)))
    return parts


def _methods() -> Markup:
    note = (
        "Under protocol sound each method's radius holds by itself; the largest of several is no certificate, which is "
        "why the reported radius is that of a plan fixed before the draws that certify. Under protocol paper none is "
        "guaranteed, and the largest is what the published procedure reports."
    )
    chart = element("div", class_="chart", id="methods-chart")
    return sections.section("methods", "Method by method", element("p", note), chart)


def _footer() -> Markup:
    script = "This page needs scripts for its charts and its table of inputs; they are all in this file."
    return element("footer", element("noscript", element("p", script)), element("p", "Made by doublebubble."))


def _sigma_names(group: Sequence[RunView]) -> list[str]:
    """Sigma where it tells the runs apart, else the run's name with it."""
    sigmas = [f"sigma {view.run.spec.sigma:g}" if isinstance(view.run.spec, RunSpec) else "" for view in group]
    return [
        sigma if sigmas.count(sigma) == 1 else f"{sigma}, {view.name}"
        for sigma, view in zip(sigmas, group, strict=True)
    ]


def _choice(shown: Sequence[RunView], group: Group, radii: Sequence[float], number: int) -> Markup:
    members = [shown[i] for i in group.runs]
    tables = common_tables([view.table for view in members], group.inputs)
    found = [choose(tables, radius) for radius in radii]
    mark = next((view.mark for view in members if view.mark), "")
    sizes = [len(view.table) for view in members]
    return sections.choice(_sigma_names(members), mark, found, len(group.inputs), sizes, number)


def _content(shown: Sequence[RunView], used: Mapping[str, Gallery], radii: Sequence[float]) -> dict[str, object]:
    """Everything the scripts read besides records, pictures and thumbnails, each data set's gallery once."""
    groups, _ = comparable([view.run for view in shown])
    sizes = {len(view.table) for view in shown} | {len(group.inputs) for group in groups}
    return {
        "start": sections.middle(radii),
        "classes": {digest: list(gallery.classes) for digest, gallery in used.items()},
        "bands": {n: bands(n) for n in sorted(sizes)},
        "envelopes": [_envelope(shown, group) for group in groups],
    }


def _envelope(shown: Sequence[RunView], group: Group) -> dict[str, object]:
    """The curves over the inputs that all runs of a group hold, given where they are not those of the runs."""
    members = [shown[number] for number in group.runs]
    curves = [steps(table) for table in common_tables([view.table for view in members], group.inputs)]
    own = any(len(view.table) != len(group.inputs) for view in members)
    return {
        "runs": list(group.runs),
        "names": _sigma_names(members),
        "n": len(group.inputs),
        "curves": [curve_data(curve) for curve in curves] if own else None,
        "pieces": [
            {
                "run": piece.run,
                "after": millionths(piece.after),
                "radii": [millionths(radius) for radius in piece.radii],
                "certified": list(piece.certified),
            }
            for piece in envelope(curves)
        ],
    }


def _digest(view: RunView) -> str:
    return view.run.spec.data_digest if isinstance(view.run.spec, RunSpec) else ""


def _asset(name: str) -> str:
    return (files("doublebubble.report.page") / "assets" / name).read_text("utf-8")


def _asset_scripts() -> str:
    """The page's own scripts as one, in a scope of its own."""
    return '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in _SCRIPTS) + "\n})();"
