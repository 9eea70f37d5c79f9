"""Forecasts against what came of the certification itself, and against closed forms."""

from typing import Any

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.errors import SettingError
from doublebubble.geometry import cohen_ceiling

MODEL = HalfSpace(np.array([1.0, 0.0]), 0.0)
AT = torch.linspace(-0.6, 1.4, 60)
DATA = (torch.stack([AT, torch.zeros(60)], 1), (AT > -0.3).long())
CAP = 3000


def plan(**settings: Any) -> db.Plan:
    asked: dict[str, Any] = {"radii": (0.25, 0.5), "max_draws": CAP, "n": 500, **settings}
    return db.plan(MODEL, DATA, 0.5, domain=None, **asked)


def test_the_forecast_is_near_what_comes() -> None:
    found = plan()
    asked: dict[str, Any] = {"domain": None, "radii": (0.25, 0.5), "max_draws": CAP, "quiet": True}
    run = db.certify(MODEL, DATA, 0.5, noise="gaussian64", **asked)  # under this noise votes are only counted
    for one in found.radii:
        assert run.certified_accuracy(one.radius) == pytest.approx(one.certified, abs=0.06)
    draws = float(run.frame["draws"].mean())
    assert 0.7 * draws < found.draws < 1.3 * draws
    helped = db.certify(MODEL, DATA, 0.5, **asked)  # a control variate saves draws, and the forecast leaves that out
    assert float(helped.frame["draws"].mean()) < 1.05 * draws
    fixed = db.certify(MODEL, DATA, 0.5, domain=None, n=500, methods=("cohen",), quiet=True)
    for one in found.radii:
        assert fixed.certified_accuracy(one.radius) == pytest.approx(one.certified_at_n, abs=0.06)


def test_what_is_known_beforehand_is_exact() -> None:
    found = plan(inputs=5, draws=10)
    assert [one.fewest for one in found.radii] == [19, 40]
    assert found.ceiling == cohen_ceiling(500, 0.001, 0.5)
    assert (found.size, found.inputs, found.pilot) == (60, 5, 10)
    assert found.seconds == pytest.approx(60 * found.draws / found.rate)
    assert found.seconds_at_n == pytest.approx(60 * 500 / found.rate)
    words = repr(found)
    assert "no fewer than 40 draws certify it" in words
    assert "certify a Cohen radius of at most" in words


def test_the_same_draws_every_time_and_not_those_of_the_certification() -> None:
    first, again, other = plan(inputs=8), plan(inputs=8), plan(inputs=8, seed=1)
    assert [one.certified for one in first.radii] == [one.certified for one in again.radii]
    assert [one.certified for one in first.radii] != [one.certified for one in other.radii]


def test_a_plan_needs_inputs_and_draws() -> None:
    for wrong in ({"inputs": 0}, {"draws": 1}):
        with pytest.raises(SettingError, match="at least 1 input and 2 draws"):
            plan(**wrong)
