"""The publication's claim about MACER: what it does to radii, what the search adds to it, and what it costs."""

import numpy as np
import pandas as pd

from doublebubble.report.measures import Estimate, mean, method_view, ratio_of_means
from doublebubble.reproduce.answers import Answer, Brief
from doublebubble.reproduce.claim_cells import NOT_RUN, Parts, cell
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted
from doublebubble.reproduce.macer import equal_time_study
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.training_cost import TrainingCost
from doublebubble.reproduce.trials import Trial, beyond, verdict
from doublebubble.training import preset
from doublebubble.types import Floats, GradientKind, Protocol, TrainMethod

_LARGER, _POINTS, _TIMES = 10.0, 3.5, 10.0
"""Percent at least; percentage points that may still be called 4; an order of magnitude."""
_EPOCHS = preset("cifar10", "macer", 0.5).epochs
_GRADIENTS: dict[Protocol, tuple[GradientKind, ...]] = {"paper": GRADIENTS, "sound": ("full",)}
_BASES = ("equal epochs", "equal time")


def macer(evidence: Evidence) -> Answer:
    """Radii 10 to 20 % larger at over ten times the cost; the search adds 4 points, more than without MACER."""
    study = evidence.scale.study(evidence.scale.macer)
    cells: dict[Protocol, Parts] = {"paper": [], "sound": []}
    brief: dict[Protocol, Parts] = {"paper": [], "sound": []}
    radii, points = list[Trial](), list[Trial]()
    for sigma in study.curves:
        for protocol in cells:
            there = [_tables(evidence, study, sigma, protocol, gradient) for gradient in _GRADIENTS[protocol]]
            ours = [tables[1] for tables in there if tables[1] is not None]
            bases = [tables[0] for tables in there if tables[0] is not None]
            changes = [radius_change(there[-1][1], base) for base in (there[-1][0], there[-1][2])]
            at = f"sigma {sigma:g}" + (f", {len(ours[0])} inputs" if ours else "")
            cells[protocol].append((at, _words(changes, ours, bases)))
            brief[protocol].append((at, _short(changes, ours)))
            if protocol == "paper":
                radii += [beyond(change, _LARGER) for change in changes if change is not None]
                added = [points_added(table)[0] for table in ours]
                points += [beyond(one, _POINTS) for one in added]
                points += [beyond(one, points_added(base)[0].value) for one, base in zip(added, bases, strict=False)]
    cost = evidence.training_cost()
    brief["paper"].append(("MACER trains", NOT_RUN if cost is None else _costs(cost)))
    epochs = preset(study.dataset, "macer", study.curves[0], **evidence.scale.recipe(study, "macer")).epochs
    short = f"radii, by {epochs} epochs instead of {_EPOCHS}"
    parts = (("cost", [] if cost is None else [cost.ratio >= _TIMES]), (short, radii), ("4 points", points))
    judged = "; ".join(f"{name}: {verdict(tries)}" for name, tries in parts if tries)
    return Answer(
        cell(cells["paper"]),
        cell(cells["sound"]),
        _sentence(evidence, study, cost),
        Brief(f"{judged}, on {study.name}" if judged else NOT_RUN, cell(brief["paper"]), cell(brief["sound"])),
    )


def _tables(
    evidence: Evidence, study: Study, sigma: float, protocol: Protocol, gradient: GradientKind
) -> list[pd.DataFrame | None]:
    """Of Gaussian training, of MACER, and of Gaussian training for as long as MACER's."""
    trained: tuple[tuple[Study, TrainMethod], ...] = (
        (study, "gaussian"),
        (study, "macer"),
        (equal_time_study(evidence.scale, study), "gaussian"),
    )
    wide = protocol == "sound"
    return [evidence.frame(Wanted(one, sigma, protocol, gradient, kind, wide=wide)) for one, kind in trained]


