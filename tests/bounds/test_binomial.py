"""Clopper-Pearson against scipy's interval, exact coverage by enumeration, and 35-digit arithmetic at the extremes."""

from typing import Literal

import mpmath as mp
import numpy as np
import pytest
from scipy import special
from scipy.special import betainccinv, betaincinv
from scipy.stats import binom, binomtest

from doublebubble.bounds import binomial, clopper_pearson
from doublebubble.errors import InputError, SettingError

ALPHAS = (0.5, 0.05, 1e-3, 1e-6, 1e-12)


def tail_at_least(k: int, n: int, p: float) -> mp.mpf:
    """P[X >= k] by summing the binomial terms from k on, to 25 digits."""
    with mp.workdps(35):
        ratio = mp.mpf(p) / (1 - mp.mpf(p))
        term = mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k)
        total = term
        for j in range(k, n):
            term *= ratio * (n - j) / (j + 1)
            total += term
            if term < total * mp.mpf(10) ** -25 and j > n * p:
                break
        return total


def tail_at_most(k: int, n: int, p: float) -> mp.mpf:
    """P[X <= k] by summing the binomial terms from k down, to 25 digits."""
    with mp.workdps(35):
        ratio = (1 - mp.mpf(p)) / mp.mpf(p)
        term = mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k)
        total = term
        for j in range(k, 0, -1):
            term *= ratio * j / (n - j + 1)
            total += term
            if term < total * mp.mpf(10) ** -25 and j < n * p:
                break
        return total


