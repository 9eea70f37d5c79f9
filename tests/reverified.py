"""Every certificate that a test makes is verified again when the test ends, by `audit.reverify`.

Those that workers of a cluster make are seen as their engine hands them out. What subprocesses write to a disk is
verified there (`tests/others_records.py`). A test that plants errors, or brings a method of its own that has no
verifier, is marked `not_reverified` with its reason.
"""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from doublebubble.audit.reverify import Confirmation, reverify
from doublebubble.certificate import Certificate
from doublebubble.engines import base
from doublebubble.facade import loop
from doublebubble.protocols import paper, sequential, sound

Made = tuple[Certificate, Any, tuple[float, float] | None]
Decided = Callable[..., Iterator[tuple[int, Certificate]]]


@contextmanager
def watched(made: list[Made]) -> Iterator[None]:
    """While this lasts, every certificate lands in the list, with the input as it was fed and the domain."""

    @functools.wraps(sound.certify_many)
    def many(smoothed: Any, config: Any, inputs: Sequence[Any]) -> list[Certificate]:
        found = certify_many(smoothed, config, inputs)
        for one, given in zip(found, inputs, strict=True):
            made.append((one, given.x.detach().cpu().double().numpy(), smoothed.domain))
        return found

    @functools.wraps(sound.certify_again)
    def again(smoothed: Any, config: Any, given: Any, indices: Sequence[int]) -> list[Certificate]:
        found = certify_again(smoothed, config, given, indices)
        made.extend((one, given.x.detach().cpu().double().numpy(), smoothed.domain) for one in found)
        return found

    certify_many: Callable[..., list[Certificate]] = sound.certify_many
    certify_again: Callable[..., list[Certificate]] = sound.certify_again
    with (
        mock.patch.object(sound, "certify_many", many),
        mock.patch.object(sound, "certify_again", again),
        mock.patch.object(paper, "decided", _as_they_come(paper.decided, made)),
        mock.patch.object(sequential, "decided", _as_they_come(sequential.decided, made)),
        mock.patch.object(loop, "execute", functools.partial(_executed, made)),
    ):
        yield


def _as_they_come(decided: Decided, made: list[Made]) -> Decided:
    @functools.wraps(decided)
    def watched_ones(smoothed: Any, config: Any, inputs: Iterable[Any]) -> Iterator[tuple[int, Certificate]]:
        fed: list[Any] = []

        def seen() -> Iterator[Any]:
            for given in inputs:
                fed.append(given)
                yield given

        for number, one in decided(smoothed, config, seen()):
            made.append((one, fed[number].x.detach().cpu().double().numpy(), smoothed.domain))
            yield number, one

    return watched_ones


def _executed(made: list[Made], engine: base.Engine, groups: Iterator[list[Any]], store: Any, seen: Any) -> None:
    base.execute(_Watched(engine.outcomes, store.spec.domain, made), groups, store, seen)


@contextmanager
def watched_workers(made: list[Made]) -> Iterator[None]:
    """While this lasts, so does every certificate that workers of a cluster hand to an engine that is used directly."""
    ray = sys.modules.get("doublebubble.engines.ray")
    if ray is None:
        yield
        return
    outcomes = ray.RayEngine.outcomes

    def noted(engine: Any, groups: Iterator[list[Any]]) -> Iterator[Any]:
        return _Watched(functools.partial(outcomes, engine), engine._recipe.domain, made).outcomes(groups)

    with mock.patch.object(ray.RayEngine, "outcomes", noted):
        yield


class _Watched:
    """An engine whose certificates land in the list, unless they were made in this process and stand there already."""

    def __init__(
        self,
        outcomes: Callable[[Iterator[list[Any]]], Iterator[Any]],
        domain: tuple[float, float] | None,
        made: list[Made],
    ) -> None:
        self._outcomes, self._domain, self._made = outcomes, domain, made

    def outcomes(self, groups: Iterator[list[Any]]) -> Iterator[Any]:
        fed: dict[int, Any] = {}

        def noted() -> Iterator[list[Any]]:
            for group in groups:
                fed.update((given.index, given.x) for given in group)
                yield group

        for outcome in self._outcomes(noted()):
            if isinstance(outcome, Certificate) and not any(one is outcome for one, *_ in self._made):
                self._made.append((outcome, fed[outcome.index].detach().cpu().double().numpy(), self._domain))
            yield outcome


def failures(made: Sequence[Made]) -> list[str]:
    """What the verifier says of those that do not follow from what they store."""
    verdicts = [(reverify(one, x, domain), one) for one, x, domain in made]
    return [
        f"input {verdict.index}, {one.method}: {verdict.outcome.value}: {verdict.sentence}"
        for verdict, one in verdicts
        if verdict.outcome not in (Confirmation.CONFIRMED, Confirmation.PUBLISHED)
    ]
