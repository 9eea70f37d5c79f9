"""Protocol `paper`: the publication's numbers for one input, as published, and marked as no guarantee.

It answers what the published procedure would report, so that figures can be compared; `sound` answers what is true.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from doublebubble import registry
from doublebubble.certificate import Ball, Certificate, Noise, Status
from doublebubble.config import CertifyConfig
from doublebubble.errors import InputError, SettingError
from doublebubble.method import PublishedBall, PublishedBalls, SmoothingMethod
from doublebubble.protocols.paper_search import (
    Found,
    Measured,
    Search,
    SearchedInput,
    Seen,
    find_second,
    find_third,
)
from doublebubble.protocols.rounds import AtWork, in_rounds
from doublebubble.search.gradients import Cost, RadiusGradient, radius_gradients
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.streams import INPUT
from doublebubble.types import ABSTAIN, Guarantee, Method

_EMPTY = 0.005  # of a micro-batch's rows, as a part of all rows run for a round of looks
_MOST_TOGETHER = 16  # inputs
_QUICK = 0.3  # seconds for one look


def decided(
    smoothed: SmoothedClassifier, config: CertifyConfig, inputs: Iterable[Input]
) -> Iterator[tuple[int, Certificate]]:
    """What was published of each input, with its place, in the order in which searches end; each as if it were alone.

    NOT A GUARANTEE at any level. Looks around several inputs share micro-batches where a look is quick: as many as
    leave little of them empty.
    """
    if config.protocol != "paper":
        raise SettingError(f"protocol: expected settings for paper, got {config.protocol}")
    together = _Together(smoothed, config)
    return in_rounds(inputs, together.room, partial(_Searching, smoothed, config), together.look)


def inputs_together(draws: int, batch_size: int) -> int:
    """The fewest inputs whose looks of so many draws nearly fill their last micro-batch."""
    empty = {count: -count * draws % batch_size / (count * draws) for count in range(1, _MOST_TOGETHER + 1)}
    return next((count for count in empty if empty[count] <= _EMPTY), min(empty, key=lambda count: empty[count]))


class _Together:
    """Makes looks around several inputs at a time, or one by one if they take long.

    A slow model's inputs would all be done late, and all at work are lost if the run is killed.
    """

    def __init__(self, smoothed: SmoothedClassifier, config: CertifyConfig) -> None:
        self._smoothed = smoothed.unconfined()
        draws = config.n if config.paper.draws is None else config.paper.draws
        self._most = inputs_together(draws, smoothed.batch_size)
        self._quickest = math.inf

    def room(self) -> int:
        """How many inputs may be at work."""
        return self._most if self._quickest < _QUICK else 1

    def look(self, active: Sequence["_Searching"]) -> None:
        """Make the looks that all of them want, and have each go on by what it saw."""
        start = time.perf_counter()
        looks = [searching.look for searching in active]
        found = radius_gradients(self._smoothed, looks)
        passed = time.perf_counter() - start
        self._quickest = min(self._quickest, passed / len(looks))
        per_draw = passed / sum(look.n for look in looks)
        for searching, look, seen in zip(active, looks, found, strict=True):
            searching.advance(seen, per_draw * look.n)


class _Searching(AtWork):
    """One input around which is being searched: the look that it wants next, or what it has come to."""

    def __init__(self, smoothed: SmoothedClassifier, config: CertifyConfig, number: int, given: Input) -> None:
        super().__init__(number)
        self._search = published(smoothed, config, given)
        self._certificate: Certificate | None = None
        start = time.perf_counter()
        self.look = next(self._search)
        self._since = time.perf_counter() - start

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self._certificate is not None

    def advance(self, found: RadiusGradient, seconds: float) -> None:
        """Go on to the next look or to the end; `seconds` is what this one took."""
        start = time.perf_counter()
        try:
            self.look = self._search.send(Seen(found, seconds + self._since))
        except StopIteration as end:
            self._certificate = end.value
        self._since = time.perf_counter() - start

    def certificate(self) -> Certificate:
        """What was published of it."""
        assert self._certificate is not None
        return self._certificate


def published(smoothed: SmoothedClassifier, config: CertifyConfig, given: Input) -> Search[Certificate]:
    """NOT A GUARANTEE at any level: the draws that choose a ball also measure it, and the best of many looks is kept.

    Algorithms 1 and 2 of the publication with its constants. The class under test is the label if there is one, else
    the class that leads at x. `radius` is the largest of the radii asked for, which is what the publication reports;
    among equals the simpler method is named. `cohen` is measured at x with n draws of its own. `single` is the larger
    of it and of ball 2's; `boundary` and `double` are each the larger of `single` and their own formula.
    """
    index, label = given.index, given.label
    if label is not None and not 0 <= label < smoothed.num_classes:
        raise InputError(f"input {index}: expected a label from 0 to {smoothed.num_classes - 1}, got {label}")
    methods = [method for name in config.methods if isinstance(method := registry.card(name), SmoothingMethod)]
    needed = max(method.published_balls for method in methods)
    fed = smoothed.checked(given.x, index).cpu()
    spent = {stage: Cost() for stage in ("select", "search", "line", "certify")}
    seconds = dict.fromkeys(spent, 0.0)

    measuring = SearchedInput(smoothed, config, fed, index, 0).measure(fed, "select", INPUT)
    first, spent["select"], seconds["select"] = yield from measuring
    leader = first.rivals.top
    searched = SearchedInput(smoothed, config, fed, index, leader if label is None else label)
    if leader != searched.label:
        reason = f"class {leader} leads at the input, class {searched.label} was tested"
        radii = dict.fromkeys(config.methods, 0.0)
        return _certificate(searched, label, leader, Status.WRONG_CLASS, radii, [first], reason, spent, seconds)

    balls, stories = [first], []
    second = third = Found(None, "not searched")
    if needed >= 2:
        second = yield from find_second(searched)
        second = yield from _confirmed(searched, second, "second", spent, seconds, "search")
        stories.append(f"ball 2: {second.reason}")
    if needed >= 3 and second.ball is not None:
        third = yield from find_third(searched, second.ball)
        third = yield from _confirmed(searched, third, "third", spent, seconds, "line")
        stories.append(f"ball 3: {third.reason}")
    balls += [found.ball for found in (second, third) if found.ball is not None]
    published = PublishedBalls(
        x1=searched.x.double().numpy(),
        domain=smoothed.domain,
        cohen=max(0.0, first.radius),
        second=_published(searched, second.ball),
        third=_published(searched, third.ball),
    )
    radii = {method.name: method.published(published) for method in methods}
    separated = max(radii.values()) > 0
    status = Status.CERTIFIED if separated else Status.NOT_SEPARATED
    prediction = leader if separated else ABSTAIN
    return _certificate(searched, label, prediction, status, radii, balls, "; ".join(stories), spent, seconds)


def _confirmed(
    searched: SearchedInput, found: Found, part: str, spent: dict[str, Cost], seconds: dict[str, float], stage: str
) -> Search[Found]:
    """The find itself, as published; where the search used fewer draws, the find measured once more with all n."""
    spent[stage] += found.cost
    seconds[stage] += found.seconds
    if found.ball is None or searched.config.paper.draws is None:
        return found
    ball, cost, took = yield from searched.measure(found.ball.point, "certify", part)
    spent["certify"] += cost
    seconds["certify"] += took
    holds = ball.rivals.top == searched.label and ball.radius > 0
    return Found(ball if holds else None, found.reason + ("" if holds else "; all n draws do not confirm it"))


def _published(searched: SearchedInput, ball: Measured | None) -> PublishedBall | None:
    return None if ball is None else PublishedBall(ball.centre(), ball.radius, searched.distance(ball.point))


def _certificate(
    searched: SearchedInput,
    label: int | None,
    prediction: int,
    status: Status,
    radii: Mapping[Method, float],
    balls: list[Measured],
    story: str,
    spent: Mapping[str, Cost],
    seconds: Mapping[str, float],
) -> Certificate:
    config = searched.config
    method = max((name for name in registry.names("paper") if name in radii), key=lambda name: radii[name])
    opening = f"the largest of the radii asked for, {_form(config)}; it {Guarantee.NONE.sentence}"
    return Certificate(
        index=searched.index,
        label=label,
        prediction=prediction,
        status=status,
        radius=radii[method],
        radii=radii,
        method=method,
        reason="; ".join(part for part in (opening, story) if part),
        protocol="paper",
        guarantee=Guarantee.NONE,
        alpha=config.alpha,
        sigma=searched.smoothed.sigma,
        shape=tuple(searched.x.shape),
        program=searched.smoothed.program.name,
        balls=tuple(_ball(config, measured, at_input=measured is balls[0]) for measured in balls),
        multipliers=(),
        whole_domain=False,
        counts={"select": balls[0].counts},
        draws={stage: cost.draws for stage, cost in spent.items()},
        forward_equivalents={stage: cost.forward_equivalents for stage, cost in spent.items()},
        seconds=seconds,
        noise=Noise(searched.smoothed.noise.name),
    )


def _form(config: CertifyConfig) -> str:
    """How the search was made, so that no number of one form is taken for one of the other."""
    if not config.thrifty:
        return "as published"
    settings = config.paper
    draws = config.n if settings.draws is None else settings.draws
    looks = f"looks of {draws} {'fixed ' if settings.fixed_draws else ''}draws"
    confirmed = "" if settings.draws is None else f", each find confirmed by {config.n} draws of its own"
    return f"by the thrifty form of the published search ({looks}{confirmed})"


def _ball(config: CertifyConfig, measured: Measured, at_input: bool) -> Ball:
    rivals = measured.rivals
    return Ball(
        centre=None if at_input else measured.centre(),
        radius=max(0.0, measured.radius),
        n=measured.n,
        alpha=config.alpha,
        counts=measured.counts,
        statistic="goodman",
        evidence={"top": rivals.top, "runner_up": rivals.runner_up, "lower_a": rivals.p_a, "upper_other": rivals.p_b},
    )
