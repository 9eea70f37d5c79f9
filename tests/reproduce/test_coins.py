"""Coins: the same probabilities wherever the input is moved, each draw by itself."""

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from doublebubble.errors import SettingError
from doublebubble.reproduce.coins import Coins
from doublebubble.smoothing import SmoothedClassifier

P = np.array([0.6, 0.0, 0.3, 0.1])


@pytest.mark.parametrize(("dimension", "sigma"), [(1, 0.1), (3, 0.25), (784, 1.0)])
def test_votes_have_the_probabilities_asked_for_at_every_point(dimension: int, sigma: float) -> None:
    smoothed = SmoothedClassifier(Coins(P), sigma, 4, None, batch_size=5000)
    for number, point in enumerate((torch.zeros(dimension), torch.full((dimension,), 0.37))):
        votes = smoothed.counts(point, 20_000, seed=1, index=number)
        assert votes[1] == 0
        kept = P > 0
        assert chisquare(votes[kept], 20_000 * P[kept]).pvalue > 1e-4


def test_neighbouring_draws_are_independent() -> None:
    noise = torch.randn(20_001, 5, generator=torch.Generator().manual_seed(0))
    votes = Coins([0.5, 0.5])(noise).argmax(1).numpy()
    agree = int((votes[1:] == votes[:-1]).sum())
    assert abs(agree - 10_000) < 4 * np.sqrt(20_000) / 2


@pytest.mark.parametrize("p", [[1.0], [0.0, 0.0], [0.5, -0.5], [[0.5, 0.5]]])
def test_shares_that_are_none_are_refused(p: list[float]) -> None:
    with pytest.raises(SettingError, match="coins: expected a share >= 0 for each of at least 2 classes"):
        Coins(p)
