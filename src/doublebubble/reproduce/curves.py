"""What the figures of certified accuracy share: Cohen's radius beside what each kind of gradient reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from doublebubble import registry
from doublebubble.report.facts import protocol_name, protocol_of
from doublebubble.report.figure import BLUE, DASHED, GREEN, SOLID, VERMILION, DrawnLine, Panel
from doublebubble.report.measures import REPORTED, mean_radius, method_view
from doublebubble.report.plots import Series, accuracy_line, panels_of, reach, spoken
from doublebubble.report.tables import EMPTY, Table
from doublebubble.reproduce.laboratory import GRADIENTS, Laboratory, Wanted
from doublebubble.reproduce.results import captioned
from doublebubble.reproduce.scales import Study
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.statistics import average_radius
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame
from doublebubble.types import Protocol, TrainMethod

Key = tuple[float, str]
"""Sigma and the kind of gradient."""
BySigma = Mapping[float, pd.DataFrame]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "sound")


@dataclass(frozen=True)
class Gathered:
    """The runs of a study, and by protocol the frame of each."""

    runs: tuple[StoredRun, ...]
    frames: Mapping[Protocol, Mapping[Key, pd.DataFrame]]


def gather(lab: Laboratory, study: Study, sigmas: Sequence[float], training: TrainMethod = "gaussian") -> Gathered:
    """The runs of a study under both protocols, over sigma and both kinds of gradient."""
    found: dict[Protocol, dict[Key, StoredRun]] = {protocol: {} for protocol in PROTOCOLS}
    for sigma in sigmas:
        for gradient in GRADIENTS:
            paper = lab.joined(Wanted(study, sigma, "paper", gradient, training))
            sound = lab.run(Wanted(study, sigma, "sound", gradient, training, which="all"))
            found["paper"][sigma, gradient] = paper
            found["sound"][sigma, gradient] = restricted(sound, {record.index for record in paper.records})
    return Gathered(
        tuple(run for runs in found.values() for run in runs.values()),
        {protocol: {key: frame(run) for key, run in runs.items()} for protocol, runs in found.items()},
    )


def restricted(run: StoredRun, indices: set[int]) -> StoredRun:
    """The run with records of these inputs alone: what stands side by side is of the same inputs."""
    return replace(run, records=tuple(record for record in run.records if record.index in indices))


def furthest(*found: Gathered) -> float:
    """How far the axis of radii goes that all panels of a figure share: far enough for every method of every run."""
    return max(
        reach(frames.values(), (*registry.names(protocol), REPORTED))
        for gathered in found
        for protocol, frames in gathered.frames.items()
    )


def best_panels(title: str, protocol: Protocol, tables: Mapping[Key, pd.DataFrame], to: float) -> tuple[Panel, ...]:
    """For each sigma Cohen's radius, and the radius reported under each gradient.

    Cohen's is taken from the runs with approximate gradients, where votes are those of the classifier as it is. What is
    reported is under `paper` the largest radius, under `sound` that of the plan.
    """
    word = "largest radius" if protocol == "paper" else "radius of the plan"
    series = (
        (Series("Cohen", BLUE, SOLID, "o", "cohen"), "approximate"),
        (Series("approximate", GREEN, DASHED, "D", REPORTED), "approximate"),
        (Series("full", VERMILION, SOLID, "^", REPORTED), "full"),
    )
    return tuple(
        Panel(
            f"{title}sigma {sigma:g}, {word}\nprotocol {protocol_name(protocol)}",
            tuple(accuracy_line(tables[sigma, gradient], one, to) for one, gradient in series),
        )
        for sigma in sorted({sigma for sigma, _ in tables})
    )


def sigma_rows(
    found: Gathered, sigmas: Sequence[float], lines: Callable[[BySigma, Protocol, str], Sequence[DrawnLine]]
) -> list[tuple[Panel, ...]]:
    """For each protocol a row of panels over sigma, one for each kind of gradient; `lines` draws the frames of one."""
    return [
        tuple(
            panel
            for gradient in GRADIENTS
            for panel in panels_of(
                f"{gradient} gradient\nprotocol {protocol_name(protocol)}",
                lines({sigma: frames[sigma, gradient] for sigma in sigmas}, protocol, gradient),
            )
        )
        for protocol, frames in found.frames.items()
    ]


def average_table(runs: Sequence[StoredRun], first: Mapping[str, str] | None = None) -> Table:
    """Average radii of every method, over correctly predicted inputs as published, and over all inputs.

    `first` adds a column that tells by the run's folder what else differs between runs.
    """
    rows = []
    for run in runs:
        assert isinstance(run.spec, RunSpec)
        spec, table = run.spec, frame(run)
        for method in (*registry.names(spec.config.protocol), REPORTED):
            published = mean_radius(table, method)
            cells = [spec.dataset, f"{spec.sigma:g}", spec.config.gradient, spoken(method)]
            cells += [EMPTY if published is None else f"{published.value:.4f}"]
            cells += [f"{average_radius(table if method == REPORTED else method_view(table, method)):.4f}"]
            more = [first[run.path.name]] if first is not None else []
            rows.append((protocol_of(spec.config), *more, *cells))
    what = "Average certified radii. The publication averages over correctly predicted inputs only."
    columns = ("data", "sigma", "gradient", "method", "mean radius, correct inputs", "mean radius, all")
    names = ("protocol", *(["training"] if first is not None else []), *columns)
    return Table(captioned(what, runs, bands=""), names, tuple(rows), grouped=True)
