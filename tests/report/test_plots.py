"""The figures show what the records say, and their captions what stands behind them."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.axes import Axes
from matplotlib.cbook import pts_to_prestep
from scipy.stats import beta

from doublebubble import CertifyConfig, registry
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.engines.local import LocalEngine
from doublebubble.facade.job import make_job
from doublebubble.report import plots
from doublebubble.report.captions import provenance
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import BLUE, SOLID, Panel, draw
from doublebubble.report.measures import improvement_by_radius, mean_gain, median_improvement, winners
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.runs.tables import frame, load_run
from doublebubble.types import Floats, Guarantee
from tests.engines.centroids import make
from tests.report.frames import METHODS, ROWS, Row, table
from tests.report.test_figure import bands, data_lines


def certified(path: Path, config: CertifyConfig) -> StoredRun:
    job = make_job(make(), load_dataset("digits", "test"), 0.5, config, indices="0:12", batch_size=64)
    with RunStore(path, job.spec) as store:
        execute(LocalEngine(job.recipe.build()), job.groups(store), store, lambda record: None)
    return read_run(path)


def test_the_curve_of_a_run_is_drawn_where_the_records_put_it(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=200, n0=20))
    figure = plots.run_figure(run, "a title")
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "protocol sound\nn 200, n0 20, alpha 0.001 for each input"
    ((radii, heights),) = data_lines(axes).values()
    records = load_run(tmp_path / "run")
    held = records.loc[records["prediction"] == records["label"], "radius"].tolist()
    assert heights == [sum(radius <= mine for mine in held) / 12 for radius in radii]
    assert radii[-1] > max(held)
    assert_drawn_as_counted(axes, held, 12, records["radius"].tolist())
    caption = plots.run_caption(run)
    for words in ("12 inputs", "alpha 0.001", "n 200 draws", "probability at least 1 - alpha", "Bands: 95 %"):
        assert words in caption


def test_each_method_asked_for_has_a_curve_and_the_radius_reported_has_the_band(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=200, n0=20, methods=("cohen", "dipole", "first_order")))
    (axes,) = plots.run_figure(run, "a title").axes
    records = load_run(tmp_path / "run")
    for method in ("cohen", "dipole", "first_order"):
        radii, heights = data_lines(axes)[registry.card(method).label]
        held = records.loc[records["prediction"] == records["label"], f"radius_{method}"].tolist()
        assert heights == [sum(radius <= mine for mine in held) / 12 for radius in radii]
    assert set(data_lines(axes)) == {"reported", *(registry.card(m).label for m in ("cohen", "dipole", "first_order"))}
    assert len(bands(axes)) == 1, "four curves with bands hide each other"


def crossings(vertices: Floats, x: float) -> list[float]:
    """The heights at which a drawn outline passes x, both ends of a vertical piece included."""
    found: list[float] = []
    for (x0, y0), (x1, y1) in pairwise(vertices.tolist()):
        if x0 == x1 == x:
            found += [y0, y1]
        elif min(x0, x1) <= x <= max(x0, x1) and x0 != x1:
            found.append(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return found


def assert_drawn_as_counted(axes: Axes, held: list[float], n: int, radii: list[float]) -> None:
    """The outline of the curve and its band below, at and above each radius; the band by the beta distribution."""
    (curve,) = (line for line in axes.get_lines() if line.get_label() in data_lines(axes))
    assert curve.get_drawstyle() == "steps-pre"
    outline = np.transpose(pts_to_prestep(np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())))
    (band,) = bands(axes)
    for radius in (r + step for r in sorted({0.0, *radii}) for step in (-1e-7, 0.0, 1e-7)):
        if radius < 0:
            continue
        k = sum(radius <= mine for mine in held)
        low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
        high = beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
        # A vertical piece stands where the proportion falls: its upper end is the value there, both below and above it.
        assert max(crossings(outline, radius)) == pytest.approx(k / n, abs=1e-12)
        if radius not in {0.0, *radii}:
            assert {round(y, 9) for y in crossings(outline, radius)} == {round(k / n, 9)}
            found = crossings(band, radius)
            assert [min(found), max(found)] == pytest.approx([low, high], abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(ROWS)
def test_a_curve_is_certified_accuracy_at_every_radius_for_every_method(rows: list[Row]) -> None:
    found = table(rows)
    to = plots.reach([found], METHODS)
    for number, line in enumerate(plots.method_lines(found, METHODS, to)):
        axes = draw([[Panel("one", (line,))]], plots.ACCURACY, "title").axes[0]
        held = [row[2 + number] for row in rows if not row[7] and row[0] == row[1] and row[2 + number] > 0]
        assert_drawn_as_counted(axes, held, len(rows), [radius for row in rows if not row[7] for radius in row[2:6]])
        assert axes.get_xlim() == (0.0, to)
        assert max(held, default=0.0) < to


def test_numbers_of_protocol_paper_are_marked(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=50, n0=20, protocol="paper"))
    figure = plots.run_figure(run, "a title")
    assert "not guaranteed" in figure.axes[0].get_title(loc="left")
    assert "not guaranteed" in plots.run_caption(run)
    assert "Protocol paper (not guaranteed): alpha 0.05" in provenance([run])
    assert Guarantee.NONE.sentence in provenance([run])
    assert "not guaranteed" in protocol_name("paper")
    assert "not guaranteed" not in protocol_name("sound")


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_lines_hold_the_measures(rows: list[Row]) -> None:
    found = table(rows)
    centres = plots.window_centres([found])
    assert centres[-1] + 0.075 >= found["radius_cohen"].fillna(0).max()
    assert np.allclose(np.diff(centres), 0.075)
    for line, method in zip(plots.radius_lines(found, METHODS, "full", centres), METHODS, strict=True):
        assert line.points == improvement_by_radius(found, method, centres)
        assert (line.colour, line.marker) == plots._looks(method)[1:3]
    shares = winners(found, METHODS)
    for line, method in zip(plots.winner_lines({1.0: found, 0.5: found}, METHODS), METHODS, strict=True):
        assert line.points == ({0.5: shares[method], 1.0: shares[method]} if shares else {})
    median, gain = median_improvement(found, "double"), mean_gain(found, "double")
    (over_sigma,) = plots.sigma_lines({0.5: found}, ["double"], "approximate")
    assert over_sigma.points == ({} if median is None else {0.5: median})
    (over_step,) = plots.step_lines({0.01: found}, ["double"], "approximate")
    assert over_step.points == ({} if gain is None else {0.01: gain})
    assert over_sigma.dashes == over_step.dashes != SOLID


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_the_curve_of_a_method_is_its_own_and_never_the_largest(rows: list[Row]) -> None:
    found = table(rows)
    for number, method in enumerate(METHODS):
        line = plots.accuracy_line(found, plots.Series("x", BLUE, method=method), 1.0)
        assert {0.0, 0.25, 0.5, 0.75, 1.0} <= set(line.points)
        for radius, point in line.points.items():
            mine = [row[2 + number] for row in rows if not row[7] and row[0] == row[1]]
            assert point.value == sum(length > 0 and length >= radius for length in mine) / len(rows)


def test_the_plan_is_what_the_record_reports(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=300, n0=50, methods=("cohen", "first_order")))
    held = frame(run)
    line = plots.accuracy_line(held, plots.Series("x", BLUE), 1.0)
    right = held[held["correct"]]
    for radius, point in line.points.items():
        assert point.value == (right["radius"] >= radius).sum() / len(held)