@pytest.mark.parametrize("n", [1, 2, 7, 100, 3001])
def test_agrees_with_scipy_and_is_never_inside_it(n: int) -> None:
    ks = sorted({0, 1, 2, n // 3, n // 2, n - 2, n - 1, n} & set(range(n + 1)))
    for alpha in ALPHAS:
        for k in ks:
            theirs = binomtest(k, n).proportion_ci(1 - alpha, method="exact")
            # scipy halves 1 - (1 - alpha), which is not alpha / 2: hand ours the same float
            lower, upper = clopper_pearson(k, n, 1 - (1 - alpha), "two-sided")
            assert theirs.low - 1e-9 < lower <= theirs.low
            assert theirs.high <= upper < theirs.high + 1e-9


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_one_sided_agrees_with_scipy(side: str) -> None:
    for alpha in (0.5, 0.05, 1e-3):
        for n in (10, 500):
            for k in (0, 1, n // 2, n - 1, n):
                level = 1 - (1 - alpha)
                if side == "lower":
                    low = binomtest(k, n, alternative="greater").proportion_ci(1 - alpha).low
                    assert low - 1e-9 < clopper_pearson(k, n, level, "lower") <= low
                else:
                    high = binomtest(k, n, alternative="less").proportion_ci(1 - alpha).high
                    assert high <= clopper_pearson(k, n, level, "upper") < high + 1e-9


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
def test_coverage_by_enumeration(n: int, alpha: float) -> None:
    """P[lower(X) > p] summed over all k, for a fine grid of p and just below every bound, where it is largest."""
    ks = np.arange(n + 1)
    lower = clopper_pearson(ks, n, alpha, "lower")
    upper = clopper_pearson(ks, n, alpha, "upper")
    grid = np.concatenate([np.linspace(0, 1, 4001), np.nextafter(lower, 0), np.nextafter(upper, 1)])
    pmf = binom.pmf(ks, n, grid[:, None])
    miss_lower = (pmf * (lower > grid[:, None])).sum(1)
    miss_upper = (pmf * (upper < grid[:, None])).sum(1)
    assert miss_lower.max() <= alpha * (1 + 1e-11)  # 1e-11: the rounding of pmf and of this sum
    assert miss_upper.max() <= alpha * (1 + 1e-11)
    assert miss_lower.max() > 0.99 * alpha  # and no wider than exactness asks
    assert miss_upper.max() > 0.99 * alpha


CASES = [(1, 10), (10, 10), (1, 10**7), (4, 10**9), (165_035, 1_108_175), (5 * 10**6, 10**7), (10**7 - 1, 10**7)]
CASES += [(10**7, 10**7), (999, 1000), (500, 1000), (9_990_000, 10**7), (78, 100)]


@pytest.mark.parametrize(("k", "n"), CASES)
def test_exact_bound_is_never_inside(k: int, n: int) -> None:
    for alpha in ALPHAS if n < 10**6 else (0.05, 1e-12):
        lower = clopper_pearson(k, n, alpha, "lower")
        loss = 2e-10 * min(lower, 1 - lower) + 4e-12
        assert lower == 0 or tail_at_least(k, n, lower) <= alpha
        assert lower + loss >= 1 or tail_at_least(k, n, lower + loss) > alpha
        if k < n:
            upper = clopper_pearson(k, n, alpha, "upper")
            loss = 2e-10 * min(upper, 1 - upper) + 4e-12
            assert upper == 1 or tail_at_most(k, n, upper) <= alpha
            assert tail_at_most(k, n, upper - loss) > alpha


def test_exact_bound_is_never_inside_at_random() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(10 ** rng.uniform(0, 5))
        k = int(rng.integers(1, n + 1))
        alpha = float(10 ** rng.uniform(-12, np.log10(0.5)))
        lower, upper = clopper_pearson(k, n, alpha, "lower"), clopper_pearson(k - 1, n, alpha, "upper")
        assert lower == 0 or tail_at_least(k, n, lower) <= alpha
        assert upper == 1 or tail_at_most(k - 1, n, upper) <= alpha


@pytest.mark.parametrize("error", [1e-9, 1e-6, 1e-3])
def test_the_forward_check_mends_an_inverse_that_errs_inward(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    k, n, alpha = 873, 1000, 1e-3
    lower, upper = betaincinv(k, n - k + 1, alpha), betainccinv(k + 1, n - k, alpha)
    monkeypatch.setattr(binomial, "betaincinv", lambda *_: np.array([lower * (1 + error)]))
    monkeypatch.setattr(binomial, "betainccinv", lambda *_: np.array([upper * (1 - error)]))
    assert tail_at_least(k, n, float(clopper_pearson(np.array([k]), n, alpha)[0])) <= alpha
    assert tail_at_most(k, n, float(clopper_pearson(np.array([k]), n, alpha, "upper")[0])) <= alpha


@pytest.mark.parametrize(("side", "inverse"), [("lower", "betaincinv"), ("upper", "betainccinv")])
def test_the_forward_check_concedes_its_own_error(
    monkeypatch: pytest.MonkeyPatch, side: Literal["lower", "upper"], inverse: str
) -> None:
    """A bound whose tail is less than 2e-11 of alpha below it is moved on: the check itself errs by 1.4e-11."""
    k, n, alpha = 873, 1000, 1e-3
    a, b = (k, n - k + 1) if side == "lower" else (k + 1, n - k)
    too_near = float(getattr(special, inverse)(a, b, alpha * (1 - 1e-11)))
    monkeypatch.setattr(binomial, inverse, lambda *_: np.array([too_near]))
    monkeypatch.setattr(
        binomial, "_MARGIN", 1e-16
    )  # what comes out is what the inverse gave, unless the check moves it
    monkeypatch.setattr(binomial, "_CONTAIN", 0.0)
    found = float(clopper_pearson(np.array([k]), n, alpha, side)[0])
    assert abs(found - too_near) > 1e-15
    assert found < too_near if side == "lower" else found > too_near


def test_ends() -> None:
    assert clopper_pearson(0, 10, 0.01, "lower") == 0.0
    assert clopper_pearson(10, 10, 0.01, "upper") == 1.0
    assert clopper_pearson(1000, 1000, 0.001) == pytest.approx(0.001 ** (1 / 1000), abs=1e-9)
    assert clopper_pearson(0, 1000, 0.001, "upper") == pytest.approx(1 - 0.001 ** (1 / 1000), abs=1e-9)


def test_arrays_broadcast_and_match_scalars() -> None:
    ks, alphas = np.array([[0], [3], [10]]), np.array([0.5, 1e-6])
    lower, upper = clopper_pearson(ks, 10, alphas, "two-sided")
    assert lower.shape == upper.shape == (3, 2)
    for i, k in enumerate((0, 3, 10)):
        for j, alpha in enumerate((0.5, 1e-6)):
            assert (lower[i, j], upper[i, j]) == clopper_pearson(k, 10, alpha, "two-sided")
    assert type(clopper_pearson(3, 10, 0.1)) is float


def test_mirror_symmetry() -> None:
    ks = np.arange(51)
    lower = clopper_pearson(ks, 50, 1e-4, "lower")
    np.testing.assert_allclose(clopper_pearson(50 - ks, 50, 1e-4, "upper"), 1 - lower, rtol=0, atol=1e-9)
    assert (np.diff(lower) > 0).all()


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_refuses_alpha(alpha: float) -> None:
    with pytest.raises(SettingError, match="alpha"):
        clopper_pearson(1, 2, alpha)


@pytest.mark.parametrize("n", [0, -1, 10**9 + 1])
def test_refuses_n(n: int) -> None:
    with pytest.raises(SettingError, match="draws"):
        clopper_pearson(0, n, 0.1)


@pytest.mark.parametrize("k", [-1, 11, 2.5, float("nan")])
def test_refuses_k(k: float) -> None:
    with pytest.raises(InputError, match="count k"):
        clopper_pearson(np.array([3, k]), 10, 0.1)


def test_refuses_unknown_side() -> None:
    with pytest.raises(SettingError, match="side"):
        clopper_pearson(1, 2, 0.1, side="both")  # type: ignore[call-overload]


def test_what_is_kept_of_one_count_is_what_arrays_give_and_again() -> None:
    for _ in range(2):
        for k, n in ((0, 7), (3, 7), (7, 7), (912, 1000)):
            for alpha in (0.001, 0.0005, 0.05):
                twice = np.array([k, k])
                lower, upper = clopper_pearson(k, n, alpha, "lower"), clopper_pearson(k, n, alpha, "upper")
                assert (clopper_pearson(twice, n, alpha, "lower") == lower).all()
                assert (clopper_pearson(twice, n, alpha, "upper") == upper).all()
                assert clopper_pearson(k, n, 2 * alpha, "two-sided") == (lower, upper)
        with pytest.raises(InputError, match="count k"):
            clopper_pearson(8, 7, 0.001)
