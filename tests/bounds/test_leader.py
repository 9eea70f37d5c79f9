"""Claims for a class that was not chosen beforehand: wrong ones by exact sums over all sequences of votes."""

import math
import pickle
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr as Phi

from doublebubble.bounds.controlled_votes import Control, is_majority
from doublebubble.bounds.edges import Edges
from doublebubble.bounds.ladder import Stop, looks, vote_ladder
from doublebubble.bounds.leader import (
    Race,
    Win,
    change_race,
    may_change,
    open_levels,
    run_changed,
    run_race,
    start_race,
)
from doublebubble.errors import SettingError
from tests.bounds.exact import chance_of
from tests.bounds.stepping import done, start, step


def open_edges(
    radii: tuple[float, ...], alpha: float, cap: int = 60, beta: float = 0.05, looked: Iterable[int] | None = None
) -> Edges:
    ladder = vote_ladder(radii, 1.0, alpha, beta, cap, open_levels(radii, 1.0, alpha))
    return Edges(ladder, range(1, cap + 1) if looked is None else looked)


def vote(edges: Edges, race: Race, cell: int) -> Race:
    return run_race(edges, race, [cell])


def votes_of(counts: list[int]) -> list[int]:
    return [label for label, times in enumerate(counts) for _ in range(times)]


def replayed(edges: Edges, classes: int, looks: list[list[int]]) -> Race:
    race = start_race(edges, classes)
    for counts in looks:
        race = run_race(edges, race, votes_of(counts))
    return race


def wrong(edges: Edges, race: Race, ps: list[float]) -> bool:
    """A radius is claimed whose threshold the candidate's probability does not exceed."""
    if race.candidate is None:
        return False
    return float(Phi(edges.ladder.radii[race.certified - 1])) >= ps[race.candidate]


@pytest.mark.parametrize("ps", [[0.5, 0.5], [0.5, 0.3, 0.2], [0.6, 0.4], [0.69, 0.31]])
def test_wrong_claims_are_at_most_alpha_exactly(ps: list[float]) -> None:
    for radii in ((0.0,), (0.0, 0.25), (0.25, 0.4), (0.0, 0.5)):
        edges = open_edges(radii, 0.3)
        depth = 11 if len(ps) == 2 else 7
        chance = chance_of(
            start_race(edges, len(ps)),
            partial(vote, edges),
            partial(wrong, edges, ps=ps),
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


@pytest.mark.parametrize("sigma", [0.25, 0.5, 2.0, 4.0])
def test_levels_depend_on_radii_in_units_of_sigma_alone(sigma: float) -> None:
    radii = (0.1, 0.5, 1.0, 7.9)
    for reserve in (0.0, 1e-4):
        scaled = open_levels([sigma * t for t in radii], sigma, 0.001, reserve)
        assert scaled == open_levels(radii, 1.0, 0.001, reserve)
    with pytest.raises(SettingError, match=r"7\.9 sigma"):
        open_levels([7.91 * sigma], sigma, 0.001)


def test_the_leader_becomes_the_candidate_and_stays() -> None:
    edges = open_edges((0.5, 1.0), 0.001, 1000, looked=(4, 34, 234, 1000))
    race = replayed(edges, 4, [[1, 3, 0, 0], [0, 30, 0, 0]])
    assert race.leader == 1
    assert race.candidate == 1
    assert race.wins == (Win(34, 33), None)
    race = run_race(edges, race, [0] * 200)
    assert (race.leader, race.candidate, race.draws, race.votes[1]) == (1, 1, 234, 33)
    assert race.stop is Stop.GIVEN_UP
    assert run_race(edges, race, [1] * 1000) is not race
    assert run_race(edges, race, [1] * 1000) == race, "once decided, nothing more is looked at"
    assert pickle.loads(pickle.dumps(race)) == race  # noqa: S301


def test_nothing_counts_for_a_leader_that_changes() -> None:
    """A larger radius that won early, while the smallest had not, is not carried over to another class."""
    edges = open_edges((0.5, 1.0), 0.001, 1000, looked=(6, 13, 1000))
    race = replayed(edges, 2, [[6, 0], [0, 7]])
    assert race.leader == 1
    assert race.candidate is None
    assert race.wins == (None, None)


def test_only_a_win_of_the_smallest_radius_opens_the_ladder() -> None:
    """At level 3e-10 the first radius waits longer than the second, whose early wins do not count."""
    ladder = vote_ladder((0.1, 0.2), 1.0, 0.3, 0.05, 100, (1e-6, 0.3))
    edges = Edges(ladder, range(1, 101))
    race = start_race(edges, 2)
    while race.candidate is None:
        assert race.certified == 0
        race = vote(edges, race, 0)
    assert race.wins == (Win(race.draws, race.draws),) * 2
    assert edges[race.draws - 2].hits[1] < race.draws


def test_only_the_radii_before_the_first_that_has_not_won_are_claimed() -> None:
    """Wealths need not be monotone in the radius: the order of claims takes care of it."""
    ladder = vote_ladder((0.1, 0.2, 0.3), 1.0, 0.3, 0.05, 100, (0.3, 1e-9, 0.3))
    race = replayed(Edges(ladder, (20, 100)), 2, [[20, 0]])
    assert [win is not None for win in race.wins] == [True, False, True]
    assert race.certified == 1


SHARED = open_edges((0.25, 0.5, 1.0), 0.05, 60, beta=0.2)


@settings(max_examples=40)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1), st.floats(0.3, 0.99))
def test_races_decide_as_the_ladder_itself_does(classes: int, seed: int, p: float) -> None:
    """The wealths of the leader, evaluated at every look, and the flags that they leave behind."""
    edges = SHARED
    ladder, law = edges.ladder, [p, *[(1 - p) / (classes - 1)] * (classes - 1)]
    race, progress, candidate = start_race(edges, classes), start(ladder), None
    refused: tuple[bool, ...] = (False,) * 3
    for cell in np.random.default_rng(seed).choice(classes, 60, p=law).tolist():
        race = vote(edges, race, cell)
        if candidate is None:
            hits = max(race.votes)
            progress = step(ladder, start(ladder), [[hits, race.draws - hits]])
            candidate = race.votes.index(hits) if progress.certified else None
        else:
            progress = step(ladder, progress, [[int(cell == candidate), int(cell != candidate)]])
        refused = tuple(a or b for a, b in zip(refused, progress.refused, strict=True))
        progress = replace(progress, refused=refused)
        assert race.candidate == candidate
        assert race.certified == progress.certified
        assert race.stop is done(ladder, progress)
        if done(ladder, progress) is not None:
            break


