"""Claims about costs and first steps, on invented times and gains."""

from pathlib import Path
from statistics import median

import numpy as np
import pytest
from scipy.stats import t as student

from doublebubble.report.measures import Estimate
from doublebubble.reproduce import cost_claims
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.claim_times import Times, looks_of, times_of, usual
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
from doublebubble.reproduce.trials import Trial
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY


def test_times_are_ratios_of_medians(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    times = times_of(evidence, STUDY, "paper")
    assert times is not None
    ratio = median(times["single, full"].values()) / median(times["single, approximate"].values())
    each = [seconds / times["single, approximate"][index] for index, seconds in times["single, full"].items()]
    answer = cheaper(evidence)
    assert answer.paper == f"digits: full takes {ratio:.2f} times as long ({min(each):.2f} to {max(each):.2f})"
    said = {0: "no", len(each): "yes"}.get(sum(one > 4 for one in each), "undecided")
    assert answer.brief.as_printed == f"{said} on digits ({SCALE.timing_inputs} inputs timed)"
    looks, seconds = zip(*(looks_of(evidence, STUDY, gradient) or (0.0, 0.0) for gradient in GRADIENTS), strict=True)
    assert f": 1.0 / 1.0 looks of {seconds[0]:.2f} / {seconds[1]:.2f} s on digits. " in answer.sentence
    assert looks == (1.0, 1.0)
    double = double_costs(evidence)
    assert NOT_RUN not in double.paper
    quicker = "full" if ratio < 1 else "approximate"
    assert f"the quicker single: that by {quicker} gradients on digits. " in double.sentence
    every = all_times(evidence)
    assert f"single, full {usual(times, 'single, full') / usual(times, 'Cohen'):.1f}" in every.paper
    low, high = (usual(times, f"double, {kind}") / usual(times, "Cohen") for kind in ("approximate", "full"))
    assert every.brief.paper.startswith("digits: single ")
    assert every.brief.paper.endswith(f", double {low:.1f} / {high:.1f}")
    assert every.brief.as_printed == "not comparable: another machine"


@pytest.mark.parametrize(
    ("doubles", "verdict"), [((30.0, 40.0), "yes"), ((10.0, 12.0), "no"), ((30.0, 12.0), "undecided")]
)
def test_what_timed_inputs_say_counts_only_if_they_agree(
    doubles: tuple[float, float], verdict: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By full gradients single takes 1 second and double 2; by approximate ones 10, and what is asked."""
    by_input = {
        "Cohen": (0.5, 0.5),
        "single, approximate": (10.0, 10.0),
        "double, approximate": doubles,
        "boundary, approximate": (1.0, 1.0),
        "single, full": (1.0, 1.0),
        "double, full": (2.0, 2.0),
        "boundary, full": (1.0, 1.0),
    }
    times: Times = {name: dict(enumerate(seconds)) for name, seconds in by_input.items()}
    monkeypatch.setattr(
        cost_claims, "times_of", lambda _evidence, _study, protocol: times if protocol == "paper" else None
    )
    answer = double_costs(Evidence(tmp_path, SCALE))
    assert answer.brief.as_printed == f"{verdict} on digits ({SCALE.timing_inputs} inputs timed)"
    low, high = sorted(one / 10 for one in doubles)
    assert (
        answer.paper
        == f"digits: {(low + high) / 2:.1f} x approximate ({low:.1f} to {high:.1f}), 2.0 x full (2.0 to 2.0)"
    )
    assert answer.sound == NOT_RUN


SURE, UNSURE, NONE = Estimate(-0.2, -0.3, -0.1, 9), Estimate(-0.2, -0.5, 0.1, 9), Estimate(0.2, -0.1, 0.3, 9)


@pytest.mark.parametrize(
    ("losses", "limit", "sensitive"),
    [
        ({0.001: NONE, 0.01: NONE, 0.1: SURE}, 0.01, True),
        ({0.001: NONE, 0.01: NONE, 0.1: UNSURE, 0.5: SURE}, 0.01, True),
        ({0.001: NONE, 0.01: NONE, 0.1: UNSURE}, 0.01, None),
        ({0.001: NONE, 0.01: NONE, 0.1: NONE}, 0.01, False),
        ({0.001: UNSURE, 0.01: NONE, 0.1: SURE}, 0.01, None),
        ({0.001: SURE, 0.01: NONE, 0.1: SURE}, 0.01, False),
        ({0.001: UNSURE, 0.01: SURE, 0.1: SURE}, 0.01, False),
        ({0.001: NONE, 0.01: SURE, 0.1: SURE}, 0.001, True),
        ({0.001: NONE, 0.1: Estimate(-9.0, None, None, 3)}, 0.01, None),
    ],
)
def test_a_first_step_matters_only_above_the_limit(
    losses: dict[float, Estimate], limit: float, sensitive: Trial
) -> None:
    """The published step gains 1: a fifth of it is lost for sure, perhaps, or surely not."""
    assert sensitive_above([Loss(step, more, 1.0) for step, more in losses.items()], limit) is sensitive


def test_a_loss_that_is_tolerated_is_a_fifth_of_the_published_gain() -> None:
    assert Loss(0.1, NONE, 1.0).sensitive is False
    assert Loss(0.1, NONE, 0.5).sensitive is None
    assert Loss(0.1, SURE, 0.5).kept == pytest.approx(0.6)


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
    differ = max(sum(gains[index] != base[index] for index in gains.keys() & base.keys()) for gains in kept.values())
    assert differ > 0
    assert line.endswith(f"({len(both)} inputs, {differ} at most differ)")


def test_steps_and_intervals_say_what_was_run(made: Path, tmp_path: Path) -> None:
    evidence, empty = Evidence(made, SCALE), Evidence(tmp_path, SCALE)
    assert first_steps(evidence).paper.count("0.001: ") == 2
    assert first_steps(empty).paper == NOT_RUN == first_steps(empty).brief.paper
    short = first_steps(evidence).brief.paper.split("<br>")
    assert [line.split(":")[0] for line in short] == ["digits, approximate", "digits, full"]
    share = 0.002 / (0.002 + usual(times_of(evidence, STUDY, "paper") or {}, "Cohen"))
    assert f"Goodman, 10 classes: 2.00 ms, {share:.0%} of a look" in intervals(evidence).paper
    assert intervals(evidence).brief.paper == f"Goodman {share:.0%} (10 classes) of a look of digits"
    assert intervals(evidence).brief.as_printed == NOT_RUN, "Tiny-ImageNet was not run"
    assert f"Goodman's on 10 classes {0.002 / 0.122:.0%}." in intervals(evidence).sentence
    assert intervals(empty).brief.as_printed == NOT_RUN
