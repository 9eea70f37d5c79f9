"""What stands beside a claim of the publication, and whether its own procedure bears it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.evidence import Evidence


@dataclass(frozen=True)
class Brief:
    """An answer for a reader who has a minute: as printed or not, the number for it, and what holds."""

    as_printed: str
    paper: str
    sound: str


@dataclass(frozen=True)
class Answer:
    """What stands beside a claim: both protocols, one sentence, and all of it in brief."""

    paper: str
    sound: str
    sentence: str
    brief: Brief


@dataclass(frozen=True)
class PublishedClaim:
    """A claim of the publication, in its words as far as they are short, and what answers it.

    `figures` are EXPERIMENT/NAME each; those that are there are shown.
    """

    claim: str
    answer: Callable[[Evidence], Answer]
    figures: tuple[str, ...] = ()


def verdict(borne_out: Sequence[bool], where: str = "") -> str:
    """In words: whether each part of a claim that was tried is borne out by the publication's own procedure.

    `where` says on what it was tried, if that is not what the claim is of.
    """
    if not borne_out:
        return NOT_RUN
    word = "yes" if all(borne_out) else "in part" if any(borne_out) else "no"
    return f"{word}, {where}" if where else word