def test_giving_up_is_wrong_at_most_beta() -> None:
    edges = open_edges((0.8,), 0.001, 10**6, beta=0.3, looked=(*range(1, 31), 10**6))
    p = float(Phi(0.8)) + 1e-9
    chance = chance_of(
        start_race(edges, 2),
        lambda race, cell: vote(edges, race, cell),
        lambda race: race.refused == 0,
        [p, 1 - p],
        30,
    )
    assert 0.01 < chance <= 0.3


def test_votes_may_come_in_pieces_of_any_size() -> None:
    """Those that do not reach the next look are not looked at; the same votes in one piece decide the same."""
    edges = open_edges((0.25, 0.5), 0.01, 1000, looked=looks(1000))
    votes = np.random.default_rng(5).choice(3, 1000, p=[0.75, 0.15, 0.1]).tolist()
    whole = run_race(edges, start_race(edges, 3), votes)
    assert whole.stop is not None
    assert whole.draws < 1000
    assert list(whole.votes) == np.bincount(votes[: whole.draws], minlength=3).tolist()
    for piece in (1, 7, 100):
        race, drawn = start_race(edges, 3), 0
        while race.stop is None:
            drawn += piece
            race = run_race(edges, race, votes[race.draws : drawn])
        assert race == whole


@pytest.mark.parametrize(("precision", "stop"), [(0.21, Stop.PRECISE), (0.19, Stop.CAP), (None, Stop.CAP)])
def test_a_precision_stops_when_the_bracket_is_narrow(precision: float | None, stop: Stop) -> None:
    """The smallest of three radii is claimed, the largest refused, the one between neither."""
    radii = (0.5, 0.55, 0.6)
    ladder = vote_ladder(radii, 1.0, 0.05, 0.2, 20_000, open_levels(radii, 1.0, 0.05), precision)
    race = replayed(Edges(ladder, (20_000,)), 2, [[14_200, 5800]])
    assert (race.certified, race.refused, race.stop) == (1, 2, stop)


def test_what_does_not_fit_is_refused() -> None:
    edges = open_edges((0.3,), 0.001)
    with pytest.raises(SettingError):
        start_race(edges, 1)
    with pytest.raises(IndexError):
        run_race(edges, start_race(edges, 2), [2])
    for radii, alpha in (((-0.1,), 0.1), ((9.0,), 0.1), ((), 0.1), ((0.5,), 0.0), ((0.5,), 0.6)):
        with pytest.raises(SettingError):
            open_levels(radii, 1.0, alpha)


