"""Every certificate that a test makes is verified again when the test ends, by `audit.reverify`.

Those that other processes make are not seen here: their runs are compared with runs that are. A test that plants
errors, or brings a method of its own that has no verifier, is marked `not_reverified` with its reason.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

from doublebubble.audit.reverify import Confirmation, reverify
from doublebubble.certificate import Certificate
from doublebubble.protocols import paper, sequential, sound

Made = tuple[Certificate, Any, tuple[float, float] | None]


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

    @functools.wraps(paper.certify)
    def published(smoothed: Any, config: Any, given: Any) -> Certificate:
        one = certify(smoothed, config, given)
        made.append((one, given.x.detach().cpu().double().numpy(), smoothed.domain))
        return one

    @functools.wraps(sequential.decided)
    def as_they_come(smoothed: Any, config: Any, inputs: Iterable[Any]) -> Iterator[tuple[int, Certificate]]:
        fed: list[Any] = []

        def seen() -> Iterator[Any]:
            for given in inputs:
                fed.append(given)
                yield given

        for number, one in decided(smoothed, config, seen()):
            made.append((one, fed[number].x.detach().cpu().double().numpy(), smoothed.domain))
            yield number, one

    decided: Callable[..., Iterator[tuple[int, Certificate]]] = sequential.decided
    certify_many: Callable[..., list[Certificate]] = sound.certify_many
    certify_again: Callable[..., list[Certificate]] = sound.certify_again
    certify: Callable[..., Certificate] = paper.certify
    with (
        mock.patch.object(sound, "certify_many", many),
        mock.patch.object(sound, "certify_again", again),
        mock.patch.object(paper, "certify", published),
        mock.patch.object(sequential, "decided", as_they_come),
    ):
        yield


def failures(made: Sequence[Made]) -> list[str]:
    """What the verifier says of those that do not follow from what they store."""
    verdicts = [(reverify(one, x, domain), one) for one, x, domain in made]
    return [
        f"input {verdict.index}, {one.method}: {verdict.outcome.value}: {verdict.sentence}"
        for verdict, one in verdicts
        if verdict.outcome not in (Confirmation.CONFIRMED, Confirmation.PUBLISHED)
    ]
