"""What a benchmark reports, and how rivals are timed fairly.

Ratios are of CPU time on one thread: on a machine that others use too, wall time measures them as well. Where processes
work side by side only wall time can tell; those parts say so.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Row:
    """One line of the table: a number with its unit, what it should be, and the numbers that it was made of.

    Without a unit it is a ratio. Names of `parts` say their units.
    """

    what: str
    value: float
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.at_least is None and self.at_most is None:
            return None
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    @property
    def measured(self) -> str:
        """The number for a person, with what it was made of."""
        aside = [f"{number(value)} {name}" for name, value in self.parts.items()] + ([self.note] if self.note else [])
        return " ".join(filter(None, (number(self.value), self.unit, f"({', '.join(aside)})" if aside else "")))

    @property
    def target(self) -> str:
        """What the number should be, for a person."""
        said = [("at least", self.at_least), ("at most", self.at_most)]
        return ", ".join(f"{words} {value:g}" for words, value in said if value is not None)

    def content(self) -> dict[str, object]:
        """All of it for JSON: numbers as numbers."""
        return {**asdict(self), "parts": dict(self.parts), "met": self.met}


def number(value: float) -> str:
    """Three digits at least, and no power of ten for what people can read."""
    if value != 0 and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2e}"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def best_seconds(
    rivals: Mapping[str, Callable[[], object]],
    rounds: int = 5,
    clock: Callable[[], float] = time.process_time,
    warm_up: bool = True,
) -> dict[str, float]:
    """The least time of each rival over several rounds in which they take turns."""
    best = dict.fromkeys(rivals, float("inf"))
    for run in rivals.values() if warm_up else ():
        run()
    for _ in range(rounds):
        for name, run in rivals.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best
