"""Exact chances over all sequences of a few draws: what the tests of bets compare with."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from doublebubble.bounds.sequences import Bet, Wealth, target
from doublebubble.types import Floats

State = TypeVar("State")


def chance_of(
    state: State, step: Callable[[State, int], State], claims: Callable[[State], bool], law: list[float], depth: int
) -> float:
    """The chance that `claims` ever holds within `depth` draws, each in cell i with chance law[i], one look per draw.

    Many sequences lead to one state, so the states of each depth are merged; they must be hashable.
    """
    alive, claimed = {state: 1.0}, 0.0
    for _ in range(depth):
        after: dict[State, float] = {}
        for before, weight in alive.items():
            for cell, p in enumerate(law):
                new = step(before, cell)
                if claims(new):
                    claimed += weight * p
                else:
                    after[new] = after.get(new, 0.0) + weight * p
        alive = after
    return claimed


def crossing_chance(bet: Bet, level: float, ps: list[float], draws: int) -> Floats:
    """For each p, the chance that a bet on (hits, misses) ever reaches 1/level, looking at every one of the draws."""
    wealth, enough = Wealth([bet]), target(level)
    alive = np.zeros((len(ps), draws + 1))
    alive[:, 0] = 1.0
    crossed = np.zeros(len(ps))
    chances = np.array(ps)[:, None]
    for n in range(1, draws + 1):
        moved = alive * (1 - chances)
        moved[:, 1:] += alive[:, :-1] * chances
        hits = np.arange(n + 1)
        won = wealth(np.stack([hits, n - hits], -1)[:, None, :])[:, 0] >= enough
        crossed += moved[:, : n + 1][:, won].sum(1)
        moved[:, : n + 1][:, won] = 0.0
        alive = moved
    return crossed
