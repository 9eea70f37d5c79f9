"""Claims about costs and first steps, on invented times and gains."""

from pathlib import Path

import pytest

from doublebubble.reproduce.claim_cells import NOT_RUN, times_of
from doublebubble.reproduce.cost_claims import all_times, cheaper, double_costs, first_steps, intervals, sensitive_above
from doublebubble.reproduce.evidence import Evidence
from tests.reproduce.invented import SCALE, STUDY


def test_times_are_ratios_of_means(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    times = times_of(evidence, STUDY, "paper")
    assert times is not None
    ratio = times["single, full"] / times["single, approximate"]
    answer = cheaper(evidence)
    assert answer.paper == f"digits: {ratio:.1f} times"
    assert answer.brief.as_printed == ("yes" if ratio > 4 else "no")
    double = double_costs(evidence)
    assert NOT_RUN not in double.paper
    quicker = "full" if ratio < 1 else "approximate"
    assert double.sentence.endswith(f"which is that by {quicker} gradients on digits.")
    every = all_times(evidence)
    assert f"single, full {times['single, full'] / times['Cohen']:.1f}" in every.paper
    low, high = sorted(times[f"double, {kind}"] / times["Cohen"] for kind in ("approximate", "full"))
    assert every.brief.paper.startswith("digits: single ")
    assert every.brief.paper.endswith(f", double {low:.1f} to {high:.1f}")


@pytest.mark.parametrize(
    ("gains", "limit", "sensitive"),
    [
        ({0.001: 1.0, 0.01: 0.98, 0.1: 0.3}, 0.01, True),
        ({0.001: 1.0, 0.01: 0.98, 0.1: 0.97}, 0.01, False),
        ({0.001: 1.0, 0.01: 0.5, 0.1: 0.3}, 0.01, False),
        ({0.001: 0.5, 0.01: 1.0, 0.1: 0.3}, 0.01, False),
    ],
)
def test_a_first_step_matters_only_above_the_limit(gains: dict[float, float], limit: float, sensitive: bool) -> None:
    assert sensitive_above(gains, limit) is sensitive


def test_steps_and_intervals_say_what_was_run(made: Path, tmp_path: Path) -> None:
    evidence, empty = Evidence(made, SCALE), Evidence(tmp_path, SCALE)
    assert first_steps(evidence).paper.count("0.001: ") == 2
    assert first_steps(empty).paper == NOT_RUN == first_steps(empty).brief.paper
    short = first_steps(evidence).brief.paper.split("<br>")
    assert [line.split(":")[0] for line in short] == ["digits, approximate", "digits, full"]
    assert "left or more up to 0.01, " in short[0]
    assert short[0].endswith("% at 0.5")
    assert "left or more up to 0.1, " in short[1]
    share = 0.002 / (0.002 + (times_of(evidence, STUDY, "paper") or {})["Cohen"])
    assert f"Goodman, 10 classes: 2.00 ms, {share:.0%} of a look" in intervals(evidence).paper
    assert intervals(evidence).brief.as_printed == "no"
    assert intervals(empty).brief.as_printed == NOT_RUN
