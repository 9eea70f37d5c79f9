"""The page put together: one HTML file that holds its styles, scripts, data and pictures and asks for nothing else."""

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from doublebubble.errors import RunError, SettingError
from doublebubble.report.page import sections
from doublebubble.report.page.columns import millionths, run_data
from doublebubble.report.page.envelope import choose, comparable, envelope
from doublebubble.report.page.markup import Markup, data_block, element, joined
from doublebubble.report.page.steps import bands, radii_that_matter
from doublebubble.report.page.thumbnails import data_uri, make_thumbnails
from doublebubble.report.page.view import PLAN, Look, RunView, views
from doublebubble.runs.pictures import stored_pictures
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import Run

_SCRIPTS = ("tools.js", "chart.js", "detail.js", "inputs.js", "start.js")
_PICTURE_QUALITY = 85


def write_page(runs: Sequence[Run], path: Path, looks: Mapping[str, Look] | None = None) -> None:
    """Write the page of some runs; a file that is there already is replaced, whole or not at all.

    `looks` says by data digest what the inputs look like; without it the page has numbers for classes and no
    thumbnails. Pictures are those stored in the runs.
    """
    content = page_text(runs, looks or {}).encode("utf-8", "replace")
    draft = path.with_name(path.name + ".tmp")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        raise RunError(f"{path}: the page could not be written ({error})") from error


def page_text(runs: Sequence[Run], looks: Mapping[str, Look]) -> str:
    """The whole file."""
    if not runs:
        raise SettingError("report: expected at least one run")
    shown = views(runs)
    script = _asset_scripts()
    body = joined(_header(shown), element("main", *_main(shown)), _footer())
    data = _data(shown, looks)
    from plotly.offline import get_plotlyjs

    plotly = get_plotlyjs()
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_policy(plotly, script)}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", _title(shown)),
        element("style", Markup(_asset("page.css"))),
    )
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


def _main(shown: Sequence[RunView]) -> list[Markup]:
    radii = _radii(shown)
    parts = [sections.answer(shown, radii)]
    note = (
        "Certified accuracy over radius, one step at every radius of a record. Bands: 95 % for the choice of inputs "
        "(Clopper-Pearson), at each radius by itself."
    )
    chart = element("div", class_="chart", id="curves")
    parts.append(sections.section("accuracy", "Certified accuracy over radius", element("p", note), chart))
    if groups := comparable([view.run for view in shown]):
        places = [_choice([shown[i] for i in group], radii, number) for number, group in enumerate(groups)]
        parts.append(sections.section("sigma", "Which sigma for which radius", *places))
    if len(shown) > 1:
        parts.append(sections.section("comparison", "Runs compared", sections.comparison(shown)))
    if any(len(view.methods) > 1 for view in shown):
        parts.append(_methods())
    inputs = element("div", id="inputs-view", class_="inputs")
    parts.append(sections.section("inputs", "Input by input", inputs))
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


def _radii(shown: Sequence[RunView]) -> tuple[float, ...]:
    return radii_that_matter(max(float(view.curves[PLAN].radii[-1]) for view in shown))


def _sigma_names(group: Sequence[RunView]) -> list[str]:
    """Sigma where it tells the runs apart, else the run's name with it."""
    sigmas = [f"sigma {view.run.spec.sigma:g}" if isinstance(view.run.spec, RunSpec) else "" for view in group]
    return [
        sigma if sigmas.count(sigma) == 1 else f"{sigma}, {view.name}"
        for sigma, view in zip(sigmas, group, strict=True)
    ]


def _choice(group: Sequence[RunView], radii: Sequence[float], number: int) -> Markup:
    tables = [view.table for view in group]
    found = [choose(tables, radius) for radius in radii]
    return sections.choice(_sigma_names(group), group[0].mark, found, len(tables[0]), number)


def _data(shown: Sequence[RunView], looks: Mapping[str, Look]) -> Markup:
    """Everything the scripts read, each data set's look once."""
    used = {_digest(view): looks[_digest(view)] for view in shown if _digest(view) in looks}
    thumbnails = {
        digest: make_thumbnails(look.images, look.indices).as_data()
        for digest, look in used.items()
        if look.images is not None and len(look.images)
    }
    runs = [{**run_data(view), "look": _digest(view), "pictures": _pictures(view.run)} for view in shown]
    content = {
        "start": _radii(shown)[sections.HEADLINE],
        "runs": runs,
        "classes": {digest: list(look.classes) for digest, look in used.items()},
        "thumbnails": thumbnails,
        "bands": {n: bands(n) for n in sorted({len(view.table) for view in shown})},
        "envelopes": [_envelope(shown, group) for group in comparable([view.run for view in shown])],
    }
    return data_block("page-data", content)


def _envelope(shown: Sequence[RunView], group: Sequence[int]) -> dict[str, object]:
    members = [shown[number] for number in group]
    pieces = envelope([view.curves[PLAN] for view in members])
    return {
        "runs": list(group),
        "names": _sigma_names(members),
        "pieces": [
            {
                "run": piece.run,
                "after": millionths(piece.after),
                "radii": [millionths(radius) for radius in piece.radii],
                "certified": list(piece.certified),
            }
            for piece in pieces
        ],
    }


def _digest(view: RunView) -> str:
    return view.run.spec.data_digest if isinstance(view.run.spec, RunSpec) else ""


def _pictures(run: Run) -> dict[int, str]:
    """The pictures stored in a run, by input, smaller than they lie there."""
    held = {record.index for record in run.records}
    return {index: _picture(path) for index, path in stored_pictures(run.path).items() if index in held}


def _picture(path: Path) -> str:
    buffer = io.BytesIO()
    try:
        with Image.open(path) as picture:
            picture.convert("RGB").save(buffer, "WEBP", quality=_PICTURE_QUALITY)
    except (OSError, UnidentifiedImageError) as error:
        raise RunError(f"{path}: expected a picture, it cannot be read ({error})") from error
    return data_uri(buffer.getvalue(), "webp")


def _asset(name: str) -> str:
    return (files("doublebubble.report.page") / "assets" / name).read_text("utf-8")


def _asset_scripts() -> str:
    """The page's own scripts as one, in a scope of its own."""
    return '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in _SCRIPTS) + "\n})();"
