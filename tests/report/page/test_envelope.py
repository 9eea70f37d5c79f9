import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from doublebubble.config import CertifyConfig
from doublebubble.report.page.envelope import Group, choose, common_tables, comparable, envelope
from doublebubble.report.page.steps import steps
from doublebubble.runs.store import StoredRun
from tests.report.page.samples import SIZE, stored, stored_paper
from tests.runs.samples import spec

LENGTHS = st.lists(st.sampled_from([-1.0, 0.1, 0.2, 0.3, 0.5, 0.8]), min_size=6, max_size=6)


def table(lengths: list[float]) -> pd.DataFrame:
    """A negative length is an input that is not correct."""
    return pd.DataFrame(
        {
            "index": range(len(lengths)),
            "label": pd.array([1] * len(lengths), dtype="Int64"),
            "prediction": [1 if length >= 0 else 0 for length in lengths],
            "radius": [abs(length) for length in lengths],
        }
    )


@given(st.lists(LENGTHS, min_size=1, max_size=4), st.floats(0, 1))
def test_the_envelope_is_the_best_curve_at_every_radius(several: list[list[float]], radius: float) -> None:
    pieces = envelope([steps(table(lengths)) for lengths in several])
    counts = [sum(length >= max(radius, 0.0) for length in lengths) for lengths in several]
    after = 0.0
    for piece in pieces:
        assert piece.after == after
        after = piece.radii[-1]
        if radius <= after and (radius > piece.after or radius == 0 == piece.after):
            place = next(number for number, corner in enumerate(piece.radii) if corner >= radius)
            assert piece.certified[place] == max(counts)
            assert piece.run == counts.index(max(counts))
            break
    else:
        assert max(counts) == 0
    assert all(a.run != b.run for a, b in itertools.pairwise(pieces))


def test_a_choice_names_the_best_and_tests_it_against_the_next() -> None:
    tables = [table([0.3] * 2 + [-1] * 8), table([0.3] * 9 + [0.1]), table([0.3] * 6 + [0.1] * 2 + [0.3] * 2)]
    found = choose(tables, 0.2)
    assert (found.best, found.certified, found.second, found.second_certified) == (1, 9, 2, 8)
    assert found.p_value == pytest.approx(binomtest(2, 3).pvalue)
    assert choose([tables[0], tables[0]], 0.2).p_value == 1.0
    assert choose(tables, 0.9).certified == 0


def test_only_runs_that_differ_in_sigma_are_put_together(tmp_path: Path) -> None:
    half, quarter = stored(tmp_path / "half", 0.5), stored(tmp_path / "quarter", 0.25)
    paper = stored_paper(tmp_path / "paper")
    everything = tuple(range(SIZE))
    assert comparable([half, paper, quarter]) == ([Group((2, 0), everything)], [])
    assert comparable([half, half]) == ([], [])
    assert comparable([half, changed(quarter, data_digest="0" * 64)]) == ([], [])
    assert comparable([half, changed(quarter, config=CertifyConfig(n=100, alpha=0.01))]) == ([], [])
    assert comparable([half, changed(quarter, simultaneous=100)]) == ([], [])


def test_runs_meet_on_the_inputs_that_all_have_finished(tmp_path: Path) -> None:
    half, quarter = stored(tmp_path / "half", 0.5, range(20)), stored(tmp_path / "quarter", 0.25, range(10, 30))
    other, late = stored(tmp_path / "other", 0.75, range(18, 40)), stored(tmp_path / "late", 1.0, range(35, 40))
    assert comparable([half, quarter]) == ([Group((1, 0), tuple(range(10, 20)))], [])
    assert comparable([half, quarter, other]) == ([Group((1, 0, 2), (18, 19))], [])
    assert comparable([half, late]) == ([], [(0, 1)])
    assert comparable([half, quarter, late]) == ([Group((1, 0), tuple(range(10, 20)))], [(0, 1, 2)])
    assert comparable([half, late, other]) == ([Group((0, 2), (18, 19))], [(0, 1, 2)])


def test_rows_of_common_tables_are_those_of_one_input() -> None:
    tables = [table([0.1, 0.2, 0.3, 0.4]), table([0.5, 0.6, 0.7, 0.8]).iloc[1:]]
    first, second = common_tables(tables, (1, 3))
    assert first["radius"].tolist() == [0.2, 0.4]
    assert second["radius"].tolist() == [0.6, 0.8]
    assert first["index"].tolist() == second["index"].tolist() == [1, 3]


def changed(run: StoredRun, **changes: object) -> StoredRun:
    return StoredRun(run.path, spec(run.spec.indices, sigma=0.25, **changes), run.records, torn=False)


def test_equal_runs_are_the_first_ones_everywhere() -> None:
    curve = steps(table([0.1, 0.5, -1.0]))
    (piece,) = envelope([curve, curve])
    assert (piece.run, piece.radii, piece.certified) == (0, (0.0, 0.1, 0.5), (2, 2, 1))
    assert np.all(curve.at(np.array([0.6, 2.0])) == 0)
