"""The lead of a class over its rivals by votes and by pairs of votes, as a function of the distance t in sigmas.

(S3), (S3b), the joint functional with (R2), and (F6), evaluated directly. A lead above 0 at t certifies the open ball
of radius t sigma, because each of these leads falls as t grows. Imports nothing of what it checks.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doublebubble.audit.reverify.numbers import (
    Unconfirmed,
    cdf,
    exact,
    is_lower_bound,
    is_upper_bound,
    lower_bound,
    mp,
    number,
    quantile,
    require,
)

Lead = Callable[[Any], Any]
Rule = Mapping[str, Any]


def parts_of(rule: Rule, *numbers: int) -> list[Any]:
    """The rule's parts of alpha, of which there may be so many."""
    alphas = [exact(alpha, "a part of alpha") for alpha in rule["alphas"]]
    require(
        len(alphas) in numbers,
        f"rule {rule['rule']}: {len(alphas)} parts of alpha for {' or '.join(map(str, numbers))} events",
    )
    return alphas


def class_bound(rule: Rule, counts: Sequence[int], top: int, alpha: Any) -> Any:
    """The rule's lower bound for the class, checked by the exact tail (B1)."""
    lower = number(rule["numbers"], "lower_a")
    proved = is_lower_bound(lower, counts[top], sum(counts), alpha)
    require(proved, f"rule {rule['rule']}: the votes do not prove p_A >= {float(lower)}")
    return lower


def rival_bound(rule: Rule, counts: Sequence[int], rivals: Sequence[int], lower: Any, alpha: Any) -> Any:
    """The rule's upper bound for each rival, checked by the exact tail (B2) or by 1 - p_A."""
    q = number(rule["numbers"], "q")
    most = max(counts[k] for k in rivals)
    proved = q >= 1 - lower or is_upper_bound(q, most, sum(counts), alpha)
    require(proved, f"rule {rule['rule']}: the votes do not prove p_B <= {float(q)}")
    return q


def binary(rule: Rule, counts: Sequence[int], top: int) -> Lead:
    """(S3b): all other classes at once."""
    (alpha,) = parts_of(rule, 1)
    a = quantile(class_bound(rule, counts, top, alpha))
    return lambda t: a - t


def by_counts(rule: Rule, counts: Sequence[int], top: int, rivals: Sequence[int]) -> Lead:
    """(S3) against each of the rivals, at two parts of alpha."""
    alphas = parts_of(rule, 2)
    lower = class_bound(rule, counts, top, alphas[0])
    a, b = quantile(lower), quantile(rival_bound(rule, counts, rivals, lower, alphas[1]))
    return lambda t: (a - b) / 2 - t


def joint(rule: Rule, counts: Sequence[int], top: int, rivals: Sequence[int]) -> Lead:
    """The joint functional of section 8, by the wealth of (R2) at the mean that a lead of 0 would need."""
    (alpha,) = parts_of(rule, 1)
    require(len(rivals) == 1, "rule joint: it is for one rival")
    k_a, k_b, stake = (number(rule["numbers"], name) for name in ("k_a", "k_b", "stake"))
    require(k_a > 0 and k_b > 0 and 0 < stake <= 1 / (k_a + k_b), "rule joint: prices or stake out of range")
    a, b = counts[top], counts[rivals[0]]
    paid = ((mp.mpf(0), a), (k_a + k_b, b), (k_a, sum(counts) - a - b))  # of k_A 1[not A] + k_B 1[B]
    needed = -mp.log(alpha)

    def lead(t: Any) -> Any:
        # A mean loss below this leaves a lead at t; the wealth says whether a larger mean is refuted.
        mean = k_a + k_b - 1 - price_cost(k_a, t) - price_cost(k_b, t)
        factors = [(1 + stake * (mean - value), times) for value, times in paid if times]
        if any(factor <= 0 for factor, _ in factors):
            return mp.mpf(-1)
        return sum(times * mp.log(factor) for factor, times in factors) - needed

    return lead


def price_cost(k: Any, t: Any) -> Any:
    """C(k) = E[(k - w_t)_+], which grows with t."""
    if t == 0:
        return max(k - 1, mp.mpf(0))
    h = mp.log(k) / t + t / 2
    return k * cdf(h) - cdf(h - t)


def dipole(rule: Rule, counts: Sequence[int], top: int, evidence: Mapping[str, Any], n: int) -> Lead:
    """(F6) against every rival, from the counts of pairs alone."""
    alphas = parts_of(rule, 2, 4)
    require(n % 2 == 0, "rule dipole: an odd number of draws makes no pairs")
    m, pairs = n // 2, _pairs(evidence, counts, n // 2)
    mine = _bound(pairs[top][0], pairs[top][1], m, alphas[:2])
    if len(alphas) == 2:  # "not the rival" is the class itself
        return lambda t: 2 * mine(t) - 1
    against = {(never, once) for k, (_, once, never) in enumerate(pairs) if k != top}
    others = [_bound(never, once, m, alphas[2:]) for never, once in against]
    return lambda t: mine(t) + min(other(t) for other in others) - 1


def _bound(both: int, one: int, m: int, alphas: Sequence[Any]) -> Lead:
    """(F6): the probability at distance t of an event that both, or one, of so many pairs showed."""
    together, single = lower_bound(both, m, alphas[0]), lower_bound(one, m, alphas[1]) / 2
    a, b = quantile((1 + together) / 2), quantile(single)
    return lambda t: cdf(a - t) - cdf(-a - t) + (cdf(b - t) if single > 0 else mp.mpf(0))


def _pairs(evidence: Mapping[str, Any], counts: Sequence[int], m: int) -> list[tuple[int, int, int]]:
    """How many pairs voted for each class twice, once and never; they must give back the votes."""
    stored = evidence.get("pairs")
    if not isinstance(stored, Mapping):
        raise Unconfirmed("rule dipole: the evidence lacks pairs")
    found = [tuple(stored.get(str(k), (0, 0, m))) for k in range(len(counts))]
    for k, (both, one, never) in enumerate(found):
        whole = all(isinstance(c, int) and c >= 0 for c in (both, one, never)) and both + one + never == m
        require(whole and 2 * both + one == counts[k], f"rule dipole: the pairs of class {k} do not give its votes")
    require(sum(one for _, one, _ in found) == 2 * (m - sum(both for both, *_ in found)), "rule dipole: pairs missing")
    return [(both, one, never) for both, one, never in found]
