"""The published search where there is nothing to gain: what it reports is what the law of the largest look says."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from doublebubble.audit.coverage import misses_allowed
from doublebubble.audit.oracles import Slab
from doublebubble.errors import RunError
from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.looking import SIGMA, Looked, Looking, Reported, simulated
from doublebubble.reproduce.no_gain import claims_of, gain_of, predicted_claims, predicted_gain
from tests.reproduce.invented import Silent


def looking(**changes: object) -> Looking:
    plain = {"subject": "half-space", "p": 0.9, "n": 200, "looks": 12, "alpha": 0.2, "times": 120}
    return Looking.model_validate({**plain, **changes})


@pytest.mark.parametrize("subject", ["half-space", "coins"])
def test_the_search_gains_what_its_looks_predict_where_nothing_is_to_be_gained(subject: str) -> None:
    at = looking(subject=subject)
    found = simulated(at)
    assert set(found.reported.looks) <= set(range(1, 13))
    assert np.mean(found.reported.looks) > 11
    measured, expected = gain_of(found.reported), predicted_gain(at)
    assert expected > 10, "percent, of nothing"
    # Four standard errors, and the distance that the search walks, which only takes off: 0.012 at most, in units of r.
    error = 100 * found.reported.error
    assert expected - 4 * error - 2.5 < measured.value < expected + 4 * error
    if subject == "half-space":
        assert found.reported.above(at.truth) > misses_allowed(at.times, at.alpha), "far more often than alpha allows"
        assert claims_of(found).value == pytest.approx(predicted_claims(at), abs=0.19)


def test_the_truth_of_each_classifier() -> None:
    exact = SIGMA * norm.ppf(0.9)
    assert looking().truth == pytest.approx(exact)
    assert looking(subject="coins").truth == pytest.approx(exact)
    slab = looking(subject="slab")
    assert exact < slab.truth < 1.02 * exact
    model = slab.model
    assert isinstance(model, Slab)
    assert model.probabilities(np.zeros(10), SIGMA)[1] == pytest.approx(0.9)


def test_a_simulation_is_made_once_and_a_strange_file_is_refused(tmp_path: Path) -> None:
    at = looking(times=2, looks=2)
    lab = Laboratory(chosen_scale("smoke"), tmp_path, tmp_path / "models", Silent())
    made = []

    def make() -> Looked:
        made.append(simulated(at))
        return made[-1]

    assert lab.simulation("", at.name, Looked, make) == lab.simulation("", at.name, Looked, make) == made[0]
    assert len(made) == 1
    (tmp_path / "simulations" / "x.json").write_text("{}")
    with pytest.raises(RunError, match=r"x\.json: is not a simulation"):
        lab.simulation("", "x", Looked, make)


def test_names_differ_exactly_where_settings_do() -> None:
    changes: list[dict[str, object]] = [
        {},
        {"subject": "coins"},
        {"p": 0.8},
        {"n": 100},
        {"looks": 5},
        {"alpha": 0.1},
        {"times": 7},
        {"published_stop": True},
    ]
    assert len({looking(**change).name for change in changes}) == len(changes)


def test_gain_and_error_of_reports() -> None:
    reported = Reported(cohen=(1.0, 2.0, 3.0), largest=(1.5, 2.0, 4.0), looks=(1, 1, 1))
    assert reported.gain == pytest.approx(0.25)
    rest = np.array([1.5, 2.0, 4.0]) - 1.25 * np.array([1.0, 2.0, 3.0])
    assert reported.error == pytest.approx(float(rest.std(ddof=1)) / np.sqrt(3) / 2)
    assert reported.above(1.9) == 2
    assert reported.improved == pytest.approx(2 / 3), "the radius that stayed is not improved"
