"""Records as the page's scripts read them: every number comes back as it was."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble import registry
from doublebubble.certificate import Status
from doublebubble.report.page.run_view import views
from doublebubble.report.page.script_data import millionths, run_data
from doublebubble.runs.store import StoredRun
from tests.report.page.samples import stored, stored_paper


@given(st.integers(0, 10**9))
def test_a_radius_of_six_decimals_is_an_integer_of_millionths(number: int) -> None:
    assert millionths(float(f"{number / 1e6:.6f}")) == number


@pytest.mark.parametrize("protocol", ["sound", "paper"])
def test_columns_give_the_records_back(tmp_path: Path, protocol: str) -> None:
    run: StoredRun = stored(tmp_path / "run") if protocol == "sound" else stored_paper(tmp_path / "run")
    (view,) = views([run])
    found = json.loads(json.dumps(run_data(view), allow_nan=False))
    words = found["words"]
    assert found["n"] == len(run.records)
    for at, record in enumerate(sorted(run.records, key=lambda record: record.index)):
        assert (found["index"][at], found["label"][at]) == (record.index, record.label)
        assert found["prediction"][at] == record.prediction
        assert found["radius"][at] / 1e6 == record.radius
        for method, radius in record.radii.items():
            assert found["radii"][method][at] / 1e6 == radius
        assert (at in found["failed"]) == (record.status == "failed")
        assert words[found["reason"][at]] == record.reason
        assert found["draws"][at] == sum(record.draws.values())
        assert len(found["balls"][at]) == len(record.balls)
        for (around, reach, n, alpha), ball in zip(found["balls"][at], record.balls, strict=True):
            assert (bool(around), n, alpha) == (ball.centre is None, ball.n, ball.alpha)
            assert reach / 1e6 <= ball.radius < reach / 1e6 + 2e-6, "a ball is never shown larger than it is"
        if record.status == "failed":
            assert found["error"][str(at)] == record.error
            assert words[found["promise"][at]] == ""
        else:
            assert words[found["status"][at]] == Status[record.status.upper()].value
            assert words[found["marks"][at]] == ("not guaranteed" if protocol == "paper" else "")
            assert record.guarantee.sentence in words[found["promise"][at]]


def test_the_radius_is_the_reported_one_and_not_the_largest(tmp_path: Path) -> None:
    """A method that was not chosen may have turned out larger; its radius is no certificate of the run."""
    run = stored(tmp_path / "run")
    larger = [record.model_copy(update={"radii": {"cohen": 9.0, "double": 0.1}}) for record in run.records]
    (view,) = views([replace(run, records=tuple(larger))])
    assert run_data(view)["radius"] == [millionths(record.radius) for record in run.records]


def test_votes_are_those_that_certify_the_most_first(tmp_path: Path) -> None:
    (sound,) = views([stored(tmp_path / "run")])
    found = run_data(sound)
    votes, voted, voters, words = found["votes"], found["voted"], found["voters"], found["words"]
    assert isinstance(votes, list)
    assert isinstance(voted, list)
    assert isinstance(voters, list)
    assert isinstance(words, list)
    for at, record in enumerate(sound.run.records):
        held = record.counts.get("input", {})
        assert dict(zip(votes[at][::2], votes[at][1::2], strict=True)) == held
        assert votes[at][1::2] == sorted(held.values(), reverse=True)
        assert voted[at] == sum(held.values())
        assert ("that certify" in words[voters[at]]) == bool(held)


def test_curves_have_the_label_and_colour_of_their_method(tmp_path: Path) -> None:
    (view,) = views([stored(tmp_path / "run")])
    curves = run_data(view)["curves"]
    assert isinstance(curves, list)
    assert [curve["name"] for curve in curves] == ["reported radius", *(registry.card(m).label for m in view.methods)]
    assert [curve.get("colour") for curve in curves] == [None, *(registry.card(m).colour for m in view.methods)]
