"""Claims for a class that was not chosen beforehand: wrong ones by exact sums over all sequences of votes."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr as Phi

from doublebubble.bounds.ladder import Ladder, Stop, vote_ladder
from doublebubble.bounds.leader import Race, open_levels, race_done, replay_race, start_race, step_race
from doublebubble.errors import InputError, SettingError
from tests.bounds.exact import chance_of


def open_ladder(radii: tuple[float, ...], alpha: float, cap: int = 60, beta: float = 0.05) -> Ladder:
    return vote_ladder(radii, 1.0, alpha, beta, cap, open_levels(radii, 1.0, alpha))


def vote(ladder: Ladder, race: Race, cell: int) -> Race:
    return step_race(ladder, race, np.eye(len(race.votes), dtype=int)[cell])


def wrong(ladder: Ladder, race: Race, ps: list[float]) -> bool:
    """A radius is claimed whose threshold the candidate's probability does not exceed."""
    if race.candidate is None:
        return False
    return float(Phi(ladder.radii[race.progress.certified - 1])) >= ps[race.candidate]


@pytest.mark.parametrize("ps", [[0.5, 0.5], [0.5, 0.3, 0.2], [0.6, 0.4], [0.69, 0.31]])
def test_wrong_claims_are_at_most_alpha_exactly(ps: list[float]) -> None:
    for radii in ((0.0,), (0.0, 0.25), (0.25, 0.4), (0.0, 0.5)):
        ladder = open_ladder(radii, 0.3)
        depth = 11 if len(ps) == 2 else 7
        chance = chance_of(
            start_race(ladder, len(ps)),
            lambda race, cell, ladder=ladder: vote(ladder, race, cell),  # type: ignore[misc]
            lambda race, ladder=ladder: wrong(ladder, race, ps),  # type: ignore[misc]
            ps,
            depth,
        )
        assert chance <= 0.3
        if max(ps) == 0.5 and len(ps) == 2 and radii[0] == 0:
            assert chance > 0.1  # either class may be claimed, and that is paid for


@given(st.floats(0, 3), st.lists(st.floats(0.01, 1), min_size=2, max_size=20), st.sampled_from([0.1, 0.001, 1e-6]))
def test_the_first_level_pays_for_all_classes(t: float, sizes: list[float], alpha: float) -> None:
    """The sum of the bounds over all classes that are not above the threshold, for any probabilities."""
    p0 = float(Phi(t))
    level = open_levels([t], 1.0, alpha)[0]
    ps = np.minimum(np.array(sizes) / sum(sizes), p0)
    power = math.log(level) / math.log(p0)
    assert float((ps**power).sum()) <= alpha
    assert p0**power + (1 - p0) ** power <= alpha * (1 + 1e-9)
    assert p0**power + (1 - p0) ** power > alpha * (1 - 1e-6)  # and no more than that


def test_levels_rise_to_alpha() -> None:
    assert open_levels([0.0], 1.0, 0.001)[0] == pytest.approx(0.0005, rel=1e-6)
    assert open_levels([1.0], 1.0, 0.001)[0] == pytest.approx(0.001, rel=1e-9)
    levels = open_levels([0.0, 0.1, 0.5, 1.0, 2.0], 1.0, 0.001)
    assert all(a <= b for a, b in pairwise(levels))
    assert levels[-1] == pytest.approx(0.001, rel=1e-3)
    power = math.log(levels[0]) / math.log(0.5)
    for p, level in zip(Phi(np.array([0.0, 0.1, 0.5, 1.0])), levels[1:], strict=True):
        assert level + (1 - p) ** power <= 0.001


def test_the_leader_becomes_the_candidate_and_stays() -> None:
    ladder = open_ladder((0.5, 1.0), 0.001, 1000)
    race = replay_race(ladder, 4, [[1, 3, 0, 0], [0, 30, 0, 0]])
    assert race.leader == 1
    assert race.candidate == 1
    assert race.progress.certified == 1
    race = step_race(ladder, race, [200, 0, 0, 0])
    assert (race.leader, race.candidate, race.progress.draws) == (1, 1, 234)
    assert race.progress.counts == ((33, 201),)
    assert race_done(ladder, race) is Stop.GIVEN_UP
    assert pickle.loads(pickle.dumps(race)) == race  # noqa: S301


def test_nothing_counts_for_a_leader_that_changes() -> None:
    """A larger radius that won early, while the smallest had not, is not carried over to another class."""
    ladder = open_ladder((0.5, 1.0), 0.001, 1000)
    race = replay_race(ladder, 2, [[6, 0], [0, 7]])
    assert race.leader == 1
    assert race.progress.counts == ((7, 6),)
    assert not any(any(row) for row in race.progress.reached)


def test_giving_up_is_wrong_at_most_beta() -> None:
    ladder = open_ladder((0.8,), 0.001, 10**6, beta=0.3)
    p = float(Phi(0.8)) + 1e-9
    chance = chance_of(
        start_race(ladder, 2),
        lambda race, cell: vote(ladder, race, cell),
        lambda race: race.progress.given_up > 0,
        [p, 1 - p],
        30,
    )
    assert 0.01 < chance <= 0.3


def test_what_does_not_fit_is_refused() -> None:
    ladder = open_ladder((0.3,), 0.001)
    with pytest.raises(SettingError):
        start_race(ladder, 1)
    for bad in ([1], [1, -1], [0.5, 1]):
        with pytest.raises(InputError):
            step_race(ladder, start_race(ladder, 2), bad)
    for radii, alpha in (((-0.1,), 0.1), ((9.0,), 0.1), ((), 0.1), ((0.5,), 0.0), ((0.5,), 0.6)):
        with pytest.raises(SettingError):
            open_levels(radii, 1.0, alpha)
