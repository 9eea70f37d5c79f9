"""What the figures of docs/gains.md rest on, against classifiers whose truth is known."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from benchmarks.gains import by_stride
from benchmarks.gains_ceiling import plugged_in
from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace, Slab
from doublebubble.geometry import Rival, first_order_radius
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally

DRAWS = 200_000


def tally(model: torch.nn.Module, top: int) -> Tally:
    x = torch.zeros(20)
    smoothed = SmoothedClassifier(model, 0.5, 2, domain=None, batch_size=1000)
    lead = tuple(1.0 if k == top else -1.0 for k in (0, 1))
    return smoothed.tally(Request(x, DRAWS, Stream(0, 0, "audit"), (lead,), split=DRAWS // 2))


def unit() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.full(20, 20**-0.5)


def test_exact_probabilities_gain_nothing_on_a_half_space() -> None:
    model = HalfSpace(unit(), 0.3)
    top = int(model(torch.zeros(1, 20)).argmax())
    binary, multiclass, best = plugged_in(tally(model, top), top, [1 - top], 0.5)
    assert binary == pytest.approx(0.3, rel=0.02)
    assert multiclass == pytest.approx(binary, rel=1e-4)
    assert multiclass <= best <= 1.02 * multiclass


def test_exact_probabilities_gain_what_first_order_says_on_a_slab() -> None:
    model = Slab(unit(), -0.5, 0.5)
    top = int(model(torch.zeros(1, 20)).argmax())
    outside = 2 * float(norm.cdf(-1.0))
    truth = first_order_radius(1 - outside, [Rival(outside, 0.0)], 0.5)
    _, multiclass, best = plugged_in(tally(model, top), top, [1 - top], 0.5)
    assert best == pytest.approx(truth, rel=0.02)
    assert best > 1.2 * multiclass


@pytest.mark.parametrize("size", [1, 2, 3, 10, 359, 10_000])
def test_the_stride_visits_every_input_once(size: int) -> None:
    assert sorted(by_stride(size)) == list(range(size))
