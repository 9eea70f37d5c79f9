"""Figures drawn from packed results are those of the laboratory that made them; what lacks a run is left out."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from docs import generate_reproduction
from doublebubble.errors import DataError
from doublebubble.reproduce import EXPERIMENTS
from doublebubble.reproduce.archive import Archive
from doublebubble.reproduce.packed import SUFFIX
from tests.reproduce.invented import SCALE, STUDY, InventedLaboratory, Silent

TWO = replace(SCALE, studies=(STUDY, replace(STUDY, label="another")), stepped=(STUDY.name,), timed=(STUDY.name,))


class Listener(Silent):
    """Remembers which runs are missing."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def missing(self, sentence: str) -> None:
        self.heard.append(sentence)


def test_drawn_from_packed_runs_a_figure_is_the_laboratory_s_own(made: Path, tmp_path: Path) -> None:
    lab = InventedLaboratory(SCALE, tmp_path, tmp_path / "models", Silent())
    archive = Archive(SCALE, made, made / "models", Silent())
    for name in ("step-size", "winners", "timing", "macer"):
        drawn = archive.perform(EXPERIMENTS[name])
        assert drawn == lab.perform(EXPERIMENTS[name])
        assert drawn.tables


def test_a_study_that_lacks_a_run_is_left_out_and_told_once(made: Path) -> None:
    events = Listener()
    archive = Archive(TWO, made, made / "models", events)
    for _ in range(2):
        names = [figure.name for figure in archive.perform(EXPERIMENTS["winners"]).figures]
        assert names == ["winners-digits"]
    assert len(events.heard) == 1
    assert events.heard[0].startswith("another-gaussian-")
    with pytest.raises(DataError, match="lacks runs of another"):
        archive.available(("another",))


def test_the_command_draws_what_it_can_and_names_the_rest(made: Path, tmp_path: Path) -> None:
    for name in ("runs", "simulations"):
        shutil.copytree(made / name, tmp_path / name)
    for path in (tmp_path / "runs").glob(f"*macer*{SUFFIX}"):
        path.unlink()
    events = Listener()
    names = ("step-size", "macer", "interval-cost", "no-gain", "coin-votes")
    assert generate_reproduction.draw(tmp_path, SCALE, events, names) == ["macer", "no-gain", "coin-votes"]
    assert any(sentence.startswith("half-space-") for sentence in events.heard), "nothing is simulated"
    figures = tmp_path / "figures"
    assert (figures / "step-size" / "step-size-digits.png").exists()
    assert not (figures / "macer").exists()
    assert not (figures / generate_reproduction.TIMED).exists(), "its table is of the machine that made it"
    assert {path.suffix for path in figures.rglob("*") if path.is_file()} == {".png", ".pdf", ".md"}
