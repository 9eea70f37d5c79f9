"""Every experiment, from invented runs: it draws and writes the numbers of those runs, marked as they must be."""

import re
import statistics
from pathlib import Path

import numpy as np
import pytest

from doublebubble import registry
from doublebubble.report.axes import AxesStyle
from doublebubble.report.figure import Panel
from doublebubble.reproduce import EXPERIMENTS, Results, chosen_scale, write
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.results import Figure
from doublebubble.reproduce.scales import Study
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import InventedLaboratory, Silent

CERTIFYING = [name for name in EXPERIMENTS if name not in ("interval-cost", "no-gain")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> InventedLaboratory:
    out = tmp_path_factory.mktemp("out")
    return InventedLaboratory(chosen_scale("smoke", inputs=25), out, out / "models", Silent())


@pytest.fixture(scope="module")
def found(lab: InventedLaboratory) -> dict[str, Results]:
    return {name: EXPERIMENTS[name](lab) for name in CERTIFYING}


@pytest.mark.parametrize("name", CERTIFYING)
def test_every_panel_table_and_caption_marks_what_is_not_guaranteed(found: dict[str, Results], name: str) -> None:
    results = found[name]
    assert results.figures or results.tables
    for figure in results.figures:
        assert "Protocol paper (not guaranteed): alpha 0.05 for each input, n 100 draws" in figure.caption
        assert "is not a guarantee at any level" in figure.caption
        assert "inputs in each run" in figure.caption
        sound = name not in ("step-size", "coin-votes")
        assert ("holds with probability at least 1 - alpha" in figure.caption) == sound
        titles = [panel.title for row in figure.panels for panel in row]
        assert all(("paper" in title) == ("not guaranteed" in title) for title in titles)
        assert any("not guaranteed" in title for title in titles)
        assert any("sound" in title for title in titles) == sound
    for _, table in results.tables:
        assert "not guaranteed" in table.caption
        for row in table.rows:
            assert any("paper: as published, not guaranteed" in cell for cell in row) or any(
                re.search(r"\bsound\b", cell) for cell in row
            )


def frame(
    lab: InventedLaboratory, sigma: float, protocol: str, gradient: str, tail: str = ""
) -> dict[str, list[float]]:
    training = "macer" if tail == "macer" else "gaussian"
    tail = "" if tail == "macer" else tail
    name = f"digits-{training}-{sigma:g}-{protocol}-{gradient}-n100-25inputs{tail}"
    table = load_run(lab.out / "runs" / name)
    kept = table[table["selected"] == table["label"]]
    return {str(column): kept[column].tolist() for column in kept if str(column).startswith("radius")}


@pytest.mark.parametrize("training", ["gaussian", "macer"])
def test_certified_accuracy_and_macer(lab: InventedLaboratory, found: dict[str, Results], training: str) -> None:
    name = "certified-accuracy" if training == "gaussian" else "macer"
    panels = found[name].figures[0].panels
    for row, protocol in enumerate(("paper", "sound")):
        word = "largest" if protocol == "paper" else "plan"
        for sigma, panel in zip((0.5, 1.0), panels[row if training == "gaussian" else 2 + row], strict=True):
            assert all(words in panel.title for words in (protocol, word, f"sigma {sigma:g}"))
            lines = {line.label: line for line in panel.lines}
            assert len(lines) == 3
            for label, gradient, radius in (
                ("Cohen", "approximate", "radius_cohen"),
                ("approximate", "approximate", "radius"),
                ("full", "full", "radius"),
            ):
                radii = frame(lab, sigma, protocol, gradient, "macer" if training == "macer" else "")[radius]
                for x, point in lines[label].points.items():
                    assert point.value == sum(mine > 0 and mine >= x for mine in radii) / 25


def test_under_sound_each_curve_is_of_its_own_radii_and_none_of_the_largest(
    lab: InventedLaboratory, found: dict[str, Results]
) -> None:
    figure = found["certified-accuracy"].figures[1]
    panels = [panel for row in figure.panels for panel in row if "sound" in panel.title]
    keys = [(sigma, gradient) for sigma in (0.5, 1.0) for gradient in ("approximate", "full")]
    for pair, (sigma, gradient) in zip(zip(panels[::2], panels[1::2], strict=True), keys, strict=True):
        assert [panel.title.splitlines()[0] for panel in pair] == [
            f"sigma {sigma:g}, {gradient} gradient, part {part} of 2" for part in (1, 2)
        ]
        shown = [line for panel in pair for line in panel.lines]
        held = frame(lab, sigma, "sound", gradient)
        columns = [column for column in held if column != "radius"]
        largest = [max(radii) for radii in zip(*(held[column] for column in columns), strict=True)]
        assert len(shown) == len(registry.names("sound")) + 1
        for line in shown:
            spoken = line.label.lower().replace(" ", "_")
            mine = held["radius" if spoken == "reported" else f"radius_{spoken}"]
            heights = {x: point.value for x, point in line.points.items()}
            assert heights == {x: sum(radius >= max(x, 1e-9) for radius in mine) / 25 for x in heights}
            assert set(mine) <= set(heights)
            if spoken == "reported":
                assert not set(largest) <= set(heights)


@pytest.mark.parametrize("name", ["certified-accuracy", "macer"])
def test_all_curves_of_a_figure_go_to_the_end_of_its_axis_and_there_to_0(found: dict[str, Results], name: str) -> None:
    for figure in found[name].figures:
        lines = [line for row in figure.panels for panel in row for line in panel.lines]
        assert len({max(line.points) for line in lines}) == 1
        assert {line.points[max(line.points)].value for line in lines} == {0.0}


@pytest.mark.parametrize("name", [name for name in CERTIFYING if name != "timing"])
def test_no_two_lines_of_a_panel_differ_in_colour_alone(found: dict[str, Results], name: str) -> None:
    for figure in found[name].figures:
        for row in figure.panels:
            for panel in row:
                looks = [(line.marker, line.dashes) for line in panel.lines]
                assert all(marker for marker, _ in looks)
                assert len(set(looks)) == len(looks)


def test_gains_over_sigma_and_over_the_first_step(lab: InventedLaboratory, found: dict[str, Results]) -> None:
    rows = found["improvement-by-sigma"].figures[0].panels
    assert [line.label for line in rows[1][-1].lines] == ["first order", "profile", "reported"]
    assert [line.label for line in rows[1][-2].lines] == ["single", "boundary", "double", "dipole"]
    for row, protocol in zip(rows, ("paper", "sound"), strict=True):
        for panel in row:
            gradient = panel.title.split()[0]
            assert protocol in panel.title
            for line in panel.lines:
                method = line.label.replace("first order", "first_order")
                column = "radius" if method == "reported" else f"radius_{method}"
                assert sorted(line.points) == [0.25, 0.5, 1.0]
                for sigma, point in line.points.items():
                    held = frame(lab, sigma, protocol, gradient)
                    pairs = [(a, b) for a, b in zip(held["radius_cohen"], held[column], strict=True) if a > 0]
                    expected = statistics.median(100 * (b / a - 1) for a, b in pairs)
                    assert point.value == pytest.approx(expected, abs=1e-9)
    for panel in found["step-size"].figures[0].panels[0]:
        gradient = panel.title.split()[2]
        for line in panel.lines:
            for step, point in line.points.items():
                held = frame(lab, 0.5, "paper", gradient, "" if step == 0.01 else f"-step{step:g}")
                gain = float(np.mean(held[f"radius_{line.label}"]) - np.mean(held["radius_cohen"]))
                assert point.value == pytest.approx(gain, abs=1e-9)


def test_gains_side_by_side_say_that_each_protocol_has_its_own_cohen(found: dict[str, Results]) -> None:
    for name in ("improvement-by-sigma", "improvement-by-radius"):
        for figure in found[name].figures:
            assert "each protocol's own Cohen" in figure.title


def test_the_timing_table_has_the_publications_columns(lab: InventedLaboratory, found: dict[str, Results]) -> None:
    ((_, table),) = found["timing"].tables
    approximate = ("single, approximate", "boundary, approximate", "double, approximate")
    full = ("single, full", "boundary, full", "double, full")
    assert table.columns == ("protocol", "data", "Cohen", *approximate, *full)
    assert "2 inputs in each run" in table.caption
    times = load_run(lab.out / "runs" / "digits-gaussian-0.5-sound-full-n100-2inputs-double")["seconds"]
    assert table.rows[1][-1] == f"{times.mean():.3g} s"


def test_a_figure_higher_than_a_page_is_written_in_parts(tmp_path: Path) -> None:
    rows = tuple((Panel(f"row {number}", ()),) for number in range(5))
    results = Results("source", (Figure("high", "Title", rows, AxesStyle("x", "y"), "Caption."),))
    names = {path.name for path in write(results, tmp_path, "high", "smoke")}
    assert names == {"README.md", *(f"high-{number}.{end}" for number in (1, 2) for end in ("png", "pdf", "md"))}
    page = (tmp_path / "README.md").read_text()
    for number in (1, 2):
        assert f"![Title, part {number} of 2 (scale smoke)](high-{number}.png)\n\nCaption. Scale smoke." in page


def test_files_and_the_page_that_lists_them(found: dict[str, Results], tmp_path: Path) -> None:
    results = found["improvement-by-sigma"]
    written = write(results, tmp_path / "x", "improvement-by-sigma", "smoke")
    names = {path.name for path in written}
    figure = results.figures[0].name
    numbers = {f"{figure}-numbers.md", f"{figure}-numbers.tex"}
    assert {f"{figure}.png", f"{figure}.pdf", f"{figure}.md", "README.md", *numbers} <= names
    assert all(path.stat().st_size > 0 for path in written)
    page = (tmp_path / "x" / "README.md").read_text()
    assert f"]({figure}.png)" in page
    assert results.source in page
    assert results.figures[0].caption in page
    assert (tmp_path / "x" / f"{figure}.md").read_text() == f"{results.figures[0].caption} Scale smoke.\n"
    assert page.count("Scale smoke.") == len(results.figures) + len(results.tables)
    assert page.count("| panel | line |") == 1


def test_one_input_that_is_wrong_is_still_drawn(tmp_path: Path) -> None:
    scale = chosen_scale("smoke", inputs=1)
    lab = InventedLaboratory(scale, tmp_path, tmp_path / "models", Silent(), always_wrong=True)
    for name in CERTIFYING:
        for path in write(EXPERIMENTS[name](lab), tmp_path / name, name, "smoke"):
            assert path.exists()


def test_names_of_runs_differ_exactly_where_the_wishes_do() -> None:
    study = Study("digits", 100, 6, (0.5,), (0.5,))
    wishes = [
        Wanted(study, 0.5, "paper", "full"),
        Wanted(study, 0.25, "paper", "full"),
        Wanted(study, 0.5, "sound", "full"),
        Wanted(study, 0.5, "paper", "approximate"),
        Wanted(study, 0.5, "paper", "full", "macer"),
        Wanted(study, 0.5, "paper", "full", methods=("cohen",)),
        Wanted(study, 0.5, "paper", "full", first_step=0.1),
        Wanted(Study("digits", 200, 6, (0.5,), (0.5,)), 0.5, "paper", "full"),
        Wanted(Study("digits", 100, 7, (0.5,), (0.5,)), 0.5, "paper", "full"),
        Wanted(Study("mnist", 100, 6, (0.5,), (0.5,)), 0.5, "paper", "full"),
        Wanted(study, 0.5, "paper", "full", n=101),
        Wanted(study, 0.5, "paper", "full", alpha=0.01),
        Wanted(study, 0.5, "paper", "full", thrifty=True),
        Wanted(Study("digits", 100, 6, (0.5,), (0.5,), label="other"), 0.5, "paper", "full"),
        Wanted(Study("digits", 100, 6, (0.5,), (0.5,), wide=9), 0.5, "paper", "full", which="all"),
    ]
    assert len({wish.name for wish in wishes}) == len(wishes)
    assert Wanted(study, 0.5, "paper", "full", first_step=0.01).name == wishes[0].name
