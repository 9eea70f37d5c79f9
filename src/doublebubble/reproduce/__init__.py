"""The publication's experiments as commands: each trains what it needs, certifies through ordinary runs, and draws.

Each experiment is a module with a `run` that asks a `Laboratory` for runs and returns `Results`. May import everything
but the command line, and prints nothing.
"""

from collections.abc import Callable

from doublebubble.reproduce import (
    certified_accuracy,
    coin_votes,
    gain_by_draws,
    improvement_by_radius,
    improvement_by_sigma,
    interval_cost,
    macer,
    no_gain,
    step_size,
    timing,
    winners,
)
from doublebubble.reproduce.laboratory import Events, Laboratory
from doublebubble.reproduce.order import Step, planned, speed_of
from doublebubble.reproduce.results import Results, write
from doublebubble.reproduce.scales import SCALES, Scale, chosen_scale

EXPERIMENTS: dict[str, Callable[[Laboratory], Results]] = {
    "certified-accuracy": certified_accuracy.run,
    "improvement-by-radius": improvement_by_radius.run,
    "winners": winners.run,
    "improvement-by-sigma": improvement_by_sigma.run,
    "timing": timing.run,
    "macer": macer.run,
    "step-size": step_size.run,
    "interval-cost": interval_cost.run,
    "no-gain": no_gain.run,
    "coin-votes": coin_votes.run,
    "gain-by-draws": gain_by_draws.run,
}

__all__ = [
    "EXPERIMENTS",
    "SCALES",
    "Events",
    "Laboratory",
    "Results",
    "Scale",
    "Step",
    "chosen_scale",
    "planned",
    "speed_of",
    "write",
]
