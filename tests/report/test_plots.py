"""The figures show what the records say, and their captions what stands behind them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from doublebubble import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.engines.job import make_job
from doublebubble.engines.local import LocalEngine
from doublebubble.errors import InputError
from doublebubble.report import plots
from doublebubble.report.captions import provenance
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import BLUE, SOLID
from doublebubble.report.measures import improvement_by_radius, mean_gain, median_improvement, winners
from doublebubble.runs.store import Run, RunStore, read_run
from doublebubble.runs.tables import frame
from doublebubble.types import Guarantee
from tests.engines.centroids import make
from tests.report.frames import METHODS, ROWS, Row, table
from tests.report.test_figure import data_lines
from tests.runs.samples import certificate, spec


def certified(path: Path, config: CertifyConfig) -> Run:
    job = make_job(make(), load_dataset("digits", "test"), 0.5, config, indices="0:12", batch_size=64)
    with RunStore(path, job.spec) as store:
        execute(LocalEngine(job.recipe.build()), job.groups(store), store, lambda record: None)
    return read_run(path)


def test_the_curve_of_a_run_is_drawn_where_the_records_put_it(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=200, n0=20))
    figure = plots.run_figure(run, "a title")
    (axes,) = figure.axes
    assert axes.get_title() == "protocol sound"
    ((radii, heights),) = data_lines(axes).values()
    held = [record.radius for record in run.records if record.prediction == record.label]
    assert heights == [sum(radius <= mine for mine in held) / 12 for radius in radii]
    assert radii[-1] > max(held)
    caption = " ".join(figure.get_supxlabel().split())
    for words in ("12 inputs", "alpha 0.001", "n 200 draws", "probability at least 1 - alpha", "Bands: 95 %"):
        assert words in caption


def test_numbers_of_protocol_paper_are_marked(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=50, n0=20, protocol="paper"))
    figure = plots.run_figure(run, "a title")
    assert "not guaranteed" in figure.axes[0].get_title()
    assert "not guaranteed" in " ".join(figure.get_supxlabel().split())
    assert "Protocol paper (not guaranteed): alpha 0.05" in provenance([run])
    assert Guarantee.NONE.sentence in provenance([run])
    assert "not guaranteed" in protocol_name("paper")
    assert "not guaranteed" not in protocol_name("sound")


def test_captions_name_every_protocol_level_and_number_of_draws(tmp_path: Path) -> None:
    runs = []
    for number, (n, indices) in enumerate([(100, "0:2"), (300, "0:1")]):
        made = spec(indices, sigma=0.25 * (number + 1), config=CertifyConfig(n=n, alpha=0.01))
        with RunStore(tmp_path / str(number), made) as store:
            for index in made.index_list:
                store.append(certificate(index))
        runs.append(read_run(tmp_path / str(number)))
    words = provenance(runs)
    for part in ("digits (test split); 1, 2 inputs in each run; sigma 0.25, 0.5.", "alpha 0.01", "n 100, 300 draws"):
        assert part in words
    assert "not guaranteed" not in words


def test_a_run_without_records_is_no_figure(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec()):
        pass
    with pytest.raises(InputError, match="at least one record"):
        plots.run_figure(read_run(tmp_path / "run"), "title")


@settings(max_examples=20, deadline=None)
@given(ROWS)
def test_lines_hold_the_measures(rows: list[Row]) -> None:
    found = table(rows)
    centres = plots.window_centres([found])
    assert centres[-1] + 0.075 >= found["radius_cohen"].fillna(0).max()
    assert np.allclose(np.diff(centres), 0.075)
    for line, method in zip(plots.radius_lines(found, METHODS, "full", centres), METHODS, strict=True):
        assert line.points == improvement_by_radius(found, method, centres)
        assert line.colour == plots.COLOURS[method]
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
        line = plots.accuracy_line(found, "x", BLUE, SOLID, 1.0, method)
        assert {0.0, 0.25, 0.5, 0.75, 1.0} <= set(line.points)
        for radius, point in line.points.items():
            mine = [row[2 + number] for row in rows if not row[7] and row[0] == row[1]]
            assert point.value == sum(length > 0 and length >= radius for length in mine) / len(rows)


def test_the_plan_is_what_the_record_reports(tmp_path: Path) -> None:
    run = certified(tmp_path / "run", CertifyConfig(n=300, n0=50, methods=("cohen", "first_order")))
    held = frame(run)
    line = plots.accuracy_line(held, "x", BLUE, SOLID, 1.0)
    right = held[held["correct"]]
    for radius, point in line.points.items():
        assert point.value == (right["radius"] >= radius).sum() / len(held)
