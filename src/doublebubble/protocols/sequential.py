"""Protocol `sound` with as few draws as the question needs (docs/math.md, section 10): votes at the input, at looks.

With probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and no point nearer
than the radius gets another class, however often one looks and whenever sampling stops (Theorem O). No draws choose
the class first. What is decided and when depends on the input's own votes alone, never on the schedule. What the noise
of all draws up to the cap takes off alpha is taken off first (N3).
"""

import functools
import itertools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import numpy as np

from doublebubble.bounds import AlphaBudget
from doublebubble.bounds.controlled_votes import Change
from doublebubble.bounds.edges import Edges
from doublebubble.bounds.ladder import Ladder, Stop, looks, precise_radii, vote_ladder
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
from doublebubble.bounds.sequences import target
from doublebubble.certificate import Ball, Certificate, Status
from doublebubble.config import CertifyConfig
from doublebubble.geometry import cohen_ceiling
from doublebubble.protocols.control import Controlling, reserve_for
from doublebubble.protocols.rounds import AtWork, in_rounds
from doublebubble.protocols.sound import noise_of
from doublebubble.search.gradients import Cost
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.streams import INPUT, Stream
from doublebubble.tally import Request
from doublebubble.types import ABSTAIN, Guarantee

_CHUNK = 16  # draws of one input at a time, at least: fewer cost a small network more than they save
_ROUND = 4  # micro-batches that the inputs at work fill together
METHOD = "cohen"


def edges_of(config: CertifyConfig, sigma: float, alpha: float | None = None, reserve: float = 0.0) -> Edges:
    """The ladder of radii and at which votes each is decided, fixed before any draw.

    At level `alpha`, what the noise leaves of the whole; at the whole if it is not said. `reserve` is what is set aside
    of it for a change to a control variate.
    """
    level = config.alpha if alpha is None else alpha
    return _edges(config.radii, config.precision, level, config.beta, config.max_draws, sigma, reserve)


@functools.lru_cache(maxsize=4)
def _edges(
    radii: tuple[float, ...] | None,
    precision: float | None,
    alpha: float,
    beta: float,
    cap: int,
    sigma: float,
    reserve: float,
) -> Edges:
    if radii is None:
        assert precision is not None
        radii = precise_radii(precision, sigma, max(cohen_ceiling(cap, alpha, sigma), 0.1 * sigma))
    else:
        radii = tuple(_at_least(radius) for radius in radii)
    ladder = vote_ladder(radii, sigma, alpha, beta, cap, open_levels(radii, sigma, alpha, reserve), precision)
    return Edges(ladder, looks(cap))


def _at_least(radius: float) -> float:
    """The float that is not below the decimal number that was meant: rounded down, as records are, it is that number.

    0.3 is a little less than three tenths, and what is written down must not be 0.299999.
    """
    return radius if Decimal(radius) >= Decimal(repr(radius)) else math.nextafter(radius, math.inf)


def out_of_reach(config: CertifyConfig, sigma: float) -> tuple[float, ...]:
    """The radii asked for that even unanimous draws would not certify, if the noise took nothing off alpha."""
    ladder = edges_of(config, sigma).ladder
    best = ladder.log_wealth([[ladder.cap, 0]])[:, 0].tolist()
    each = zip(ladder.radii, best, ladder.levels, strict=True)
    return tuple(radius for radius, wealth, level in each if wealth < target(level))


