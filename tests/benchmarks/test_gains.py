"""What the figures of docs/gains.md rest on, against classifiers whose truth is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm

import doublebubble as db
from benchmarks.gains import by_stride, certified, correct_ones, equal_draws
from benchmarks.gains_ceiling import plugged_in
from benchmarks.gains_figure import points
from benchmarks.gains_table import _time_over_votes, cohen_of_shares, measured, table
from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace, Slab
from doublebubble.bounds import clopper_pearson
from doublebubble.data import load_dataset
from doublebubble.geometry import Rival, first_order_radius
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally
from tests.engines.centroids import make

DRAWS = 200_000


def tally(model: torch.nn.Module, top: int) -> Tally:
    x = torch.zeros(20)
    smoothed = SmoothedClassifier(model, 0.5, 2, domain=None, batch_size=1000)
    lead = tuple(1.0 if k == top else -1.0 for k in (0, 1))
    return smoothed.tally(Request(x, DRAWS, Stream(0, 0, "audit"), (lead,), split=DRAWS // 2))


def unit() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.full(20, 20**-0.5)


def test_exact_probabilities_gain_nothing_on_a_half_space() -> None:
    model = HalfSpace(unit(), 0.3)
    top = int(model(torch.zeros(1, 20)).argmax())
    binary, multiclass, best = plugged_in(tally(model, top), top, [1 - top], 0.5)
    assert binary == pytest.approx(0.3, rel=0.02)
    assert multiclass == pytest.approx(binary, rel=1e-4)
    assert multiclass <= best <= 1.02 * multiclass


def test_exact_probabilities_gain_what_first_order_says_on_a_slab() -> None:
    model = Slab(unit(), -0.5, 0.5)
    top = int(model(torch.zeros(1, 20)).argmax())
    outside = 2 * float(norm.cdf(-1.0))
    truth = first_order_radius(1 - outside, [Rival(outside, 0.0)], 0.5)
    _, multiclass, best = plugged_in(tally(model, top), top, [1 - top], 0.5)
    assert best == pytest.approx(truth, rel=0.02)
    assert best > 1.2 * multiclass


@pytest.mark.parametrize("size", [1, 2, 3, 10, 359, 10_000])
def test_the_stride_visits_every_input_once(size: int) -> None:
    assert sorted(by_stride(size)) == list(range(size))


DATA = load_dataset("digits", "test")
SETTINGS: dict[str, Any] = {"sigma": 0.5, "n": 200, "n0": 50, "batch_size": 32, "quiet": True}


def test_the_run_stops_at_the_last_correct_input_and_goes_on_from_there(tmp_path: Path) -> None:
    order, settings = list(by_stride(len(DATA))), {**SETTINGS, "sigma": 1.0}
    whole = measured(db.certify(make(), DATA, indices=order[:30], **settings)).set_index("index")["right"]
    right = [bool(whole[index]) for index in order[:30]]
    assert False in right[:12]
    for wanted in (5, 12):
        run, taken = certified(make(), DATA, order, wanted, out=tmp_path / "run", **settings)
        expected = next(k for k in range(1, 30) if sum(right[:k]) == wanted)
        assert taken == order[:expected]
        assert len(run.records) == expected
    shorter, taken = certified(make(), DATA, order[:3], 12, out=tmp_path / "run", **settings)
    assert (len(taken), len(shorter.records)) == (3, expected)
    assert measured(shorter, taken)["index"].tolist() == sorted(order[:3])


def test_binary_cohen_is_recomputed_from_the_votes_that_were_kept() -> None:
    run = db.certify(make(), DATA, indices="0:12", **SETTINGS)
    found = measured(run).set_index("index")
    smoothed = SmoothedClassifier(make(), 0.5, 10, batch_size=32)
    for index in range(12):
        x = DATA.inputs()[index]
        top = int(smoothed.counts(x, 50, seed=0, index=index, stage="select").argmax())
        votes = smoothed.counts(x, 200, seed=0, index=index)
        lower = clopper_pearson(int(votes[top]), 200, 0.001, "lower")
        expected = max(0.0, 0.5 * float(norm.ppf(lower)))
        assert expected - 1e-6 <= found["binary"][index] <= expected
        assert found["p_a"][index] == votes[top] / 200
        assert found["right"][index] == (top == int(DATA.labels[index]))
    p_a, gains = points(measured(run), "binary")
    assert len(p_a) == len(gains) == int((found["right"] & (found["binary"] > 0)).sum())
    assert min(gains) >= -1e-3  # the runner-up never makes a binary radius smaller by more than rounding


def test_cohen_at_equal_total_draws_costs_what_the_search_costs_too() -> None:
    taken = list(range(6))
    run = db.certify(make(), DATA, indices=taken, methods="cohen,boundary", **SETTINGS)
    spent = np.mean([sum(record.forward_equivalents.values()) for record in run.records])
    n = equal_draws(run, taken)
    assert n > 200
    equal = db.certify(make(), DATA, indices=taken, methods="cohen", **{**SETTINGS, "n": n})
    assert all(spent <= sum(record.draws.values()) < spent + 1 for record in equal.records)
    text = table(run, taken, equal)
    assert "over equal" in text
    draws = sum(sum(record.draws.values()) for record in run.records) / 6
    assert f"| {draws:,.0f} | {spent:,.0f} |" in text
    assert f"| equal: cohen | 50 | 0 | {n:,} | {n + 50:,} | {n + 50:,} |" in text


def test_cohen_at_equal_shares_is_cohen_itself_where_nothing_was_searched() -> None:
    run = db.certify(make(), DATA, indices="0:12", methods="cohen", **SETTINGS)
    for record in run.records:
        assert cohen_of_shares(record, 10, 0.5) == record.radii["cohen"]


def test_cohen_at_equal_shares_has_the_draws_of_the_search_too() -> None:
    run = db.certify(make(), DATA, indices="0:12", methods="cohen,boundary", **SETTINGS)
    assert "over equal shares" in table(run)
    for record in run.records:
        spent = 200 + round(record.forward_equivalents["search"])
        assert 200 < spent < sum(record.forward_equivalents.values()), "the draws of another ball do not count"
        radius, top = (
            cohen_of_shares(record, 10, 0.5),
            int(np.argmax([record.counts["select"].get(k, 0) for k in range(10)])),
        )
        lower = clopper_pearson(round(spent * record.counts["input"].get(top, 0) / 200), spent, 0.0005, "lower")
        assert radius <= record.radii["cohen"] * 1.5 + 0.2
        assert radius >= max(0.0, 0.5 * float(norm.ppf(lower))) * 0.99  # votes against one rival only are fewer
        assert radius >= record.radii["cohen"] or record.radii["cohen"] - radius < 0.02  # rounded shares


def test_inputs_whose_select_draws_name_another_class_are_left_out() -> None:
    order, settings = list(by_stride(len(DATA))), {"n": 200, "sigma": 1.0, "program": None, "batch_size": None}
    found = correct_ones(make(), DATA, order[:30], 20, **settings)
    whole = db.certify(make(), DATA, indices=order[:30], sigma=1.0, n=200, methods="cohen", quiet=True)
    right = measured(whole).set_index("index")["right"]
    expected = [index for index in order[:30] if bool(right[index])][:20]
    assert found == expected
    assert expected != order[:20]


def test_time_is_that_of_n_certify_draws_and_of_all_that_is_not_votes() -> None:
    """Two plans of n draws each took 8 s to certify, so votes alone take 1 + 4; search and arithmetic add 3."""
    columns = {"seconds_select": 1.0, "seconds_search": 2.0, "seconds_geometry": 1.0, "seconds_certify": 8.0}
    found = pd.DataFrame({**{name: [value] for name, value in columns.items()}, "draws_certify": [200]})
    assert _time_over_votes(found, 100) == pytest.approx(8 / 5)
