"""What the page says of MACER is what the records and the measured times give, counted here again by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublebubble.reproduce.claim_cells import NOT_RUN, points_added, radius_change
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.macer_claim import macer
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY


def table(made: Path, kind: str = "macer") -> pd.DataFrame:
    assert kind in ("macer", "gaussian")
    wanted = Wanted(STUDY, 0.5, "paper", "full", "macer" if kind == "macer" else "gaussian")
    return load_run(made / "made" / wanted.name)


def test_radii_are_averaged_over_all_inputs_and_costs_are_medians(made: Path, tmp_path: Path) -> None:
    answer = macer(Evidence(made, SCALE))
    assert "MACER trains 5.5 times as long for as many images" in answer.sentence
    assert "equal time" not in answer.sentence, "the scale has no longer training"
    means = [
        float(np.mean(np.where(one["selected"] == one["label"], one["radius_cohen"], 0.0)))
        for one in (table(made), table(made, "gaussian"))
    ]
    change = 100 * (means[0] / means[1] - 1)
    assert (
        f"sigma 0.5, 12 inputs: Cohen's average radius {change:+.1f} % against Gaussian of equal epochs" in answer.paper
    )
    assert "Cohen's average radius not run against Gaussian of about equal time" in answer.paper
    assert answer.brief.paper.startswith(f"sigma 0.5, 12 inputs: radii {change:+.1f} % at equal epochs, not run at")
    assert answer.brief.as_printed in ("in part, on digits", "no, on digits"), "5.5 times is not ten times"
    nothing = macer(Evidence(tmp_path, SCALE))
    assert nothing.paper == nothing.sound == nothing.brief.as_printed == NOT_RUN


def test_macer_at_equal_time_is_beside_the_longer_training(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Evidence.frame

    def with_longer(evidence: Evidence, wanted: Wanted) -> pd.DataFrame | None:
        """The longer Gaussian training has twice the radii of the shorter one."""
        found = real(evidence, replace(wanted, study=STUDY))
        longer = wanted.study.name != STUDY.name
        return found.assign(radius_cohen=2 * found["radius_cohen"]) if longer and found is not None else found

    before = macer(Evidence(made, SCALE)).brief
    monkeypatch.setattr(Evidence, "frame", with_longer)
    answer = macer(Evidence(made, replace(SCALE, equal_time_epochs=44)))
    for words, alone in ((answer.brief.paper, before.paper), (answer.brief.sound, before.sound)):
        first = words.split("<br>")[0].split(": radii ")[1]
        epochs, time = (float(part.split(" %")[0]) for part in first.split(", ")[:2])
        assert first.split(", ")[1].split(";")[0].endswith("at about equal time")
        assert f"radii {epochs:+.1f} % at equal epochs" in alone
        assert 1 + time / 100 == pytest.approx((1 + epochs / 100) / 2, abs=1e-3)
    epochs_of_macer = SCALE.macer_training["epochs"]
    assert isinstance(epochs_of_macer, int)
    assert (
        f"44 epochs of Gaussian training, called about equal time, take {44 / epochs_of_macer / 5.5:.1f}"
        in answer.sentence
    )


def test_points_that_the_search_adds(made: Path) -> None:
    found = table(made)
    average, most = points_added(found)
    assert 0 <= average <= most
    assert points_added(found.assign(radius=found["radius_cohen"])) == (0.0, 0.0)
    two = found.iloc[:2].assign(selected=1, label=1, prediction=1, radius=[1.0, 1.0], radius_cohen=[1.0, 0.5])
    average, most = points_added(two.assign(correct=True))
    assert average == pytest.approx(100 * 0.5 * 0.5, abs=2.0)
    assert most == pytest.approx(50.0)


def test_a_change_of_radii_needs_both_tables(made: Path) -> None:
    found = table(made)
    assert radius_change(found, None) is None
    assert radius_change(found, found.assign(radius_cohen=0.0)) is None
    assert radius_change(found, found) == pytest.approx(0.0)