def radius_change(ours: pd.DataFrame | None, theirs: pd.DataFrame | None) -> Estimate | None:
    """By how many percent Cohen's average radius of the one model exceeds that of the other, over all inputs."""
    if ours is None or theirs is None:
        return None
    mine, base = (_cohen_if_correct(table) for table in (ours, theirs))
    return ratio_of_means(mine, base) if base.sum() > 0 else None


def _cohen_if_correct(table: pd.DataFrame) -> Floats:
    seen = method_view(table.sort_values("index"), "cohen")
    return np.where(seen["correct"].to_numpy(bool), seen["radius"].to_numpy(np.float64), 0.0)


def points_added(table: pd.DataFrame) -> tuple[Estimate, float]:
    """Percentage points of certified accuracy that the reported radius has over Cohen's: on average, and the most.

    Both over radii up to the largest.
    """
    top = float(table["radius"].fillna(0.0).max())
    radii = np.linspace(0.0, top, 41)[1:-1] if top > 0 else np.array([0.0])
    held = [
        one["correct"].to_numpy(bool)[:, None] & (one["radius"].fillna(0.0).to_numpy(np.float64)[:, None] >= radii)
        for one in (table, method_view(table, "cohen"))
    ]
    apart = 100 * (held[0].astype(np.float64) - held[1])
    return mean(apart.mean(1)), float(apart.mean(0).max())


def _words(changes: list[Estimate | None], ours: list[pd.DataFrame], bases: list[pd.DataFrame]) -> str:
    if not ours:
        return NOT_RUN
    parts = [
        f"Cohen's average radius {_percent(change, band=True)} against Gaussian of {base}"
        for base, change in zip(_BASES, changes, strict=True)
    ]
    added = [f"the search adds {_points(ours)} points on average over radii, {_most(ours)} at most"]
    if bases:
        added.append(f"after Gaussian training {_points(bases)} and {_most(bases)}")
    return "; ".join([*parts, ", ".join(added)])


def _points(tables: list[pd.DataFrame]) -> str:
    return " / ".join(f"{points_added(table)[0].value:.1f}" for table in tables)


def _most(tables: list[pd.DataFrame]) -> str:
    return " / ".join(f"{points_added(table)[1]:.1f}" for table in tables)


def _short(changes: list[Estimate | None], ours: list[pd.DataFrame]) -> str:
    if not ours:
        return NOT_RUN
    radii = ", ".join(f"{_percent(change)} at {base}" for base, change in zip(_BASES, changes, strict=True))
    return f"radii {radii}; the search adds {_points(ours)} points"


def _percent(change: Estimate | None, band: bool = False) -> str:
    if change is None:
        return NOT_RUN
    ends = f" ({change.low:+z.1f} to {change.high:+z.1f})" if band and None not in (change.low, change.high) else ""
    return f"{change.value:+z.1f} %{ends}"


def _costs(cost: TrainingCost) -> str:
    return f"{cost.ratio:.1f} times as long for as many images"


def _sentence(evidence: Evidence, study: Study, cost: TrainingCost | None) -> str:
    if cost is None:
        return NOT_RUN.capitalize()
    epochs = preset(study.dataset, "macer", study.curves[0], **evidence.scale.recipe(study, "macer")).epochs
    longer, beside = evidence.scale.equal_time_epochs, ""
    if longer:
        beside = (
            f", so that {longer} epochs of Gaussian training, called equal time, take "
            f"{longer / epochs / cost.ratio:.2f} times as long as {epochs} of MACER"
        )
    return (
        "Average radii are over all inputs, 0 where the class is wrong; in brackets their 95 % bands, on the same "
        "inputs. Points: certified accuracy at a radius, averaged over radii, as the publication's conclusion reads; "
        "its text also says 4 points of the average certificate. MACER trains "
        f"{_costs(cost)} (processor time, by turns){beside}. MACER's own recipe has {_EPOCHS} epochs on CIFAR-10: "
        "radii which are not larger here do not refute it there."
    )
