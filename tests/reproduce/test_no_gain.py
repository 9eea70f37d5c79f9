"""The figures of the search without a gain: points are the simulations', curves the laws', everything is marked."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.errors import RunError
from doublebubble.report.figure import UNJOINED
from doublebubble.reproduce import EXPERIMENTS, Results, chosen_scale, write
from doublebubble.reproduce.looking import Looked, read_simulation
from doublebubble.reproduce.scales import NoGain
from tests.reproduce.invented import InventedLaboratory, Silent

SCALE = replace(chosen_scale("smoke"), no_gain=NoGain(0.9, 50, 4, (1, 3), (50, 100), (0.05, 0.2)))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Path]:
    out = tmp_path_factory.mktemp("out")
    return EXPERIMENTS["no-gain"](InventedLaboratory(SCALE, out, out / "models", Silent())), out


def test_points_are_the_simulations_and_curves_pass_their_laws(found: tuple[Results, Path]) -> None:
    results, out = found
    kept = [read_simulation(path, Looked) for path in (out / "simulations").iterdir()]
    assert [figure.name for figure in results.figures] == [
        "no-gain-by-looks",
        "no-gain-by-n",
        "no-gain-by-alpha",
        "no-gain-claims",
    ]
    by_looks = results.figures[0].panels[0][0]
    lines = {line.label: line for line in by_looks.lines}
    assert list(lines) == ["half-space", "coins", "predicted", "first order"]
    for one in kept:
        at = one.looking
        if at.subject == "coins" and (at.n, at.alpha, at.published_stop) == (50, 0.05, False):
            assert lines["coins"].points[at.looks].value == pytest.approx(100 * one.reported.gain)
    assert lines["coins"].dashes == UNJOINED
    assert set(lines["coins"].points) == {1, 3} <= set(lines["predicted"].points)
    claims = {line.label: line for line in results.figures[3].panels[0][0].lines}
    assert all(point.value == x for x, point in claims["alpha itself"].points.items())
    assert len(kept) == len(results.tables[0][1].rows)


def test_everything_is_marked_and_written(found: tuple[Results, Path], tmp_path: Path) -> None:
    results, _ = found
    for figure in results.figures:
        assert "not a guarantee at any level" in figure.caption
        assert "not guaranteed" in figure.panels[0][0].title
        assert "4 repetitions" in figure.caption
    assert all("not guaranteed" in row[0] for row in results.tables[0][1].rows)
    assert all(path.stat().st_size > 0 for path in write(results, tmp_path, "no-gain", "smoke"))


def test_a_file_under_another_s_name_is_refused(found: tuple[Results, Path], tmp_path: Path) -> None:
    shutil.copytree(found[1] / "simulations", tmp_path / "simulations")
    half_space = sorted((tmp_path / "simulations").glob("half-space-*.json"))
    for path in half_space:
        path.write_bytes((found[1] / "simulations" / half_space[0].name).read_bytes())
    with pytest.raises(RunError, match="holds another simulation than its name says"):
        EXPERIMENTS["no-gain"](InventedLaboratory(SCALE, tmp_path, tmp_path / "models", Silent()))
