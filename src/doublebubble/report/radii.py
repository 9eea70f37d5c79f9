"""At which radii do tables state certified accuracy? Those asked for, those that the runs decide, or round ones."""

from collections.abc import Iterable, Sequence

from doublebubble.errors import SettingError
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun

_STEPS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0)
_REACH = 0.75  # of the largest radius, which many inputs share where the model is sure of all its draws


def table_radii(runs: Iterable[StoredRun], asked: Sequence[float] | None = None) -> tuple[float, ...]:
    """The radii of one table about all of these runs, in rising order.

    A run that was asked to decide some radii holds no others, so they are its radii. For any other, 0 and four round
    numbers that reach most of the way to its largest radius.
    """
    if asked is not None:
        return tuple(sorted(set(asked)))
    decided: set[float] = set()
    largest = []
    for run in runs:
        own = run.spec.config.radii if isinstance(run.spec, RunSpec) else None
        if own is not None:
            decided.update(own)
        else:
            largest.append(max((record.radius for record in run.records if record.correct is not False), default=0.0))
    return tuple(sorted(decided.union(radii_that_matter(max(largest)) if largest else ())))


def parse_radii(text: str | None) -> tuple[float, ...] | None:
    """Radii as a person types them, 0.25,0.5; None where nothing was typed."""
    if text is None:
        return None
    try:
        radii = tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        radii = ()
    if not radii or not all(0 <= radius < float("inf") for radius in radii):
        raise SettingError(f"radii: expected numbers such as 0.25,0.5, none below 0, got {text!r}")
    return radii


def radii_that_matter(largest: float) -> tuple[float, ...]:
    """0 and four multiples of a round number that together reach most of the way to the largest radius."""
    step = next((step for step in _STEPS if 4 * step >= _REACH * largest), _STEPS[-1])
    return tuple(round(number * step, 6) for number in range(5))
