"""Votes against every rival: coverage by enumerating every count vector, sharpness at many classes, choice of rules."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest, multinomial

from doublebubble.bounds import Joint, VotesRule, choose_rule, clopper_pearson, others, votes_bound
from doublebubble.bounds.stakes import mean_upper_bound
from doublebubble.bounds.votes import design_joint
from doublebubble.errors import InputError, SettingError
from doublebubble.geometry import cohen_radius
from doublebubble.geometry.joint import best_prices, joint_radius
from doublebubble.search.forecast import expected_counts
from doublebubble.types import Counts, Floats

JOINTS = tuple(Joint(rival, *best_prices(0.6, 0.2), 0.3) for rival in (1, 2))
RULES = [
    VotesRule(0, binary=True),
    VotesRule(0, binary=False),
    VotesRule(0, binary=False, joints=JOINTS[:1]),
    VotesRule(0, binary=False, joints=JOINTS),
]


def least(counts: Counts, rule: VotesRule, alpha: float, sigma: float = 1.0) -> float:
    return min(bound.radius for bound in votes_bound(counts, rule, alpha, sigma))


def true_radius(p: Floats, top: int) -> float:
    """(S3) with exact probabilities, in units of sigma."""
    return float(ndtri(p[top]) - ndtri(np.delete(p, top).max())) / 2


@pytest.mark.parametrize("rule", RULES, ids=["binary", "counts", "one joint", "two joints"])
def test_coverage_by_enumerating_all_counts(rule: VotesRule) -> None:
    """n = 14, K = 3: the probability of the counts whose radius is too large is at most alpha, for a grid of truths.

    Each rival has the whole of alpha, which Lemma I allows; and it is used: the worst truth comes near alpha.
    """
    n, alpha = 14, 0.2
    counts = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    radii = np.array([least(c, rule, alpha) for c in counts])
    # Truths whose radius lies just below one that some counts claim: there the misses are most likely.
    truths = [(i / 30, j / 30, (30 - i - j) / 30) for i in range(1, 30) for j in range(31 - i)]
    for r in sorted({round(float(radius), 9) for radius in radii if 0 < radius < 3}):
        for q in np.linspace(0.02, 0.45, 25):
            a = float(ndtr(ndtri(q) + 2 * r)) - 1e-9
            if a + q <= 1:
                truths += [(a, q, 1 - a - q), (a, 1 - a - q, q)] if 1 - a - q <= q else []
    worst = 0.0
    for p in np.array(truths):
        missed = (radii > 0) & (radii > true_radius(p, 0) + 1e-12)
        worst = max(worst, float(multinomial.pmf(counts[missed], n, p).sum()) if missed.any() else 0.0)
    assert worst <= alpha
    assert worst > alpha / 4


@pytest.mark.parametrize(("num_classes", "concentration"), [(10, 0.3), (200, 0.05), (1000, 5.0)])
def test_coverage_by_simulation_through_the_choice(num_classes: int, concentration: float) -> None:
    rng = np.random.default_rng(num_classes)
    n0, n, alpha, repetitions, misses = 100, 500, 0.2, 400, 0
    for _ in range(repetitions):
        p = rng.dirichlet(np.full(num_classes, concentration))
        select = rng.multinomial(n0, p)
        top = int(select.argmax())
        rule = choose_rule(expected_counts(select, top, n), top, alpha, 1.0)
        radius = least(rng.multinomial(n, p), rule, alpha)
        misses += radius > 0 and radius > true_radius(p, top)
    assert binomtest(misses, repetitions, alpha, alternative="greater").pvalue > 1e-4


def test_every_rival_has_the_whole_of_alpha() -> None:
    """Half of alpha for the class and half for the rival that decides, however many others there are."""
    for rest in ([5, 5], [1] * 10, [0] * 1000):
        counts = np.array([90, 700, 200 + (10 - sum(rest)), *rest])
        (bound,) = votes_bound(counts, VotesRule(1, binary=False), 0.001, 0.5)
        lower = clopper_pearson(700, 1000, 0.0005, "lower")
        upper = clopper_pearson(int(counts[2]), 1000, 0.0005, "upper")
        assert bound.radius == cohen_radius(lower, upper, 0.5)
        assert bound.alphas == (0.0005, 0.0005)
        assert bound.numbers == {"lower_a": lower, "q": upper}


def test_binary_spends_everything_on_a() -> None:
    (bound,) = votes_bound(np.array([30, 70]), VotesRule(1, binary=True), 0.001, 0.5)
    lower = clopper_pearson(70, 100, 0.001, "lower")
    assert bound.alphas == (0.001,)
    assert bound.radius == cohen_radius(lower, None, 0.5)


def test_the_upper_bound_is_capped_by_the_complement() -> None:
    """All draws in A: 1 - p_A bounds every rival at no further cost."""
    (bound,) = votes_bound(np.array([50, 0, 0, 0]), VotesRule(0, binary=False), 0.1, 1.0)
    assert bound.numbers["q"] <= np.nextafter(1 - bound.numbers["lower_a"], 2)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=7), st.randoms(use_true_random=False), st.booleans())
def test_relabelling_classes_changes_nothing(raw: list[int], random: Random, joint: bool) -> None:
    counts = np.array([70, *raw])
    shuffle = list(range(len(counts)))
    random.shuffle(shuffle)
    one = VotesRule(0, False, (design_joint(counts, 0, 1, 0.01),) if joint else ())
    two = VotesRule(
        shuffle.index(0), False, tuple(bound._replace(rival=shuffle.index(bound.rival)) for bound in one.joints)
    )
    assert least(counts, one, 0.01) == pytest.approx(least(counts[shuffle], two, 0.01), rel=1e-12)


@given(st.lists(st.integers(0, 60), min_size=3, max_size=7), st.integers(0, 2))
def test_every_rival_is_held_off_by_exactly_one_bound(raw: list[int], joints: int) -> None:
    counts = np.array([70, *raw])
    rule = VotesRule(0, False, tuple(design_joint(counts, 0, rival, 0.01) for rival in range(1, 1 + joints)))
    found = votes_bound(counts, rule, 0.01, 1.0)
    named = [k for bound in found for k in bound.rivals or ()]
    assert sorted(named) == list(range(1, 1 + joints))
    assert sum(bound.rivals is None for bound in found) == 1
    assert all(sum(bound.alphas) <= 0.01 for bound in found)


def test_the_rest_is_those_without_a_joint_functional() -> None:
    """A rival with many votes must not be forgotten because another has a joint functional."""
    counts = np.array([400, 10, 390, 200])
    rule = VotesRule(0, False, (design_joint(counts, 0, 1, 0.01),))
    assert least(counts, rule, 0.01) == least(counts, VotesRule(0, binary=False), 0.01)


def test_a_joint_functional_pays_where_many_rivals_share_the_rest() -> None:
    """p = (0.4, 0.1, ...): the errors of the two counts are nearly independent there, and two bounds add them up."""
    counts = np.array([4000, 1000, *[500] * 10])
    rule = choose_rule(counts, 0, 0.001, 1.0)
    assert [joint.rival for joint in rule.joints][:1] == [1]
    assert least(counts, rule, 0.001) > 1.003 * least(counts, VotesRule(0, binary=False), 0.001)


def spread(num_classes: int, kind: str) -> Floats:
    ranks = np.arange(num_classes - 1, dtype=np.float64)
    rest = {"rival": np.where(ranks == 0, 3.0 * num_classes, 1.0), "tail": 0.6**ranks}.get(kind, np.ones_like(ranks))
    p_a = {"rival": 0.6, "tail": 0.45, "flat": 0.3, "sure": 0.999}[kind]
    return np.concatenate([[p_a], (1 - p_a) * rest / rest.sum()])


@pytest.mark.parametrize("num_classes", [3, 10, 200, 1000])
@pytest.mark.parametrize("kind", ["rival", "tail", "flat", "sure"])
def test_the_chosen_rule_is_nearly_the_best(num_classes: int, kind: str) -> None:
    """Against both rules tried on the truth: within 0.06 sigma of the better one."""
    n, alpha, p = 10_000, 0.001, spread(num_classes, kind)
    counts = np.floor(n * p).astype(np.int64)
    counts[0] += n - counts.sum()
    binary, multiclass = (least(counts, VotesRule(0, flag), alpha) for flag in (True, False))
    got = []
    for seed in range(20):
        select = np.random.default_rng(seed).multinomial(500, p)
        if select.argmax() == 0:
            rule = choose_rule(expected_counts(select, 0, n), 0, alpha, 1.0)
            got.append(least(counts, rule, alpha))
    assert np.mean(got) > (binary if kind == "sure" else max(binary, multiclass)) - 0.06
    if kind in ("flat", "tail") and num_classes > 3:
        assert np.mean(got) > binary + 0.3  # what the rivals by name are for


def test_a_joint_bound_is_that_of_its_own_stake() -> None:
    """(R2) at the stake of the rule and at no other: a stake chosen by the draws would prove too much."""
    votes, level, sigma = np.array([600, 200, 120, 80]), 0.001, 0.5
    for stake in (0.05, 0.2, 0.3):
        joint = Joint(1, *best_prices(0.6, 0.2), stake)
        high = joint.k_a + joint.k_b
        loss = mean_upper_bound([0.0, high, joint.k_a], [600, 200, 200], stake, level, 0.0, high)
        expected = joint_radius(high - loss, joint.k_a, joint.k_b, sigma)
        bound = votes_bound(votes, VotesRule(0, False, (joint,)), level, sigma)[0]
        assert bound.numbers["stake"] == stake
        assert bound.radius == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("counts", [[500, 0], [260, 240], [1, 0]])
def test_two_classes_are_always_binary(counts: list[int]) -> None:
    assert choose_rule(np.array(counts), 0, 0.001, 1.0) == VotesRule(0, binary=True)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=30).filter(any), st.integers(1, 10**6), st.floats(1e-12, 0.5))
def test_any_counts_give_a_usable_rule(raw: list[int], n: int, alpha: float) -> None:
    counts = np.array(raw)
    top = int(counts.argmax())
    rule = choose_rule(expected_counts(counts, top, n), top, alpha, 1.0)
    assert rule.top == top
    assert least(counts, rule, alpha) < 40


@pytest.mark.parametrize(
    "counts",
    [np.array([1, -1, 5]), np.array([0, 0, 0]), np.array([1.0, 2.0, 3.0]), np.array([[1, 2, 3]]), np.array([4])],
)
def test_refuses_counts(counts: Counts) -> None:
    with pytest.raises(InputError, match="counts"):
        votes_bound(counts, RULES[0], 0.1, 1.0)


def test_refuses_rules_that_cannot_be_meant() -> None:
    joint = Joint(1, 1.0, 1.0, 0.1)
    for top, binary, joints in ((1, False, (joint,)), (0, True, (joint,)), (0, False, (joint, joint))):
        with pytest.raises(SettingError, match="rivals"):
            VotesRule(top, binary, joints)


def test_all_other_classes() -> None:
    assert others(4, 2) == (0, 1, 3)
