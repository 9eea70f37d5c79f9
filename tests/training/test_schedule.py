"""The learning rate of a step, for each schedule."""

import math

import pytest

from doublebubble.training import preset
from doublebubble.training.schedule import learning_rate


def test_one_cycle_rises_to_the_peak_and_falls_to_nothing() -> None:
    chosen = preset("mnist", "gaussian", 0.5, schedule="one-cycle", lr=0.4, epochs=10)
    rates = [learning_rate(chosen, step, 10) for step in range(100)]
    assert max(rates) == rates[20] == pytest.approx(0.4)
    assert rates[:21] == sorted(rates[:21])
    assert rates[20:] == sorted(rates[20:], reverse=True)
    assert rates[60] == pytest.approx(0.2)
    assert rates[99] == pytest.approx(0.2 * (1 + math.cos(math.pi * 79 / 80)))


def test_steps_divide_by_ten_at_each_milestone_and_constant_never_changes() -> None:
    stepped = preset("mnist", "gaussian", 0.5, schedule="steps", milestones=(2, 3), lr=0.5, epochs=4)
    assert [learning_rate(stepped, step, 5) for step in (0, 9, 10, 14, 15, 19)] == pytest.approx(
        [0.5, 0.5, 0.05, 0.05, 0.005, 0.005]
    )
    constant = preset("mnist", "gaussian", 0.5, schedule="constant", lr=0.5, epochs=4)
    assert {learning_rate(constant, step, 5) for step in range(20)} == {0.5}
