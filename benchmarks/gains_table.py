"""What did each method gain? Computed from runs, also while they are being made.

    python -m benchmarks.gains_table RUNS... [--equal RUN]

ACR and certified accuracies are over all inputs, those not correctly predicted counting as 0. Ratios of sums and median
gains are over the correctly predicted ones; an input gained if its radius exceeds multiclass Cohen's. Draws and forward
passes are those of a whole input, all methods and the search included; a backward pass counts as two. *Time* is that of
select, search, n certify draws and arithmetic over that of select and n draws alone. *Equal shares*
is Cohen's radius with as many forward passes, if its votes fell in the same shares as those that were drawn: what the
search's draws would have added to it. `--equal` names a run of Cohen's radius alone with that many fresh draws: then
each row is compared with that too.
"""

import argparse
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

import doublebubble as db
from doublebubble.bounds import clopper_pearson, votes_bound
from doublebubble.geometry import cohen_radius
from doublebubble.runs.record import Record, floor_radius
from doublebubble.runs.spec import RunSpec
from doublebubble.search.forecast import expected_counts, outlook
from doublebubble.types import Counts, Floats

RADII = (0.25, 0.5, 1.0)
REPORTED = "the radius reported"


def spec_of(run: db.Run) -> RunSpec:
    """The specification of a run that was made here."""
    if not isinstance(run.spec, RunSpec):
        raise SystemExit(f"{run.path}: expected a run that was certified here, this one was imported")
    return run.spec


def title(spec: RunSpec) -> str:
    """The case in a few words."""
    promise = "" if spec.config.protocol == "sound" else " (no guarantee)"
    return (
        f"{spec.dataset}, sigma {spec.sigma:g}, {spec.config.protocol}{promise}, n = {spec.config.n:,}, "
        f"alpha {spec.config.alpha:g}, program {spec.program}"
    )


def measured(run: db.Run, only: Collection[int] | None = None) -> pd.DataFrame:
    """The run's table with what the comparison needs besides, of these inputs or of all.

    `right` says whether the class of the select draws, under `paper` the prediction, is the label. `binary` is Cohen's
    radius from p_A alone at the same draws and alpha, what most tools certify; `p_a` is its estimate.
    """
    table = run.frame
    by_index = {record.index: record for record in run.records}
    extra = [_at_input(by_index[index], spec_of(run).sigma) for index in table["index"]]
    table[["binary", "p_a"]] = np.array(extra).reshape(-1, 2)
    table["forward"] = [sum(by_index[index].forward_equivalents.values()) for index in table["index"]]
    sound = spec_of(run).config.protocol == "sound"
    table["right"] = (table["selected"] == table["label"]) if sound else table["correct"].fillna(False).astype(bool)
    return table if only is None else table[table["index"].isin(list(only))]


def _at_input(record: Record, sigma: float) -> tuple[float, float]:
    votes = record.counts.get("input", {})
    if not votes or record.alpha is None:
        return 0.0, 0.0
    n = sum(votes.values())
    selected = record.counts["select"]
    top = min(selected, key=lambda label: (-selected[label], label))
    lower = clopper_pearson(votes.get(top, 0), n, record.alpha, "lower")
    radius = max(0.0, cohen_radius(lower, None, sigma)) if lower > 0 else 0.0
    return floor_radius(radius), votes.get(top, 0) / n


def table(run: db.Run, only: Collection[int] | None = None, equal: db.Run | None = None) -> str:
    """One Markdown table: averages over all inputs, ratios and median gains over the correctly predicted ones."""
    every = measured(run, only)
    right = every[every["right"]]
    text = [f"**{title(spec_of(run))}**: {len(right)} of {len(every)} inputs correctly predicted", ""]
    if right.empty:
        return "\n".join(text)
    sound = spec_of(run).config.protocol == "sound"
    radii = {"binary Cohen": right["binary"].to_numpy(np.float64)} if sound else {}
    methods = [name for name in spec_of(run).config.methods if f"radius_{name}" in right]
    radii |= {name: right[f"radius_{name}"].to_numpy(np.float64) for name in methods}
    radii[REPORTED] = right["radius"].to_numpy(np.float64)
    bases = {"binary": radii["binary Cohen"]} if sound else {}
    bases |= {"multiclass": radii["cohen"]} if "cohen" in radii else {}
    bases |= {"equal shares": _equal_shares(run, right)} if sound else {}
    bases |= {} if equal is None else {"equal": _equal(equal, right)}
    heads = ["method", "ACR", *(f"at {radius:g}" for radius in RADII)]
    for base in bases:
        heads += [f"over {base}", "median gain", "gained", "lost"]
    text += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name, mine in radii.items():
        cells = [name, f"{mine.sum() / len(every):.4f}"]
        cells += [f"{100 * float((mine >= radius).sum()) / len(every):.1f} %" for radius in RADII]
        for theirs in bases.values():
            cells += _against(mine, theirs)
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join([*text, "", *_costs(run, every, equal)])


