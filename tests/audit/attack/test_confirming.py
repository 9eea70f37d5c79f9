"""The test of a success: its level where the two classes tie, its exact p-value, distances that are never too small."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import stats

from doublebubble.audit.attack.confirming import TRIES, Confirmer, distance_up, sign_test
from doublebubble.audit.oracles import HalfSpace, LinearClassifier
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally


@pytest.mark.parametrize(("rival", "top"), [(0, 0), (0, 7), (7, 0), (5, 5), (30, 12), (12, 30), (600, 400)])
def test_the_p_value_is_the_exact_tail(rival: int, top: int) -> None:
    m = rival + top
    exact = Fraction(sum(math.comb(m, k) for k in range(rival, m + 1)), 2**m)
    assert sign_test(rival, top) == pytest.approx(float(exact), rel=1e-9)


def smoothed() -> SmoothedClassifier:
    return SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.0), 0.5, 2, None, batch_size=500)


def test_where_the_classes_tie_it_errs_no_more_often_than_its_level() -> None:
    """One test of each of 600 inputs at a point where rival and top are equally likely."""
    level, times, n = 0.1 * TRIES, 600, 99
    y, passed, classifier = torch.tensor([0.0, 0.3]), 0, smoothed()
    for index in range(times):
        confirmer = Confirmer(classifier, torch.tensor([-1.0, 0.0]), 0, n, level, Stream(0, index, "attack"))
        passed += confirmer.test(y, 1) is not None
    assert passed <= stats.binom.isf(1e-4, times, 0.1)
    assert passed >= 0.04 * times, "a test that never passes would show nothing"


def test_it_passes_only_where_the_rival_is_likelier_and_says_where_that_is() -> None:
    x = torch.tensor([-1.0, 0.0])
    confirmer = Confirmer(smoothed(), x, 0, 4000, 1e-6, Stream(0, 3, "attack"))
    assert confirmer.test(torch.tensor([-0.2, 0.0]), 1) is None
    success = confirmer.test(torch.tensor([0.2, 0.3]), 1)
    assert success is not None
    assert success.rival == 1
    assert sum(success.votes) == 4000
    assert success.p_value == sign_test(*success.votes) <= 1e-6 / TRIES
    assert success.point.tolist() == torch.tensor([0.2, 0.3]).double().tolist()
    exact = math.hypot(float(torch.tensor(0.2)) + 1.0, float(torch.tensor(0.3)))
    assert exact <= success.distance <= exact + 1.1e-6
    assert confirmer.tested == 2


def test_only_the_votes_of_the_rival_count_against_the_top_class() -> None:
    """Two rivals that share the noise beyond the top class: together they are likelier than it, neither alone is."""
    classifier = SmoothedClassifier(LinearClassifier(np.eye(3), [0.1, 0.0, 0.0]), 0.5, 3, None, batch_size=500)
    confirmer = Confirmer(classifier, torch.ones(3), 0, 4000, 1e-6, Stream(0, 0, "attack"))
    assert confirmer.test(torch.zeros(3), 1) is None
    assert confirmer.test(torch.zeros(3), 2) is None


def test_the_level_is_shared_and_cannot_be_overspent() -> None:
    confirmer = Confirmer(smoothed(), torch.zeros(2), 0, 10, 0.5, Stream(0, 0, "attack"))
    for _ in range(TRIES):
        assert not confirmer.spent
        confirmer.test(torch.tensor([0.1, 0.0]), 1)
    assert confirmer.spent
    with pytest.raises(AssertionError, match="spent"):
        confirmer.test(torch.tensor([0.1, 0.0]), 1)
    assert confirmer.score == pytest.approx(stats.norm.isf(0.5 / TRIES))


def test_every_point_has_draws_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point chosen after another was tested never meets the draws that were seen there."""
    names = list[Stream]()
    tally = SmoothedClassifier.tally

    def watched(self: SmoothedClassifier, request: Request) -> Tally:
        names.append(request.stream)
        return tally(self, request)

    monkeypatch.setattr(SmoothedClassifier, "tally", watched)
    confirmer = Confirmer(smoothed(), torch.zeros(2), 0, 10, 0.5, Stream(7, 5, "attack"))
    for at in (0.1, 0.2, 0.1):
        confirmer.test(torch.tensor([at, 0.0]), 1)
    assert {(name.seed, name.index, name.stage) for name in names} == {(7, 5, "attack")}
    assert all(name.part.startswith("confirm/1/") for name in names)
    assert names[0] == names[2] != names[1]


def test_distances_are_never_rounded_down() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 64, 3000):
        for scale in (1e-3, 1.0, 1e3):
            x = rng.random(size).astype(np.float32).astype(np.float64)
            y = (x + scale * rng.standard_normal(size)).astype(np.float32).astype(np.float64)
            exact = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(y.tolist(), x.tolist(), strict=True))
            found = Fraction(distance_up(y, x))
            assert found**2 >= exact
            assert float(found**2 / exact) <= 1 + 1e-13
    assert distance_up(np.zeros(3), np.zeros(3)) == 0.0
