"""What a benchmark reports, and how rivals are timed fairly."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table; `met` is None where there is nothing to meet. `value` is the measurement as a number."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None
    value: float | None = None


def best_seconds(rivals: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """The least time of each rival over several rounds in which they take turns."""
    best = dict.fromkeys(rivals, float("inf"))
    for run in rivals.values():
        run()
    for _ in range(rounds):
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best
