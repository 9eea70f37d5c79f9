"""Times by input are those of the records, and what is said of them is a median."""

from pathlib import Path
from statistics import median

import pandas as pd
import pytest

from doublebubble.reproduce.claim_times import looks_of, ratios, times_of, usual
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.packed import pack_runs
from doublebubble.reproduce.timing import timing_wishes
from doublebubble.runs.store import read_run
from tests.reproduce.invented import SCALE, STUDY


def test_times_are_of_inputs_that_were_worked_on(made: Path) -> None:
    times = times_of(Evidence(made, SCALE), STUDY, "paper")
    assert times is not None
    assert list(times) == [
        "Cohen",
        *(f"{method}, {kind}" for kind in ("approximate", "full") for method in ("single", "boundary", "double")),
    ]
    wishes = [wish for wish in timing_wishes(SCALE, STUDY) if wish.protocol == "paper"]
    worked = [
        {one.index: sum(one.seconds.values()) for one in read_run(run).records if one.status != "wrong_class"}
        for run in (made / "made" / wish.name for wish in wishes)
    ]
    common = set.intersection(*map(set, worked))
    assert 0 < len(common) < SCALE.timing_inputs, "some inputs are left at once in one of the runs"
    for seconds, column in zip(worked, times.values(), strict=True):
        assert column == pytest.approx({index: seconds[index] for index in common})


def test_what_is_usual_is_a_median_and_ratios_are_of_the_same_input() -> None:
    times = {"a": {1: 2.0, 2: 9.0, 3: 50.0}, "b": {3: 5.0, 2: 3.0, 1: 1.0}}
    assert usual(times, "a") == 9.0
    assert ratios(times, "a", "b") == {1: 2.0, 2: 3.0, 3: 10.0}
    assert ratios(times, "b", "a") == pytest.approx({1: 0.5, 2: 1 / 3, 3: 0.1})


def test_a_look_is_n_draws(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    for kind in ("approximate", "full"):
        found = looks_of(evidence, STUDY, kind)
        (wish,) = (
            one
            for one in timing_wishes(SCALE, STUDY)
            if (one.protocol, one.methods, one.gradient) == ("paper", ("single",), kind)
        )
        records = read_run(made / "made" / wish.name).records
        seconds = [sum(one.seconds.values()) for one in records if one.status != "wrong_class"]
        looks = 100 / SCALE.timing_n  # an invented record has 100 draws, all of them in select
        assert found == pytest.approx((looks, median(seconds) / looks))


def test_nothing_is_said_without_all_columns(made: Path, tmp_path: Path) -> None:
    nothing = Evidence(tmp_path, SCALE)
    assert times_of(nothing, STUDY, "paper") is None
    assert looks_of(nothing, STUDY, "full") is None
    pack_runs([made / "made" / wish.name for wish in timing_wishes(SCALE, STUDY)[:-1]], tmp_path / "runs")
    assert times_of(Evidence(tmp_path, SCALE), STUDY, "paper") is not None
    assert times_of(Evidence(tmp_path, SCALE), STUDY, "sound") is None


def test_nothing_is_said_if_no_input_was_worked_on_in_all_columns(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Evidence.frame

    def left(evidence: Evidence, wanted: Wanted) -> pd.DataFrame | None:
        found = real(evidence, wanted)
        return found if found is None or wanted.methods != ("double",) else found.assign(status="wrong_class")

    monkeypatch.setattr(Evidence, "frame", left)
    assert times_of(Evidence(made, SCALE), STUDY, "paper") is None
