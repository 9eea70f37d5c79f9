"""A run as the page needs it: its table, its name among the others, its curves, and the mark its numbers carry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from doublebubble import registry
from doublebubble.report.facts import guarantees, mark
from doublebubble.report.page.steps import Steps, attacked_steps, steps
from doublebubble.report.page.thumbnails import Pixels
from doublebubble.runs.attacks import Attacked, nearest, stored_attacks
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.statistics import Summary, summarise
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame
from doublebubble.types import Guarantee

PLAN = "plan"
"""The key of the curve of the radius that a run reports; the others have their methods'."""


@dataclass(frozen=True)
class Gallery:
    """What the inputs of a data set look like: names of the classes, and images by index, uint8 up to 255.

    `images` has one row for each of `indices`; without images both are empty.
    """

    classes: tuple[str, ...]
    indices: tuple[int, ...] = ()
    images: Pixels | None = None


@dataclass(frozen=True)
class RunView:
    """One run of the page."""

    run: StoredRun
    name: str
    table: pd.DataFrame

    @cached_property
    def curves(self) -> Mapping[str, Steps]:
        """The curve of the reported radius, then one for each method: each holds by itself, never their maximum."""
        return {PLAN: steps(self.table), **{m: steps(self.table, f"radius_{m}") for m in self.methods}}

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The methods with a radius in every record, as they were asked for; none where they were chosen per input."""
        if isinstance(self.run.spec, RunSpec) and self.run.spec.config.methods == (registry.AUTO,):
            return ()
        found = {method for record in self.run.records for method in record.radii}
        asked = self.run.spec.config.methods if isinstance(self.run.spec, RunSpec) else ()
        return (*(m for m in asked if m in found), *sorted(found - set(asked)))

    @cached_property
    def attacks(self) -> Mapping[int, Attacked]:
        """By input the nearest success of all attacks that the run holds, or the farthest attack in vain."""
        return {index: nearest(attacks) for index, attacks in stored_attacks(self.run).items()}

    @property
    def attacked_curve(self) -> Steps:
        """How many inputs are named correctly and have no confirmed success nearer than each radius."""
        distances = {index: one.distance for index, one in self.attacks.items() if one.distance is not None}
        return attacked_steps(self.table, distances, max([*distances.values(), float(self.curves[PLAN].radii[-1])]))

    @property
    def reported(self) -> str:
        """What the radius that the run reports is: that of a plan, or under protocol paper the largest of all."""
        return "largest, as published" if Guarantee.NONE in self.guarantees else "reported radius"

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """What stands behind the radii, the weakest last."""
        return guarantees(self.run)

    @property
    def mark(self) -> str:
        """The words that must stand beside every number of this run; none where all radii are guaranteed."""
        return mark(self.run)

    def summary(self, radii: Sequence[float]) -> Summary:
        """The run in a few numbers."""
        return summarise(self.table, radii)


def views(runs: Sequence[StoredRun]) -> list[RunView]:
    """The runs by names that tell them apart: the folder's, or as much of the path as it takes."""
    return [RunView(run, name, frame(run)) for run, name in zip(runs, _names([run.path for run in runs]), strict=True)]


def _names(paths: Sequence[Path]) -> list[str]:
    short = [path.resolve().name for path in paths]
    return [
        name if short.count(name) == 1 else _numbered(paths, number) if paths.count(path) > 1 else str(path)
        for number, (name, path) in enumerate(zip(short, paths, strict=True))
    ]


def _numbered(paths: Sequence[Path], number: int) -> str:
    return f"{paths[number]} ({paths[: number + 1].count(paths[number])})"
