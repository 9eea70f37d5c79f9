"""Radii at exact probabilities: nothing to gain at a half-space, and what MATH.md promises for blurred votes."""

import math

import numpy as np
import pytest
import torch
from scipy.special import ndtri
from torch import Tensor, nn

from benchmarks.gains_ceiling import EDGES, lines_for, plugged_in, profiled
from benchmarks.profile_ceiling import exact_radius
from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.geometry.profile import checked_guess, default_edges
from doublebubble.lines import Line
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from tests.geometry.profile.planar import worst_lead
from tests.geometry.profile.truth import blurred_profile

D, DRAWS = 6, 200_000
LEAD = (1.0, -1.0)


class Blurred(nn.Module):
    """Class 0 where 0.8 z + 0.6 T(y) < h: T makes y normal again, and even, so that the slope off z is exactly 0.

    P(class 0 | z) = Phi((h - 0.8 z)/0.6), and P(class 0) = Phi(h).
    """

    def __init__(self, p: float, sigma: float) -> None:
        super().__init__()
        self.h, self.sigma = float(ndtri(p)), sigma

    def forward(self, x: Tensor) -> Tensor:
        z, y = (x[:, i].double() / self.sigma for i in (0, 1))
        even = math.sqrt(2) * torch.special.erfinv(2 * torch.special.erf(y.abs() / math.sqrt(2)) - 1)
        lead = self.h - 0.8 * z - 0.6 * even.clamp(-30, 30)
        return torch.stack([lead, -lead], 1).float()


def drawn(model: nn.Module, line: Line, sigma: float) -> Tally:
    smoothed = SmoothedClassifier(model.eval(), sigma, 2, domain=None, batch_size=2000)
    return smoothed.tally(
        Request(torch.zeros(D), DRAWS, Stream(0, 0, "audit"), (LEAD,), split=DRAWS // 2, lines=(line,))
    )


def test_a_profile_gains_nothing_at_a_half_space() -> None:
    w = np.full(D, D**-0.5)
    model = HalfSpace(-w, 0.3)  # class 1 at the input
    smoothed = SmoothedClassifier(model, 0.5, 2, domain=None, batch_size=2000)
    (line,) = lines_for(smoothed, torch.zeros(D), 1, [0], 2000, Stream(0, 0, "audit", "lines"))
    assert line.direction @ w > 0.999
    tally = smoothed.tally(
        Request(torch.zeros(D), DRAWS, Stream(0, 1, "audit"), ((-1.0, 1.0),), split=DRAWS // 2, lines=(line,))
    )
    _, multiclass, _ = plugged_in(tally, 1, [0], 0.5)
    assert multiclass <= profiled(tally, 1, [0], [line], 0.5) <= 1.015 * multiclass


@pytest.mark.parametrize(("p", "gain"), [(0.7, 22), (0.8, 19), (0.9, 14), (0.97, 9)])
def test_a_blurred_boundary_gains_what_exact_probabilities_allow(p: float, gain: float) -> None:
    """MATH, section 9, *Measured*, for slope 0.8: less what 32 bins hide, up to 2 points where p is smallest."""
    found = exact_radius(blurred_profile(p, 0.8, 0.0, default_edges(32)), float(ndtri(p)))
    reached = 100 * (found.radius / float(ndtri(p)) - 1)
    assert gain - 2.2 < reached < gain + 0.7


def test_no_classifier_with_this_profile_changes_before_and_one_does_there() -> None:
    """The radius against a linear program over all classifiers: a lead just inside, none just beyond."""
    guess = blurred_profile(0.8, 0.8, 0.03, default_edges(16))
    found = exact_radius(guess, float(ndtri(0.8)))
    leads = [
        worst_lead(guess, part * found.displacement[0], part * found.displacement[1], parts=6, rows=60)
        for part in (0.97, 1.03)
    ]
    assert leads[0] > 0 > leads[1]
    assert found.radius > 1.1 * float(ndtri(0.8))


def test_draws_give_what_the_known_profile_gives() -> None:
    line = Line.along(np.eye(D)[0], EDGES)
    tally = drawn(Blurred(0.8, 0.5), line, 0.5)
    ours = profiled(tally, 0, [1], [line], 0.5)
    assert tally.counts[0] / DRAWS == pytest.approx(0.8, abs=0.005)
    exact = exact_radius(blurred_profile(0.8, 0.8, 0.0, np.array(EDGES)), float(ndtri(0.8))).radius
    assert ours == pytest.approx(0.5 * exact, rel=0.02)


def test_prices_for_a_smooth_fit_do_not_gain_by_noise() -> None:
    """A noisy table of a half-space's worth of information: its best prices gain by noise, those of a fit do not."""
    smooth = blurred_profile(0.8, 0.8, 0.0, default_edges(16))
    rng = np.random.default_rng(0)
    f_a = np.clip(smooth.f_a + rng.normal(0, 0.03, 16), 0, 1)
    noisy = checked_guess(smooth.edges, f_a, 1 - f_a, 0.0)
    r0 = float(ndtri(0.8))
    assert exact_radius(smooth, r0, noisy).radius < exact_radius(noisy, r0).radius