def _equal(equal: db.Run, right: pd.DataFrame) -> Floats:
    """The radii of the other run on the same inputs, 0 where it predicts another class than the label."""
    other = equal.frame.set_index("index").reindex(right["index"])
    if other["radius"].isna().any():
        raise SystemExit(f"{equal.path}: expected the inputs of the run that it is compared with, some are missing")
    radii: Floats = np.where(other["correct"].fillna(False).astype(bool), other["radius"], 0.0)
    return radii


def _equal_shares(run: db.Run, right: pd.DataFrame) -> Floats:
    """Cohen's radius of each input with the draws of its search added, in the shares of the votes at the input."""
    spec = spec_of(run)
    by_index = {record.index: record for record in run.records}
    radii = [cohen_of_shares(by_index[index], spec.num_classes, spec.sigma) for index in right["index"]]
    return np.array(radii, np.float64)


def cohen_of_shares(record: Record, num_classes: int, sigma: float) -> float:
    """Cohen's radius if the search's draws had been votes at the input too, in the shares that n draws had there.

    A plan has n certify draws whatever its method, so those of other methods' balls beside it are not counted.
    """
    votes, selected = (_counts(record, stage, num_classes) for stage in ("input", "select"))
    if record.alpha is None or not votes.any():
        return 0.0
    top, n = int(selected.argmax()), int(votes.sum()) + round(record.forward_equivalents.get("search", 0.0))
    rule = outlook(selected, top, n, record.alpha, sigma).rule
    scaled = expected_counts(votes, top, n, against=0)
    return floor_radius(max(0.0, min(bound.radius for bound in votes_bound(scaled, rule, record.alpha, sigma))))


def _counts(record: Record, stage: str, num_classes: int) -> Counts:
    counts: Counts = np.zeros(num_classes, np.int64)
    for label, votes in record.counts.get(stage, {}).items():
        counts[label] = votes
    return counts


def _against(mine: Floats, base: Floats) -> list[str]:
    """Ratio of the sums, the median gain where the base certifies anything, and how many gained and lost."""
    both = base > 0
    counts = [str(int((mine > base * (1 + 1e-9)).sum())), str(int((mine < base * (1 - 1e-9)).sum()))]
    if not both.any():
        return ["", "", *counts]
    return [f"{mine.sum() / base.sum():.3f}", f"{100 * float(np.median(mine[both] / base[both] - 1)):+.1f} %", *counts]


def _costs(run: db.Run, every: pd.DataFrame, equal: db.Run | None) -> list[str]:
    """The average cost of each input, by stage and in all: a table of its own."""
    lines = [
        "| run | select | search | certify | draws in all | forward passes | time |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in (
        ("this run", every),
        ("equal", None if equal is None else measured(equal, set(every["index"]))),
    ):
        if found is not None:
            stages = [found.get(f"draws_{stage}", pd.Series([0.0])).mean() for stage in ("select", "search", "certify")]
            means = [*stages, found["draws"].mean(), found["forward"].mean()]
            methods = " ".join(spec_of(run if equal is None or name == "this run" else equal).config.methods)
            numbers = " | ".join(f"{mean:,.0f}" for mean in means)
            lines.append(f"| {name}: {methods} | {numbers} | {_time_over_votes(found, spec_of(run).config.n):.2f} |")
    return lines


def _time_over_votes(found: pd.DataFrame, n: int) -> float:
    """The time of an input, with n certify draws however many its methods made, over that of select and these draws."""
    spent = {stage: found.get(f"seconds_{stage}", pd.Series([0.0])).sum() for stage in ("select", "search", "geometry")}
    votes = spent["select"] + (found["seconds_certify"] * n / found["draws_certify"]).sum()
    return float((votes + spent["search"] + spent["geometry"]) / votes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--equal", type=Path)
    asked = parser.parse_args()
    for path in asked.runs:
        print(table(db.open_run(path), equal=None if asked.equal is None else db.open_run(asked.equal)), end="\n\n")
