"""Training is timed as it is done, without its first step, on equally many images."""

from pathlib import Path

import pytest

from doublebubble.reproduce import training_cost as timing
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.training_cost import KEPT, TrainingCost, training_cost
from tests.reproduce.invented import SCALE, STUDY, Silent


def test_a_ratio_is_that_of_medians() -> None:
    cost = TrainingCost(sigma=1.0, images=9, gaussian=(1.0, 9.0, 2.0), macer=(7.0, 8.0, 100.0))
    assert cost.ratio == 4.0


def test_both_are_trained_on_the_same_images_and_the_first_step_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "_IMAGES", 96)
    ticks = iter(range(10_000))
    monkeypatch.setattr("time.process_time", lambda: float(next(ticks)))
    lab = Laboratory(SCALE, tmp_path, tmp_path / "models", Silent())
    cost = training_cost(lab, STUDY)
    assert (cost.images, cost.sigma) == (96, 1.0)
    batch = SCALE.recipe(STUDY, "gaussian").get("batch_size", 32)
    assert batch == 32
    assert cost.gaussian == (2.0,) * 3, "three steps, of which two are timed"
    assert len(cost.macer) == 3
    assert (tmp_path / "simulations" / f"{KEPT}.json").exists()
    assert training_cost(lab, STUDY) == cost, "what is on disk is not measured again"
