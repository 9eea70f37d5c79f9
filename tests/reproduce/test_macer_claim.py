"""What the page says of MACER is what the records and the measured times give, counted here again by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.macer_claim import Three, macer, points_added, radius_change
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
    found = radius_change(table(made), table(made, "gaussian"))
    assert found is not None
    assert found.value == pytest.approx(change)
    band = f"({found.low:+.1f} to {found.high:+.1f})"
    assert answer.paper.startswith(
        f"sigma 0.5, 12 inputs: Cohen's average radius {change:+.1f} % {band} against Gaussian of equal epochs;"
    )
    assert "Cohen's average radius not run against Gaussian of equal time" in answer.paper
    assert answer.brief.paper.startswith(f"sigma 0.5, 12 inputs: radii {change:+.1f} % at equal epochs, not run at")
    assert answer.brief.as_printed.startswith("cost: no; radii, by "), "5.5 times is not ten times"
    assert answer.brief.as_printed.endswith(", on digits")
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
        assert first.split(", ")[1].split(";")[0].endswith("at equal time")
        assert f"radii {epochs:+.1f} % at equal epochs" in alone
        assert 1 + time / 100 == pytest.approx((1 + epochs / 100) / 2, abs=1e-3)
    epochs_of_macer = SCALE.macer_training["epochs"]
    assert isinstance(epochs_of_macer, int)
    assert (
        f"44 epochs of Gaussian training, called equal time, take {44 / epochs_of_macer / 5.5:.2f}" in answer.sentence
    )


def test_points_that_the_search_adds(made: Path) -> None:
    found = table(made)
    added = points_added(found)
    assert added.shape == (12, 39)
    assert added.min() >= 0
    assert points_added(found.assign(radius=found["radius_cohen"])).max() == 0
    two = found.iloc[:2].assign(selected=1, label=1, prediction=1, correct=True, radius=1.0, radius_cohen=[1.0, 0.5])
    added = points_added(two)
    assert added[0].max() == 0
    assert added.mean() == pytest.approx(100 * 0.5 * 0.5, abs=2.0)
    assert added.mean(0).max() == pytest.approx(50.0)
    assert points_added(two.iloc[::-1]).tolist() == added.tolist(), "inputs in their order"
    assert points_added(two, 2.0).mean() == pytest.approx(added.mean() / 2, abs=2.0), "the same over twice the radii"


def test_a_change_of_radii_needs_both_tables(made: Path) -> None:
    found = table(made)
    assert radius_change(found, None) is None
    assert radius_change(found, found.assign(radius_cohen=0.0)) is None
    same = radius_change(found, found)
    assert same is not None
    assert (same.value, same.low, same.high) == pytest.approx((0.0, 0.0, 0.0))
    more = radius_change(found.assign(radius_cohen=1.2 * found["radius_cohen"]).iloc[::-1], found)
    assert more is not None
    assert (more.value, more.low, more.high) == pytest.approx((20.0, 20.0, 20.0)), "the same inputs in any order"


def judged(
    made: Path, monkeypatch: pytest.MonkeyPatch, larger: float, searched: float, base: float = 1.01
) -> dict[str, str]:
    """Verdicts where MACER's Cohen radii are so many times Gaussian's, and the search's so many times either."""
    real = Evidence.frame

    def invented(evidence: Evidence, wanted: Wanted) -> pd.DataFrame | None:
        found = real(evidence, replace(wanted, training="gaussian"))
        if found is None:
            return None
        cohen = pd.Series(np.linspace(0.5, 0.9, len(found)) * (larger if wanted.training == "macer" else 1.0))
        times = searched if wanted.training == "macer" else base
        return found.assign(selected=3, label=3, prediction=3, correct=True, radius_cohen=cohen, radius=times * cohen)

    with monkeypatch.context() as patch:
        patch.setattr(Evidence, "frame", invented)
        words = macer(Evidence(made, SCALE)).brief.as_printed
    return dict(part.split(": ") for part in words.removesuffix(", on digits").split("; "))


def test_verdicts_of_macer_are_of_each_part(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    epochs = f"radii, by {SCALE.macer_training['epochs']} epochs instead of 440"
    parts = ("cost", epochs, "4 points of certified accuracy", "4 % of the average radius", "more than without MACER")
    assert judged(made, monkeypatch, 1.15, 1.2) == dict(zip(parts, ("no", "yes", "yes", "yes", "yes"), strict=True))
    assert judged(made, monkeypatch, 1.05, 1.0, 1.2) == dict(zip(parts, ("no", "no", "no", "no", "no"), strict=True))
    found = judged(made, monkeypatch, 1.15, 1.045)
    assert found["4 % of the average radius"] == "yes"
    assert found["4 points of certified accuracy"] != "yes"


def test_sound_is_of_the_same_inputs_first_and_of_more_aside(made: Path) -> None:
    answer = macer(Evidence(made, SCALE))
    assert (
        answer.sound.count("sigma 0.5, 12 inputs: ") == answer.sound.count("more inputs, sigma 0.5, 20 inputs: ") == 1
    )
    assert "sigma 0.5, 12 inputs: " in answer.brief.sound
    assert "20 inputs" not in answer.brief.sound
    assert "the plan adds" in answer.sound
    assert "the search adds" not in answer.sound
    assert Three(None, None, None).on(Three(None, None, None)) == Three(None, None, None)
