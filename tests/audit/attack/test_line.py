"""The forecast along a direction, on a flat boundary whose votes are known."""

import numpy as np
import pytest
from scipy.special import ndtr as Phi

from doublebubble.audit.attack.line import forecast
from doublebubble.types import Counts

SIGMA, EDGE, OTHERS = 0.5, 0.8, 0.2


def expected(distance: float, n: int) -> Counts:
    """What n draws give on average at a distance: the rival leads beyond the edge, a third class has a part."""
    share = Phi((distance - EDGE) / SIGMA)
    return np.array([(1 - OTHERS) * (1 - share) * n, OTHERS * n, (1 - OTHERS) * share * n]).round().astype(np.int64)


@pytest.mark.parametrize("start", [0.3, 0.7, 0.8, 1.0, 2.0])
@pytest.mark.parametrize("score", [0.0, 6.0])
def test_it_finds_where_the_score_is_reached(start: float, score: float) -> None:
    n = 20_000
    found = forecast(lambda distance: expected(distance, n), 0, start, n, score)
    votes = expected(found.distance, n)
    assert found.rival == 2
    reached = (votes[2] - votes[0]) / (votes[2] + votes[0]) ** 0.5
    assert reached == pytest.approx(score, abs=0.1)


def test_a_rival_that_never_gains_sends_it_farther() -> None:
    flat = np.array([600, 0, 400], np.int64)
    assert forecast(lambda distance: flat, 0, 1.0, 1000, 6.0).distance > 1.5
