"""The times behind claims about cost: seconds by column of the publication's table, input by input."""

from statistics import median

import numpy as np

from doublebubble.report.measures import worked_on
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.timing import timing_wishes
from doublebubble.types import GradientKind

Times = dict[str, dict[int, float]]
"""By column the seconds of every input that was worked on to the end in all of them."""


def times_of(evidence: Evidence, study: Study, protocol: str) -> Times | None:
    """All columns of a study; None if one is missing, or no input was worked on in all."""
    found: Times = {}
    for wanted in timing_wishes(evidence.scale, study):
        if wanted.protocol == protocol:
            table = evidence.frame(wanted)
            if table is None or wanted.methods is None:
                return None
            name = "Cohen" if wanted.methods == ("cohen",) else f"{wanted.methods[0]}, {wanted.gradient}"
            rows = table[worked_on(table)]
            found[name] = dict(zip(rows["index"].tolist(), rows["seconds"].tolist(), strict=True))
    common = sorted(set[int].intersection(*map(set, found.values())))
    return {name: {index: seconds[index] for index in common} for name, seconds in found.items()} if common else None


def usual(times: Times, column: str) -> float:
    """The median over inputs: the first one may pay for what is done once."""
    return median(times[column].values())


def ratios(times: Times, above: str, below: str) -> dict[int, float]:
    """How many times as long the one column takes as the other, input by input."""
    return {index: seconds / times[below][index] for index, seconds in times[above].items()}


def looks_of(evidence: Evidence, study: Study, gradient: GradientKind) -> tuple[float, float] | None:
    """How many looks of n draws a timed search of `single` under `paper` makes, and the seconds of one: medians."""
    (wanted,) = (
        wish
        for wish in timing_wishes(evidence.scale, study)
        if (wish.protocol, wish.methods, wish.gradient) == ("paper", ("single",), gradient)
    )
    table = evidence.frame(wanted)
    if table is None or not worked_on(table).any():
        return None
    rows = table[worked_on(table)]
    looks = rows["draws"].to_numpy(np.float64) / wanted.draws
    return float(np.median(looks)), float(np.median(rows["seconds"].to_numpy(np.float64) / looks))
