"""Goodman against his formula written out, Sison-Glaz against a published example, and the merging of rare classes."""

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublebubble.bounds import AsymptoticBounds, goodman, sison_glaz
from doublebubble.errors import InputError, SettingError
from doublebubble.types import Counts, Guarantee

Intervals = Callable[[Counts, float, bool], AsymptoticBounds]


def textbook_goodman(counts: list[int], alpha: float) -> list[tuple[float, float]]:
    """Roots p of (p_hat - p)^2 = B p (1 - p) / N, B the upper alpha/k point of chi-square, 1 degree of freedom."""
    total = sum(counts)
    b = 2 * mp.erfinv(1 - mp.mpf(alpha) / len(counts)) ** 2
    roots = []
    for x in counts:
        centre, spread = b + 2 * x, mp.sqrt(b * (b + 4 * mp.mpf(x) * (total - x) / total))
        roots.append((float((centre - spread) / (2 * (total + b))), float((centre + spread) / (2 * (total + b)))))
    return roots


@pytest.mark.parametrize("counts", [[56, 72, 73, 59, 62, 87, 58], [900, 100], [1000, 0, 0], [5, 5, 5, 5]])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_goodman_is_the_textbook_formula(counts: list[int], alpha: float) -> None:
    bounds = goodman(np.array(counts), alpha, merge=False)
    expected = np.array(textbook_goodman(counts, alpha))
    np.testing.assert_allclose(np.stack([bounds.lower, bounds.upper], 1), expected, rtol=0, atol=1e-9)
    assert bounds.guarantee is Guarantee.ASYMPTOTIC


def test_merging_replaces_rare_classes_by_one() -> None:
    """Counts below 5 sum to 7: one class of 7; below 5 with sum 3: one class of 5, as the paper has it."""
    bounds = goodman(np.array([4, 900, 1, 80, 2]), 0.05)
    (low_a, up_a), (low_b, up_b), (_, up_rest) = textbook_goodman([900, 80, 7], 0.05)
    np.testing.assert_allclose(bounds.lower, [0, low_a, 0, low_b, 0], atol=1e-9)
    np.testing.assert_allclose(bounds.upper, [up_rest, up_a, up_rest, up_b, up_rest], atol=1e-9)
    few = goodman(np.array([900, 3, 0]), 0.05)
    (low_a, up_a), (_, up_rest) = textbook_goodman([900, 5], 0.05)
    np.testing.assert_allclose(few.lower, [low_a, 0, 0], atol=1e-9)
    np.testing.assert_allclose(few.upper, [up_a, up_rest, up_rest], atol=1e-9)


def test_sison_glaz_published_example() -> None:
    """The seven-class example of Sison and Glaz's paper, as printed to three decimals (alpha = 0.05)."""
    bounds = sison_glaz(np.array([56, 72, 73, 59, 62, 87, 58]), 0.05)
    assert np.round(bounds.lower, 3).tolist() == [0.079, 0.113, 0.116, 0.086, 0.092, 0.146, 0.084]
    assert np.round(bounds.upper, 3).tolist() == [0.164, 0.199, 0.201, 0.171, 0.177, 0.231, 0.169]
    assert bounds.guarantee is Guarantee.ASYMPTOTIC


def assert_sane(bounds: AsymptoticBounds, counts: list[int], merge: bool) -> None:
    votes = np.array(counts)
    assert np.isfinite(bounds.lower).all()
    assert np.isfinite(bounds.upper).all()
    assert (bounds.lower >= 0).all()
    assert (bounds.upper <= 1).all()
    assert (bounds.lower <= votes / votes.sum() + 1e-12).all()
    if not merge:
        assert (bounds.upper >= votes / votes.sum() - 1e-12).all()


counts_lists = st.lists(st.integers(0, 40), min_size=2, max_size=5).filter(any)


@given(counts_lists, st.floats(1e-9, 0.5), st.booleans())
def test_goodman_never_nan(counts: list[int], alpha: float, merge: bool) -> None:
    assert_sane(goodman(np.array(counts), alpha, merge), counts, merge)


@settings(max_examples=15, deadline=None)
@given(counts_lists, st.floats(1e-4, 0.5), st.booleans())
def test_sison_glaz_never_nan(counts: list[int], alpha: float, merge: bool) -> None:
    assert_sane(sison_glaz(np.array(counts), alpha, merge), counts, merge)


@pytest.mark.parametrize("method", [goodman, sison_glaz])
@pytest.mark.parametrize("counts", [[1000, 0], [1000, 0, 0, 0], [1, 0], [0, 3], [500, 500]])
@pytest.mark.parametrize("merge", [True, False])
def test_unanimous_votes_and_two_classes(method: Intervals, counts: list[int], merge: bool) -> None:
    bounds = method(np.array(counts), 0.05, merge)
    assert_sane(bounds, counts, merge)
    assert bounds.upper.shape == (len(counts),)


def test_refusals() -> None:
    for alpha in (0.0, 1.0, 1e-10, float("nan")):
        with pytest.raises(SettingError, match="alpha"):
            goodman(np.array([5, 6]), alpha)
    with pytest.raises(InputError, match="counts"):
        sison_glaz(np.array([0, 0]), 0.05)
