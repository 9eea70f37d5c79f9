"""The records as columns of small numbers for the page's scripts: radii in millionths, words by number.

A radius of a record has 6 decimals, so its millionths are an integer and nothing is rounded on the way.
"""

from collections.abc import Sequence

from doublebubble import registry
from doublebubble.certificate import Status
from doublebubble.report.facts import guarantee_of
from doublebubble.report.page.run_view import PLAN, RunView
from doublebubble.report.page.steps import Steps
from doublebubble.runs.record import Record, floor_radius
from doublebubble.types import Guarantee

_MOST_VOTES = 5
_STATUS_WORDS = {
    **{status.name.lower(): status.value for status in Status},
    "failed": "failed: there is no certificate",
    "imported": "imported from another tool's results",
}


class _NumberedWords:
    """Numbers words in the order in which they first come."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, word: str) -> int:
        return self.known.setdefault(word, len(self.known))


def run_data(view: RunView) -> dict[str, object]:
    """All that the scripts show of a run."""
    records = sorted(view.run.records, key=lambda record: record.index)
    words = _NumberedWords()
    return {
        "name": view.name,
        "mark": view.mark,
        "n": len(records),
        "methods": list(view.methods),
        "curves": [
            {**({"name": view.reported} if name == PLAN else _label_and_colour(name)), **curve_data(curve)}
            for name, curve in view.curves.items()
        ],
        "index": [record.index for record in records],
        "label": [record.label for record in records],
        "prediction": [record.prediction for record in records],
        "radius": [millionths(record.radius) for record in records],
        "radii": {m: [_optional(record.radii.get(m)) for record in records] for m in view.methods},
        "status": [words.number(_STATUS_WORDS[record.status]) for record in records],
        "failed": [number for number, record in enumerate(records) if record.status == "failed"],
        "method": [words.number(record.method or "") for record in records],
        "reason": [words.number(record.reason) for record in records],
        "error": {number: record.error for number, record in enumerate(records) if record.error is not None},
        "wholeDomain": [number for number, record in enumerate(records) if record.whole_domain],
        "promise": [words.number(_promise(record)) for record in records],
        "marks": [words.number(_mark(record)) for record in records],
        "votes": [_votes(record) for record in records],
        "voters": [words.number(_voters(record)) for record in records],
        "voted": [sum(_counted(record).values()) for record in records],
        "balls": [_balls(record) for record in records],
        "draws": [sum(record.draws.values()) for record in records],
        "milliseconds": [round(1000 * sum(record.seconds.values())) for record in records],
        "words": list(words.known),
        **_attacks(view, records),
    }


def _attacks(view: RunView, records: Sequence[Record]) -> dict[str, object]:
    """By position: distance of the nearest success or None, its class, and how far was looked; and their curve."""
    if not view.attacks:
        return {}
    found = {at: view.attacks[record.index] for at, record in enumerate(records) if record.index in view.attacks}
    rows = {at: (_optional(one.distance), one.rival, millionths(one.searched)) for at, one in found.items()}
    return {"attacked": rows, "attackedCurve": curve_data(view.attacked_curve)}


def _label_and_colour(method: str) -> dict[str, str]:
    known = registry.card(method)
    return {"name": known.label, "colour": known.colour}


def curve_data(curve: Steps) -> dict[str, object]:
    """The corners of a step curve."""
    return {"radii": [millionths(radius) for radius in curve.radii], "certified": curve.certified.tolist()}


def millionths(radius: float) -> int:
    """A radius of 6 decimals as an integer."""
    return round(radius * 1_000_000)


def _optional(radius: float | None) -> int | None:
    return None if radius is None else millionths(radius)


def _promise(record: Record) -> str:
    if record.status == "failed":
        return ""
    if record.guarantee is Guarantee.UNSTATED or record.alpha is None:
        return f"The radius {record.guarantee.sentence}."
    return f"The radius {record.guarantee.sentence}; alpha is {record.alpha:g}."


def _mark(record: Record) -> str:
    if record.status == "failed":
        return ""
    return guarantee_of(record).mark


def _counted(record: Record) -> dict[int, int]:
    """The votes of the certify draws at the input if there were any, else of the draws that selected."""
    return record.counts.get("input", record.counts.get("select", {}))


def _voters(record: Record) -> str:
    if "input" in record.counts:
        return "draws around the input that certify, and their votes"
    return "draws around the input that select its class, and their votes" if "select" in record.counts else ""


def _votes(record: Record) -> list[int]:
    """Class, votes, class, votes, for the classes with most of them."""
    ranked = sorted(_counted(record).items(), key=lambda vote: (-vote[1], vote[0]))
    return [number for vote in ranked[:_MOST_VOTES] for number in vote]


def _balls(record: Record) -> list[Sequence[float]]:
    """Whether around the input, radius in millionths rounded down, draws, and part of alpha, ball by ball."""
    return [
        (int(ball.centre is None), millionths(floor_radius(ball.radius)), ball.n, ball.alpha) for ball in record.balls
    ]
