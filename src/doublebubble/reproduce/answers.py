"""What stands beside a claim of the publication, and whether its own procedure bears it out."""

from collections.abc import Callable
from dataclasses import dataclass

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
