"""The law of the integers against mpmath: masses, thresholds, distance, means."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doublebubble.errors import BudgetError, SettingError
from doublebubble.noise.cells import BITS, PREFIX_BITS, TOTAL, UNDECIDED, Cells, rounded_normal, rounded_up

EIGHT_BIT = Fraction(1, 255) / Fraction(0.5)
WIDTHS = [EIGHT_BIT, Fraction(1, 255) / Fraction(0.12), Fraction(1, 2), Fraction(2)]
FAR = 10**6  # a reach that never ends the table


def true_masses(width: Fraction, last: int) -> list[mpmath.mpf]:
    """P[J = j] for j = -last .. last, the ends with all beyond, by differences that do not cancel in the tails."""
    step = mpmath.mpf(width.numerator) / width.denominator

    def tail(edge: int) -> mpmath.mpf:
        return mpmath.erfc((edge + mpmath.mpf(1) / 2) * step / mpmath.sqrt(2)) / 2

    side = [tail(k - 1) - tail(k) for k in range(1, last)] + [tail(last - 1)]
    return [*reversed(side), 1 - 2 * tail(0), *side]


def integer_masses(law: Cells) -> list[int]:
    thresholds = [0, *law.thresholds.tolist(), TOTAL]
    return [b - a for a, b in itertools.pairwise(thresholds)]


@pytest.mark.parametrize("width", WIDTHS)
def test_masses_agree_with_mpmath_and_sum_exactly(width: Fraction) -> None:
    law = rounded_normal(width, FAR)
    masses = integer_masses(law)
    assert len(masses) == 2 * law.last + 1
    assert sum(masses) == TOTAL
    assert min(masses) >= 0
    with mpmath.workdps(60):
        for mass, truth in zip(masses, true_masses(width, law.last), strict=True):
            assert abs(mpmath.mpf(mass) / TOTAL - truth) <= mpmath.mpf(2) ** -BITS
            assert abs(mass / TOTAL - float(truth)) < 1e-15
        for k, truth in enumerate(true_masses(width, law.last)[law.last :]):
            assert float(law.masses[k]) == pytest.approx(float(truth), rel=3e-16)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_law_is_symmetric(width: Fraction) -> None:
    masses = integer_masses(rounded_normal(width, FAR))
    assert masses == masses[::-1]


@pytest.mark.parametrize("sigmas", [4, 6, 7, 8])
def test_tails_hold_the_mass_they_should(sigmas: int) -> None:
    law = rounded_normal(EIGHT_BIT, FAR)
    edge = int(sigmas / EIGHT_BIT)
    beyond = int(law.thresholds[law.last - edge - 1])  # 2^62 P[J < -edge]
    with mpmath.workdps(60):
        truth = mpmath.erfc((edge + mpmath.mpf(1) / 2) / mpmath.mpf(127.5) / mpmath.sqrt(2)) / 2
        assert abs(beyond - truth * TOTAL) <= 0.5
    assert beyond > 0


@given(width=st.fractions(Fraction(1, 40), 2, max_denominator=1000), reach=st.one_of(st.integers(1, 12), st.just(FAR)))
@settings(max_examples=40, deadline=None)
def test_the_stated_distance_bounds_the_true_one(width: Fraction, reach: int) -> None:
    """The total variation from J limited to +-reach, by brute force, is at most `variation`, which is not generous."""
    law = rounded_normal(width, reach)
    with mpmath.workdps(60):
        shown = min(reach, law.last + 200)
        masses = [0] * (shown - law.last) + integer_masses(law) + [0] * (shown - law.last)
        truth = true_masses(width, shown)
        gaps = [abs(mpmath.mpf(mass) / TOTAL - p) for mass, p in zip(masses, truth, strict=True)]
        stated = mpmath.mpf(law.variation.numerator) / law.variation.denominator
        assert mpmath.fsum(gaps) / 2 <= stated
        assert stated <= (2 * law.last + 1) * mpmath.mpf(2) ** -BITS


def test_what_lies_beyond_the_table_is_in_the_distance() -> None:
    """With two cells on each side the table ends for want of mass: the mass beyond must be counted."""
    law = rounded_normal(Fraction(2), FAR)
    with mpmath.workdps(60):
        beyond = mpmath.erfc((2 * law.last + 1) / mpmath.sqrt(2))
        gaps = [
            2
            * abs(
                mpmath.mpf(int(law.thresholds[law.last + k])) / TOTAL
                - (1 - mpmath.erfc((2 * k + 1) / mpmath.sqrt(2)) / 2)
            )
            for k in range(law.last)
        ]
        stated = mpmath.mpf(law.variation.numerator) / law.variation.denominator
        assert stated >= mpmath.fsum(gaps) + beyond
        assert beyond > 0


def test_the_loss_bounds_the_distance_of_a_product() -> None:
    """Two draws in dimension two are four coordinates: total variation over all 5^4 outcomes, by brute force."""
    law = rounded_normal(Fraction(1), 2)
    with mpmath.workdps(60):
        drawn = [mpmath.mpf(mass) / TOTAL for mass in integer_masses(law)]
        truth = true_masses(Fraction(1), 2)
        gaps = [
            abs(mpmath.fprod(drawn[k] for k in outcome) - mpmath.fprod(truth[k] for k in outcome))
            for outcome in itertools.product(range(5), repeat=4)
        ]
        assert 0 < mpmath.fsum(gaps) / 2 <= mpmath.mpf(law.loss(2, 2, 0.001))


def test_the_loss_counts_draws_and_dimensions_and_is_rounded_up() -> None:
    law = rounded_normal(EIGHT_BIT, FAR)
    loss = law.loss(100_000, 3072, 0.001)
    assert Fraction(loss) >= 100_000 * 3072 * law.variation
    assert loss == pytest.approx(100_000 * 3072 * float(law.variation), rel=1e-15)
    assert 1e-9 < loss < 1e-6
    assert law.loss(0, 1, 0.001) == 0


def test_a_loss_of_more_than_a_tenth_of_alpha_is_refused() -> None:
    law = rounded_normal(EIGHT_BIT, FAR)
    loss = law.loss(10**5, 3072, 0.001)
    assert law.loss(10**5, 3072, 10.1 * loss) == loss
    with pytest.raises(BudgetError, match=r"1/10 of alpha"):
        law.loss(10**5, 3072, 9.9 * loss)


@pytest.mark.parametrize(("draws", "dimension"), [(-1, 3), (5, 0)])
def test_a_loss_of_nothing_sensible_is_refused(draws: int, dimension: int) -> None:
    with pytest.raises(SettingError, match="expected draws"):
        rounded_normal(EIGHT_BIT, FAR).loss(draws, dimension, 0.001)


@pytest.mark.parametrize(
    ("width", "reach"), [(EIGHT_BIT, FAR), (EIGHT_BIT, 300), (Fraction(1, 2), FAR), (Fraction(2), 1)]
)
def test_means_are_those_of_quadrature(width: Fraction, reach: int) -> None:
    law = rounded_normal(width, reach)
    with mpmath.workdps(40):
        step = mpmath.mpf(width.numerator) / width.denominator
        for j in {0, 1, 2, law.last // 3, law.last // 2, law.last - 1, law.last} & set(range(law.last + 1)):
            low, high = (j - mpmath.mpf(1) / 2) * step, (j + mpmath.mpf(1) / 2) * step
            points = [low, high] if j < law.last else [low, low + 1, low + 3, low + 20]
            weight = mpmath.quad(lambda z: mpmath.exp(-z * z / 2), points)
            mean = mpmath.quad(lambda z: z * mpmath.exp(-z * z / 2), points) / weight
            assert abs(law.means[law.last + j] - mean) <= 2e-16 * (1 + abs(mean))
            assert law.means[law.last - j] == -law.means[law.last + j]


def test_means_keep_the_first_moment_and_shrink_the_second() -> None:
    law = rounded_normal(Fraction(1, 2), FAR)
    weights = np.array(integer_masses(law)) / TOTAL
    assert weights @ law.means == pytest.approx(0, abs=1e-15)
    assert 0.9 < weights @ law.means**2 < 1


@given(words=st.lists(st.integers(0, TOTAL - 1), min_size=1, max_size=30), width=st.sampled_from(WIDTHS))
@settings(max_examples=60, deadline=None)
def test_prefixes_agree_with_the_whole_word(words: list[int], width: Fraction) -> None:
    law = rounded_normal(width, FAR)
    values = np.array(words, np.int64)
    quick = law.prefixes[values >> (BITS - PREFIX_BITS)]
    sure = quick != UNDECIDED
    assert (quick[sure] == law.look_up(values)[sure]).all()


def test_look_up_is_the_definition_at_and_around_every_threshold() -> None:
    law = rounded_normal(Fraction(1, 2), FAR)
    for k, threshold in enumerate(law.thresholds.tolist()):
        below, at = law.look_up(np.array([threshold - 1, threshold])) + law.last
        assert below <= k < at  # P[J <= k - last] = threshold / 2^62
    assert law.look_up(np.array([0, TOTAL - 1])).tolist() == [-law.last, law.last]


def test_every_prefix_is_decided_only_where_all_its_words_agree() -> None:
    law = rounded_normal(EIGHT_BIT, FAR)
    size = 1 << (BITS - PREFIX_BITS)
    first = np.arange(1 << PREFIX_BITS, dtype=np.int64) * size
    agree = law.look_up(first) == law.look_up(first + (size - 1))
    assert ((law.prefixes != UNDECIDED) == agree).all()
    assert 0.98 < agree.mean() < 1


@pytest.mark.parametrize(
    ("width", "reach", "word"),
    [(Fraction(0), 9, "at most 2 sigma"), (Fraction(3), 9, "at most 2 sigma"), (Fraction(1), 0, "two grid points")],
)
def test_a_table_that_cannot_be_meant_is_refused(width: Fraction, reach: int, word: str) -> None:
    with pytest.raises(SettingError, match=word):
        rounded_normal(width, reach)


def test_a_grid_that_is_too_fine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doublebubble.noise.cells._MOST_CELLS", 50)
    with pytest.raises(SettingError, match="expected a step of at least sigma/5, got sigma/100"):
        rounded_normal(Fraction(1, 100), FAR)
    assert rounded_normal(Fraction(1, 100), 40).last == 40


@given(st.fractions(0, 1))
def test_rounding_up_never_rounds_down(value: Fraction) -> None:
    assert value <= Fraction(rounded_up(value)) <= value * (1 + Fraction(1, 2**51)) + Fraction(1, 2**1074)