@given(st.floats(0.01, 3), st.floats(0.51, 0.999), st.sampled_from([0.1, 0.001, 1e-6]), st.floats(0.001, 0.3))
def test_a_change_is_paid_for(t: float, p: float, alpha: float, part: float) -> None:
    """(Q6): the class above 1/2 at its level, the others by counting, and the reserve, are alpha at most."""
    p0, reserve = float(Phi(t)), part * alpha
    first, second = open_levels([t, t + 0.5], 1.0, alpha, reserve)
    power = math.log(first) / math.log(p0)
    if p <= p0:
        assert first + (1 - p) ** power + reserve <= alpha * (1 + 1e-9)
    else:
        assert second + (1 - p) ** power + reserve <= alpha * (1 + 1e-9)
    assert first + 0.5**power + reserve > alpha * (1 - 1e-6)  # and no more than that
    with pytest.raises(SettingError, match="reserve"):
        open_levels([t], 1.0, alpha, alpha)


def changed(edges: Edges, votes: list[int]) -> Race:
    """A race of three classes that goes on with a control variate after these votes."""
    control = Control((0.0,), (0.6, 0.9), ((1, 1), (1, 1)))
    return change_race(edges, run_race(edges, start_race(edges, 3), votes), 1.0, control)


def test_after_a_change_only_its_class_is_counted() -> None:
    """However many votes another class gets: the table, the leader and every win are of the class of the change."""
    edges = open_edges((0.5, 1.0), 0.01, 1000, beta=1e-12)
    race = changed(edges, [1] * 6 + [0] * 3)
    assert race.leader == 1
    assert race.candidate is None
    race = run_changed(edges, race, [0] * 20 + [1] * 2, [0, 1] * 11)
    assert race.leader == 1
    assert race.table == ((1, 10), (1, 10))
    assert race.votes == (23, 8, 0)
    assert race.certified == 0
    with pytest.raises(SettingError, match="control variate"):
        run_changed(edges, start_race(edges, 3), [0], [0])


def test_wins_after_a_change_are_those_of_its_wealth_with_their_tables() -> None:
    edges = open_edges((0.5, 1.0), 0.01, 1000)
    race = changed(edges, [1] * 6 + [0])
    assert race.open == [0, 1]
    race = run_changed(edges, race, [1] * 100, [0, 1] * 50)
    assert (race.certified, race.stop, race.candidate) == (2, Stop.CERTIFIED, 1)
    for place, win in enumerate(race.wins):
        assert win is not None
        assert win.table is not None
        assert race.change is not None
        assert sum(map(sum, win.table)) == win.draws - 7
        assert place in race.change.won(np.array(win.table))
        before = [[win.table[0][0] - (win.draws % 2 == 0), 0], [win.table[1][0] - (win.draws % 2 == 1), 0]]
        assert place not in race.change.won(np.array(before))


def test_a_change_needs_a_claim_or_a_majority() -> None:
    edges = open_edges((0.1, 2.0), 0.01, 10**5, looked=looks(10**5))
    few = run_race(edges, start_race(edges, 2), [0] * 4)
    assert not may_change(edges, few, 0.01)
    claimed = run_race(edges, start_race(edges, 2), [0] * 12)
    assert claimed.candidate == 0
    assert may_change(edges, claimed, 0.01)
    settled = run_race(edges, replace(start_race(edges, 2), refused=2), [0] * 40)
    assert may_change(edges, replace(settled, candidate=None), 0.01)


def test_a_race_pauses_where_it_is_asked_to_and_goes_on_as_if_it_had_not() -> None:
    edges = open_edges((0.5,), 0.001, 1000, looked=looks(1000))
    votes = np.random.default_rng(1).choice(2, 1000, p=[0.72, 0.28]).tolist()
    whole = run_race(edges, start_race(edges, 2), votes)
    seen: list[tuple[int, int]] = []

    def pause(draws: int, hits: int, places: list[int]) -> bool:
        seen.append((draws, hits))
        assert places == [0]
        return draws > 40

    paused = run_race(edges, start_race(edges, 2), votes, pause)
    assert paused.paused
    assert paused.stop is None
    assert seen[-1] == (paused.draws, paused.votes[0])
    assert seen[-2][0] <= 40 < paused.draws
    assert run_race(edges, paused, votes[paused.draws :]) == whole


def test_the_majority_is_asked_for_at_alpha() -> None:
    """What a class pays for being changed to is a part of alpha, so its majority must be sure at that level."""
    alpha, radii = 1e-6, (0.5, 1.0)
    edges = Edges(vote_ladder(radii, 1.0, alpha, 0.05, 10**5, open_levels(radii, 1.0, alpha)), looks(10**5))
    answers = set()
    for hits in range(8, 60):
        race = replace(start_race(edges, 2), votes=(hits, 0))
        answers.add(may_change(edges, race, alpha))
        assert may_change(edges, race, alpha) == is_majority(hits, hits, alpha, 10**5)
    assert answers == {True, False}
