"""The figure shows what the records say, and its caption what stands behind them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.engines.job import make_job
from doublebubble.engines.local import LocalEngine
from doublebubble.errors import InputError
from doublebubble.report.curve import BLUE, caption, draw_curve
from doublebubble.runs.statistics import certified_accuracy
from doublebubble.runs.store import Run, RunStore, read_run
from doublebubble.runs.tables import frame
from tests.engines.centroids import make


@pytest.fixture
def run(tmp_path: Path) -> Run:
    job = make_job(make(), load_dataset("digits", "test"), 0.5, CertifyConfig(n=200, n0=20), indices="0:12")
    with RunStore(tmp_path / "run", job.spec) as store:
        execute(LocalEngine(job.recipe.build()), job.groups(store), store, lambda record: None)
    return read_run(tmp_path / "run")


def test_the_curve_is_drawn_where_the_records_put_it(run: Run, tmp_path: Path) -> None:
    draw_curve(run, tmp_path / "curve.png", "title")
    pixels = np.asarray(Image.open(tmp_path / "curve.png").convert("RGB")).astype(int)
    colour = [int(BLUE[i : i + 2], 16) for i in (1, 3, 5)]
    drawn = (np.abs(pixels - colour).sum(2) < 12).nonzero()
    assert len(drawn[0]) > 200
    start = certified_accuracy(frame(run), [0.0])[0].accuracy
    axis_top, axis_bottom = _axes_rows(pixels)
    highest = (axis_bottom - drawn[0].min()) / (axis_bottom - axis_top) * 1.02
    assert highest == pytest.approx(start, abs=0.03)


def _axes_rows(pixels: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> tuple[int, int]:
    """The rows of the frame: dark for most of the figure's width."""
    dark = ((pixels.sum(2) < 120).mean(1) > 0.6).nonzero()[0]
    return int(dark.min()), int(dark.max())


def test_the_caption_names_protocol_and_guarantee(run: Run) -> None:
    assert "12 inputs" in caption(run)
    assert "protocol sound, alpha 0.001" in caption(run)
    assert "probability at least 1 - alpha" in caption(run)


def test_a_run_without_records_is_no_figure(tmp_path: Path) -> None:
    job = make_job(make(), load_dataset("digits", "test"), 0.5, CertifyConfig(n=200), indices="0:2")
    with RunStore(tmp_path / "run", job.spec):
        pass
    with pytest.raises(InputError, match="at least one record"):
        draw_curve(read_run(tmp_path / "run"), tmp_path / "curve.png", "title")
