"""Guesses of the lead's gradient: towards the draws where there are enough, towards the usual where there are not."""

import numpy as np
import pytest
import torch

from doublebubble.bounds import GradientTest, VoteBounds, largest_lead_gradient
from doublebubble.search.lead import LeadTest, at_faces, blocked_part, lead_test, vote_shares, weights_for
from doublebubble.tally import Tally

ROW = (0.0, 1.0)


def seen(dot: float, n1: int) -> Tally:
    """Half means with this inner product."""
    sums = np.zeros((2, 1, 3072))
    sums[0, 0, 0], sums[1, 0, 0] = n1 * abs(dot) ** 0.5, n1 * np.sign(dot) * abs(dot) ** 0.5
    return Tally(np.array([n1, n1]), 2 * n1, (n1, n1), sums, None, moments=(ROW,))


def test_the_guess_follows_the_draws_once_there_are_enough() -> None:
    votes = VoteBounds(0.4, 0.3)
    top = largest_lead_gradient(votes)
    many, few = (LeadTest(1, votes, GradientTest(n1, n1, 1.0, 1.0), ROW) for n1 in (50_000, 50))
    assert many.guess(seen(0.25, 50_000), votes) == pytest.approx(0.5, rel=0.05)
    assert few.guess(seen(40.0, 50), votes) == pytest.approx(top, rel=0.3)
    assert few.guess(seen(0.0, 50), votes) == pytest.approx(0.8 * top, rel=0.05)
    assert many.guess(seen(-1.0, 50_000), votes) > 0


def test_a_probe_asks_for_the_lead_over_one_class_or_over_all_others() -> None:
    counts = np.array([50, 30, 20])
    one, every = lead_test(counts, 0, 1, 100, 10, 0.01), lead_test(counts, 0, None, 100, 10, 0.01)
    assert np.diff(one.weights).tolist() == pytest.approx([2.0, -1.0])
    assert np.diff(every.weights).tolist() == pytest.approx([2.0, 0.0])
    assert weights_for(3, 0, 1, one.test) == one.weights
    assert vote_shares(counts, 0, 1) == VoteBounds(51 / 101, 30.5 / 101)
    assert vote_shares(counts, 0, None) == VoteBounds(51 / 101, 50.5 / 101)


def test_only_faces_where_x_lies_have_a_sign() -> None:
    x = torch.tensor([0.0, 0.5, 1.0, 1e-7])
    assert at_faces((0.0, 1.0), x).tolist() == [1, 0, -1, 0]
    assert at_faces(None, x).tolist() == [0, 0, 0, 0]


def test_what_is_blocked_points_inwards_and_is_no_more_than_two_looks_agree_on() -> None:
    faces = np.array([1, 1, -1, 0], np.int8)
    slope = np.array([0.4, -0.4, -0.3, 0.9])
    eta = blocked_part(faces, [slope, slope], 1.0)
    assert eta is not None
    assert eta.tolist() == pytest.approx([0.4, 0.0, -0.3, 0.0])
    noisy = np.random.default_rng(0).normal(size=(2, 4))
    assert blocked_part(faces, [noisy[0], -noisy[0]], 1.0) is None
    assert blocked_part(faces, [slope, slope], 100.0) is None  # too small a part to be worth it
    halved = blocked_part(faces, [1.5 * slope, 0.5 * slope], 1.0)
    assert halved is not None
    assert np.abs(halved).sum() < np.abs(eta).sum()
