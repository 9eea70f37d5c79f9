"""Claims about costs and first steps, on invented times and gains."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from doublebubble.report.measures import Estimate
from doublebubble.reproduce.claim_cells import NOT_RUN, looks_of, times_of
from doublebubble.reproduce.cost_claims import (
    Loss,
    all_times,
    cheaper,
    double_costs,
    first_steps,
    intervals,
    sensitive_above,
)
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS, PUBLISHED_STEP, Wanted
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY


def test_times_are_ratios_of_means(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    times = times_of(evidence, STUDY, "paper")
    assert times is not None
    ratio = times["single, full"] / times["single, approximate"]
    answer = cheaper(evidence)
    word = f"{ratio:.1f} times cheaper" if ratio >= 1 else f"{1 / ratio:.1f} times dearer"
    assert answer.paper == f"digits: {word}"
    assert answer.brief.as_printed == f"{'yes' if ratio > 4 else 'no'}, of {SCALE.timing_inputs} inputs"
    looks, seconds = zip(*(looks_of(evidence, STUDY, gradient) or (0.0, 0.0) for gradient in GRADIENTS), strict=True)
    assert looks == (1.0, 1.0), "an invented record has 100 draws, all of them in select"
    assert seconds == pytest.approx([times[f"single, {gradient}"] for gradient in GRADIENTS])
    assert answer.sentence.endswith(f": 1.0 / 1.0 looks of {seconds[0]:.2f} / {seconds[1]:.2f} s on digits.")
    double = double_costs(evidence)
    assert NOT_RUN not in double.paper
    quicker = "full" if ratio < 1 else "approximate"
    assert double.sentence.endswith(f"which is that by {quicker} gradients on digits.")
    every = all_times(evidence)
    assert f"single, full {times['single, full'] / times['Cohen']:.1f}" in every.paper
    low, high = (times[f"double, {kind}"] / times["Cohen"] for kind in ("approximate", "full"))
    assert every.brief.paper.startswith("digits: single ")
    assert every.brief.paper.endswith(f", double {low:.1f} / {high:.1f}")


SURE, UNSURE, MORE = Estimate(-0.2, -0.3, -0.1, 9), Estimate(-0.2, -0.5, 0.1, 9), Estimate(0.2, 0.1, 0.3, 9)


@pytest.mark.parametrize(
    ("losses", "limit", "sensitive"),
    [
        ({0.001: UNSURE, 0.01: MORE, 0.1: SURE}, 0.01, True),
        ({0.001: UNSURE, 0.01: MORE, 0.1: UNSURE}, 0.01, False),
        ({0.001: SURE, 0.01: MORE, 0.1: SURE}, 0.01, False),
        ({0.001: MORE, 0.01: SURE, 0.1: SURE}, 0.01, False),
        ({0.001: MORE, 0.01: SURE, 0.1: SURE}, 0.001, True),
        ({0.001: UNSURE, 0.1: Estimate(-9.0, None, None, 3)}, 0.01, False),
    ],
)
def test_a_first_step_matters_only_above_the_limit(
    losses: dict[float, Estimate], limit: float, sensitive: bool
) -> None:
    assert sensitive_above([Loss(step, more, 0.5) for step, more in losses.items()], limit) is sensitive


def test_a_loss_is_of_the_same_inputs(made: Path) -> None:
    """What is left at each step is a ratio of sums over inputs that are right under both; here again by hand."""
    evidence = Evidence(made, SCALE)
    tables = {
        step: load_run(made / "made" / Wanted(STUDY, SCALE.step_sigma, "paper", "full", first_step=step).name)
        for step in SCALE.steps
    }
    kept = {
        step: {
            row["index"]: row["radius_single"] - row["radius_cohen"]
            for row in table.to_dict("records")
            if row["selected"] == row["label"]
        }
        for step, table in tables.items()
    }
    base = kept[PUBLISHED_STEP]
    line = first_steps(evidence).brief.paper.split("<br>")[1]
    for step, gains in kept.items():
        both = sorted(gains.keys() & base.keys())
        apart = np.array([gains[index] - base[index] for index in both])
        reach = student.ppf(0.975, len(both) - 1) * apart.std(ddof=1) / np.sqrt(len(both))
        left = sum(gains[index] for index in both) / sum(base[index] for index in both)
        assert (f"{left:.0%} left at {step:g}" in line) == (apart.mean() + reach < 0)
    both = sorted(kept[SCALE.steps[0]].keys() & base.keys())
    assert line.endswith(f"({len(both)} inputs)")


def test_steps_and_intervals_say_what_was_run(made: Path, tmp_path: Path) -> None:
    evidence, empty = Evidence(made, SCALE), Evidence(tmp_path, SCALE)
    assert first_steps(evidence).paper.count("0.001: ") == 2
    assert first_steps(empty).paper == NOT_RUN == first_steps(empty).brief.paper
    short = first_steps(evidence).brief.paper.split("<br>")
    assert [line.split(":")[0] for line in short] == ["digits, approximate", "digits, full"]
    share = 0.002 / (0.002 + (times_of(evidence, STUDY, "paper") or {})["Cohen"])
    assert f"Goodman, 10 classes: 2.00 ms, {share:.0%} of a look" in intervals(evidence).paper
    assert intervals(evidence).brief.as_printed == NOT_RUN, "Tiny-ImageNet was not run"
    assert f"Goodman's on 10 classes {0.002 / 0.122:.0%}." in intervals(evidence).sentence
    assert intervals(empty).brief.as_printed == NOT_RUN