def decided(
    smoothed: SmoothedClassifier, config: CertifyConfig, inputs: Iterable[Input]
) -> Iterator[tuple[int, Certificate]]:
    """The certificates with the places of their inputs, in the order in which they are decided; each as if alone.

    A decided input leaves, and the next takes its place in the batches.
    """
    room = max(1, -(-_ROUND * smoothed.batch_size // _CHUNK))
    begin = functools.partial(_Sampling, smoothed, config)
    return in_rounds(inputs, lambda: room, begin, functools.partial(_extend, smoothed))


def _extend(smoothed: SmoothedClassifier, active: Sequence["_Sampling"]) -> None:
    """Make the draws that all of them want, and have each look at its own."""
    start = time.perf_counter()
    drawn = [sampling.votes.drawn for sampling in active]
    smoothed.extend([(sampling.votes, sampling.wanted) for sampling in active])
    made = [sampling.votes.drawn - before for sampling, before in zip(active, drawn, strict=True)]
    per_draw = (time.perf_counter() - start) / max(1, sum(made))
    for sampling, number in zip(active, made, strict=True):
        sampling.seconds += per_draw * number
        sampling.look()


class _Sampling(AtWork):
    """One input whose draws are being made: its votes, what they have shown, and why there will be no more."""

    def __init__(self, smoothed: SmoothedClassifier, config: CertifyConfig, number: int, given: Input) -> None:
        super().__init__(number)
        self.seconds = self._search_seconds = 0.0
        self._smoothed, self._config, self._given = smoothed, config, given
        self._noise = noise_of(smoothed, config.max_draws, given, config.alpha)
        self._alpha = AlphaBudget(config.alpha, self._noise.loss).remaining
        self._reserve = reserve_for(smoothed, config, given.x.numel(), self._alpha)
        self._edges = edges_of(config, smoothed.sigma, self._alpha, self._reserve)
        stream = Stream(config.seed, given.index, "certify", INPUT)
        self.votes = smoothed.open_votes(Request(given.x, self._edges.ladder.cap, stream))
        self._race = start_race(self._edges, smoothed.num_classes)
        self._cost = Cost()
        self._controlling: Controlling | None = None
        if self._reserve:
            self.votes.keep_past()
            self._controlling = Controlling(smoothed, config, self._edges.ladder, given, self.votes)

    @property
    def stop(self) -> Stop | None:
        """Why there will be no more draws; None if there will be."""
        return self._race.stop

    @property
    def done(self) -> bool:
        """Whether all that was asked is decided, or given up."""
        return self.stop is not None

    @property
    def wanted(self) -> int:
        """How many draws to have before going on: those of the next look, and a few more to be worth a call."""
        return max(self._edges.looks[self._race.looks], self._race.draws + _CHUNK)

    def look(self) -> None:
        """Take all looks that the draws made so far allow, one after the other, until one decides.

        Draws beyond the look that decides were made to fill a micro-batch; nobody looks at them.
        """
        start, searched = time.perf_counter(), self._search_seconds
        self._race = self._looked()
        self.seconds += time.perf_counter() - start - (self._search_seconds - searched)

    def _looked(self) -> Race:
        edges, race = self._edges, self._race
        while race.change is None:
            pause = None if self._controlling is None else self._controlling.worth
            race = run_race(edges, race, self.votes.votes_from(race.draws), pause)
            if not race.paused:
                return race
            race = self._changed(race)
        votes = self.votes.votes_from(race.draws)
        return run_changed(edges, race, votes, self.votes.bins_from(race.draws))

    def _changed(self, race: Race) -> Race:
        """The race with a control variate where one is found, the class is settled and enough draws are ahead."""
        if self._controlling is None or not may_change(self._edges, race, self._alpha):
            return race
        start = time.perf_counter()
        found = self._controlling.find(race.draws, race.leader)
        self._controlling, self._cost = None, self._cost + found.cost
        self._search_seconds += time.perf_counter() - start
        if found.control is None:
            return race
        return change_race(self._edges, race, self._smoothed.sigma, found.control)

    def certificate(self) -> Certificate:
        """What the votes prove, and what is needed to prove it again."""
        assert self.stop is not None
        race, ladder, config = self._race, self._edges.ladder, self._config
        wins = [win for win in race.wins[: race.certified] if win is not None]
        radius = ladder.radii[len(wins) - 1] if wins else 0.0
        counts = np.array(race.votes, np.int64)
        ball = Ball(
            centre=None,
            radius=radius,
            n=race.draws,
            alpha=self._alpha,
            counts=counts,
            statistic="sequence",
            evidence={
                "top": race.leader,
                **({"precision": config.precision} if config.radii is None else _rungs(ladder)),
                "cap": ladder.cap,
                "wins": [[win.draws, win.hits, len(list(same))] for win, same in itertools.groupby(wins)],
                "stop": self.stop.name.lower(),
                **({"reserve": self._reserve} if self._reserve else {}),
                **({"change": _stored(race.change, wins)} if race.change is not None else {}),
            },
        )
        return Certificate(
            index=self._given.index,
            label=self._given.label,
            prediction=race.leader if wins else ABSTAIN,
            status=Status.CERTIFIED if wins else Status.NOT_REACHED,
            radius=radius,
            radii={METHOD: radius},
            method=METHOD,
            reason=_reason(config, wins, self.stop, race.change),
            protocol="sound",
            guarantee=Guarantee.EXACT,
            alpha=config.alpha,
            sigma=self._smoothed.sigma,
            shape=tuple(self._given.x.shape),
            program=self._smoothed.program.name,
            balls=(ball,),
            multipliers=(1.0,),
            whole_domain=False,
            counts={INPUT: counts},
            draws={"select": 0, "search": self._cost.draws, "certify": race.draws},
            forward_equivalents={
                "select": 0,
                "search": self._cost.forward_equivalents,
                "certify": race.draws,
            },
            seconds={"search": self._search_seconds, "certify": self.seconds},
            noise=self._noise,
        )


def _rungs(ladder: Ladder) -> dict[str, list[float]]:
    return {"radii": list(ladder.radii), "levels": list(ladder.levels)}


def _stored(change: Change, wins: Sequence[Win]) -> dict[str, object]:
    """What a verifier needs of a change: what was fixed at its look, and the votes by bin where radii won later."""
    control = change.control
    return {
        "at": [change.draws, change.hits],
        "edges": list(control.edges),
        "control": list(control.values),
        "pilot": [list(row) for row in control.pilot],
        "tables": [[list(row) for row in win.table] for win in dict.fromkeys(wins) if win.table is not None],
    }


def _reason(config: CertifyConfig, wins: Sequence[Win], stop: Stop, change: Change | None) -> str:
    claimed = "" if config.radii is None else f"{len(wins)} of {len(config.radii)} radii certified; "
    since = "" if change is None else f"with a control variate since draw {change.draws}; "
    return f"votes at the input, looked at as they came: {since}{claimed}{stop.value}"
