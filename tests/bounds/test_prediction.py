"""Naming a class as votes come: wrong names by exact sums over all sequences of votes, and the level's proof."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.bounds.prediction import Lead, tie_level
from doublebubble.bounds.sequences import log_wealth, target, vote_bet
from doublebubble.errors import SettingError
from tests.bounds.exact import chance_of

Counts = tuple[int, ...]


def voted(counts: Counts, cell: int) -> Counts:
    return (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])


def named(lead: Lead, counts: Counts) -> int | None:
    second, first = sorted(counts)[-2:]
    return counts.index(first) if first >= lead.needed(second) else None


@pytest.mark.parametrize(
    "ps", [[0.5, 0.5], [0.45, 0.45, 0.1], [1 / 3] * 3, [0.25] * 4, [0.4, 0.3, 0.3], [0.6, 0.4], [0.3, 0.3, 0.25, 0.15]]
)
def test_a_class_that_is_not_alone_the_likeliest_is_named_at_most_alpha_of_the_time(ps: list[float]) -> None:
    alpha, lead = 0.3, Lead(0.3, len(ps), 60)
    alone = ps.count(max(ps)) == 1
    chance = chance_of(
        (0,) * len(ps),
        voted,
        lambda counts: (winner := named(lead, counts)) is not None and not (alone and winner == 0),
        ps,
        40 if len(ps) == 2 else 16 if len(ps) == 3 else 11,
    )
    assert chance <= alpha
    if ps == [0.5, 0.5]:
        assert chance > 0.12  # either class may be named, and that is paid for


@given(st.floats(0, 1), st.integers(2, 50))
def test_the_inequality_of_the_proof(stake: float, m: int) -> None:
    """(1 + s)^(2(m-1)/m) - 1 <= (m - 1) (1 - (1 - s)^(2/m)), the step that lets many classes share one level."""
    left = (1 + stake) ** (2 * (m - 1) / m) - 1
    right = (m - 1) * (1 - (1 - stake) ** (2 / m))
    assert left <= right + 1e-12 * (1 + right)


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
def test_the_level_pays_for_every_class(classes: int) -> None:
    for alpha in (0.3, 0.001, 1e-6):
        level = tie_level(alpha, classes)
        total = level + math.fsum(level ** (2 * (i - 1) / i) for i in range(2, classes + 1))
        assert alpha * (1 - 1e-6) < total <= alpha
    assert tie_level(0.001, 2) == pytest.approx(0.0005, rel=1e-6)


def test_the_lead_is_where_the_wealth_crosses() -> None:
    lead, level = Lead(0.01, 5, 300), tie_level(0.01, 5)
    bet = vote_bet(0.0, level, 300)
    for second in (0, 1, 5, 40, 100):
        needed = lead.needed(second)
        assert log_wealth(bet, [needed, second]) >= target(level)
        assert log_wealth(bet, [needed - 1, second]) < target(level)
    assert lead.needed(290) == 301
    assert lead.needed(0) <= math.ceil(math.log2(1 / level)) + 4


def test_what_does_not_fit_is_refused() -> None:
    for alpha, classes in ((0.0, 2), (1.0, 2), (0.1, 1)):
        with pytest.raises(SettingError):
            tie_level(alpha, classes)
