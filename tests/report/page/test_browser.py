"""The page in Chromium: nothing goes wrong, nothing leaves the file, and every number is that of `load_run`."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page
from scipy.stats import binomtest

from doublebubble import load_run, registry
from doublebubble.runs.store import StoredRun
from tests.report.page.looking import Shown, opened, select_input, texts
from tests.report.page.samples import NASTY, SIZE
from tests.report.page.truth import (
    average_radius,
    certified,
    contrast,
    expected_curve,
    floored,
    limits,
    luminance,
    percent,
)

pytestmark = pytest.mark.browser
MARKED = ["paper", "script>", "late"]
MARKS = ["not guaranteed", "guarantee not stated", "not guaranteed"]


def tables(runs: list[StoredRun]) -> list[pd.DataFrame]:
    return [load_run(run.path) for run in runs]


def test_nothing_goes_wrong_and_nothing_leaves_the_file(shown: Shown) -> None:
    page = shown.page
    page.locator("#inputs-view tbody button").first.click()
    page.wait_for_timeout(200)
    assert shown.troubles == []
    fetched = (
        "performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith('data:'))"
    )
    assert page.evaluate(fetched) == []


def test_names_that_look_like_scripts_do_nothing(shown: Shown) -> None:
    page = shown.page
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 3
    select_input(page, 0, 7)
    assert NASTY in page.locator(".detail .error").inner_text()
    select_input(page, 0, 4)
    assert f"label {NASTY}" in page.locator(".detail .verdict").inner_text()
    assert page.locator(".detail b, .rows td b").filter(has_text=re.compile("^bird$")).count() == 0
    assert page.evaluate("window.hacked") is None


def test_the_answer_is_that_of_the_records(shown: Shown, runs: list[StoredRun]) -> None:
    radii = [0.0, 0.25, 0.5, 0.75, 1.0]
    cards = shown.page.locator("#answer article")
    assert cards.count() == len(runs)
    for number, table in enumerate(tables(runs)):
        n, card = len(table), cards.nth(number)
        counts = [certified(table, radius) for radius in radii]
        assert card.locator(".headline strong").inner_text() == percent(counts[2], n)
        assert f"f {n} inputs" in card.locator(".headline").inner_text()
        assert "below 0.5" in card.locator(".headline").inner_text()
        tiles = [" ".join(text.split()) for text in card.locator("li").all_inner_texts()]
        for tile, radius, count in zip(tiles, radii, counts, strict=True):
            assert tile.startswith(f"radius {radius:g} {percent(count, n)} {limits(count, n)} {count} of {n}")
        promised = card.locator(".promise").first.inner_text()
        assert promised.startswith(
            f"{counts[2]} of {n} inputs; 95 % interval over the choice of inputs {limits(counts[2], n)}."
        )
        failed = int((table["status"] == "failed").sum())
        assert re.findall(r"failed on (\d+)", card.inner_text()) == ([str(failed)] if failed else [])
        assert f"Average certified radius {floored(average_radius(table), 4)}" in card.inner_text()
        assert f"abstained on {(table['prediction'] == -1).sum()} of {n}" in card.inner_text()
    assert texts(shown.page, "#answer h3 .mark") == MARKS


def read_out(count: int, n: int) -> str:
    """What a legend says of a curve at a radius."""
    return f"{percent(count, n)} {limits(count, n)}, {count} of {n}"


def drawn(page: Page, chart: str) -> list[dict[str, Any]]:
    """The curves of a chart as Plotly holds them, bands left out."""
    found = "document.querySelector(`#${chart} .plot`).data"
    kept = "({name, x, y, line}) => ({name, x: [...x], y: [...y], width: line.width})"
    traces: list[dict[str, Any]] = page.evaluate(f"(chart) => {found}.map({kept})", chart)
    return traces


def test_the_curves_have_the_points_of_the_records(shown: Shown, runs: list[StoredRun]) -> None:
    traces = drawn(shown.page, "curves")
    lines = [trace for trace in traces if not trace["name"].startswith("band")]
    assert [trace["name"] for trace in lines] == ["half", "quarter", "paper", "script>", "late"]
    for trace, table in zip(lines, tables(runs), strict=True):
        assert list(zip(trace["x"], trace["y"], strict=True)) == expected_curve(table)
    lows = [trace for trace in traces if trace["name"] == "band low"]
    highs = [trace for trace in traces if trace["name"] == "band high"]
    for low, high, table in zip(lows, highs, tables(runs), strict=True):
        for place, (_, accuracy) in enumerate(expected_curve(table)[:-1]):
            exact = binomtest(round(accuracy * len(table)), len(table)).proportion_ci(0.95, "exact")
            assert exact.low - 1.1e-4 <= low["y"][place] <= exact.low
            assert exact.high <= high["y"][place] <= exact.high + 1.1e-4


def test_the_methods_have_curves_of_their_own(shown: Shown, runs: list[StoredRun]) -> None:
    page = shown.page
    for place, number in enumerate((0, 1, 2, 4)):  # an imported run has no methods
        page.locator("#methods-chart select").select_option(str(place))
        table = load_run(runs[number].path)
        lines = [trace for trace in drawn(page, "methods-chart") if not trace["name"].startswith("band")]
        reported = "largest, as published" if number in (2, 4) else "reported radius"
        labels = [registry.card(method).label for method in ("cohen", "double")]
        assert [trace["name"] for trace in lines] == [reported, *labels]
        for trace, column in zip(lines, ("radius", "radius_cohen", "radius_double"), strict=True):
            assert list(zip(trace["x"], trace["y"], strict=True)) == expected_curve(table, column)
        for radius in (0.0, 0.1, 0.25, 0.5):
            page.locator("#methods-chart input[type=range]").fill(str(radius))
            read = texts(page, "#methods-chart .legend .value")
            for row, column in zip(read, ("radius", "radius_cohen", "radius_double"), strict=True):
                assert row == read_out(certified(table, radius, column), len(table))
        assert texts(page, "#methods-chart .legend .mark") == ["not guaranteed"] * (3 if number in (2, 4) else 0)


def test_a_radius_is_read_out_of_the_curves(shown: Shown, runs: list[StoredRun]) -> None:
    page = shown.page
    slider = page.locator("#curves input[type=range]")
    radii = [round(0.1 * number, 1) for number in range(11)]
    assert set(load_run(runs[0].path)["radius"]) & set(radii[1:]), "none is the very radius of a record"
    for radius in radii:
        slider.fill(str(radius))
        for row, table in zip(texts(page, "#curves .legend .value"), tables(runs), strict=True):
            assert row == read_out(certified(table, radius), len(table))
    assert texts(page, "#curves .legend .mark") == MARKS
    slider.fill("0.3")
    slider.press("ArrowRight")
    assert float(page.locator("#curves output").inner_text()) > 0.3
    first = page.locator("#curves .legend button").first
    first.press("Enter")
    assert first.get_attribute("aria-pressed") == "false"
    assert "half" not in [trace["name"] for trace in drawn(page, "curves")]
    first.press("Enter")
    assert "half" in [trace["name"] for trace in drawn(page, "curves")]


@pytest.mark.parametrize(("number", "members"), [(0, (1, 0)), (1, (4, 2))])
def test_the_envelope_is_the_best_of_both_sigma(
    shown: Shown, runs: list[StoredRun], number: int, members: tuple[int, int]
) -> None:
    """Also where one run has not finished: then every number is that of the inputs which both have."""
    page, names = shown.page, ["sigma 0.25", "sigma 0.5"]
    pair = [load_run(runs[member].path) for member in members]
    common = set(pair[0]["index"]) & set(pair[1]["index"])
    pair = [table[table["index"].isin(common)].reset_index(drop=True) for table in pair]
    n = len(common)
    assert n == (SIZE, 8)[number]
    traces = drawn(page, f"envelope-{number}")
    thin, thick = ([trace for trace in traces if trace["width"] == width] for width in (1.2, 4))
    assert [trace["name"] for trace in thick] == [trace["name"] for trace in thin] == names
    for trace, table in zip(thin, pair, strict=True):
        assert list(zip(trace["x"], trace["y"], strict=True)) == expected_curve(table)
    corners = sorted({radius for table in pair for radius, _ in expected_curve(table)})
    for radius in corners:
        counts = [certified(table, radius) for table in pair]
        best = counts.index(max(counts))
        points = list(zip(thick[best]["x"], thick[best]["y"], strict=True))
        assert (radius, max(counts) / n) in points
    for radius in (0.0, 0.1, 0.25, 0.5):
        page.locator(f"#envelope-{number} input[type=range]").fill(str(radius))
        read = texts(page, f"#envelope-{number} .legend .value")
        assert read == [read_out(certified(table, radius), n) for table in pair]
    rows = page.locator(f"#envelope-{number} + table tbody tr").all()
    assert rows
    for cells in rows:
        wanted, *said = (" ".join(t.split()) for t in cells.locator("td").all_inner_texts())
        held = [(t["radius"] >= float(wanted)) & (t["prediction"] == t["label"]) for t in pair]
        counts = [int(one.sum()) for one in held]
        best = counts.index(max(counts))
        only = [int((held[0] & ~held[1]).sum()), int((held[1] & ~held[0]).sum())]
        assert said == [
            names[best],
            f"{percent(counts[best], n)} ({counts[best]} of {n})",
            f"{names[1 - best]}: {percent(counts[1 - best], n)}",
            f"{binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0:.3g}",
        ]


def test_the_envelope_says_what_it_is_and_which_inputs_count(shown: Shown) -> None:
    page = shown.page
    cautions = texts(page, "#sigma > p")
    assert len(cautions) == 3
    assert all("not a certificate of one classifier" in caution for caution in cautions[:2])
    wanted = "Only the 8 inputs that all of these runs have finished count here: sigma 0.25 has 8, sigma 0.5 has 12."
    assert cautions[2] == wanted
    # The paragraph, the two entries of the legend, and the table of the runs of protocol paper; none of the others.
    assert texts(page, "#sigma > p .mark") == ["not guaranteed"]
    assert texts(page, "#envelope-0 .mark, #envelope-0 + table .mark") == []
    assert texts(page, "#envelope-1 .legend .mark") == ["not guaranteed"] * 2
    assert texts(page, "#envelope-1 + table caption .mark") == ["not guaranteed"]


def test_runs_are_compared_with_the_first(shown: Shown, runs: list[StoredRun]) -> None:
    rows = [
        [" ".join(t.split()) for t in row.locator("td").all_inner_texts()]
        for row in shown.page.locator("#comparison tbody tr").all()
    ]
    first = load_run(runs[0].path).set_index("index")
    assert [row[0] for row in rows] == [
        "quarter",
        *(f"{name} {mark}" for name, mark in zip(MARKED, MARKS, strict=True)),
    ]
    for row, run in zip(rows, runs[1:], strict=True):
        other = load_run(run.path).set_index("index")
        both = [t.loc[other.index] for t in (first, other)]
        a, b = (t["radius"].where(t["prediction"] == t["label"], 0.0) for t in both)
        larger, smaller = int((b > a).sum()), int((b < a).sum())
        p_value = binomtest(larger, larger + smaller).pvalue if larger + smaller else 1.0
        assert row[1:] == [str(len(other)), str(larger), str(smaller), f"{(b - a).mean():+.4f}", f"{p_value:.3g}"]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_fits_a_phone_and_reads_in_the_dark(browser: Browser, file: Path, width: int, scheme: Any) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    shown = opened(context, file)
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for selector in (
        "h1",
        ".lead",
        ".headline strong",
        ".tiles .quiet",
        ".tiles .mark",
        ".detail .correct, .rows .correct",
        ".rows .wrong",
        ".rows .abstained",
        ".rows th button",
        "summary",
    ):
        assert contrast(page, selector) >= 4.5, selector
    axis = page.locator("#curves .xtick text").first.evaluate("(one) => getComputedStyle(one).fill")
    ground = [20, 24, 27] if scheme == "dark" else [251, 251, 249]
    ink = [float(number) for number in re.findall(r"[0-9.]+", axis)]
    light, dark = sorted((luminance(ink), luminance([float(c) for c in ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
    assert shown.troubles == []
    context.close()
