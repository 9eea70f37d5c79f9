"""One ball of a `sound` certificate: does its radius follow from its votes, its parts of alpha and its numbers?"""

from collections.abc import Sequence
from typing import Any

from doublebubble.audit.reverify.first_order import first_order
from doublebubble.audit.reverify.geometry import Box, Point, check_eta
from doublebubble.audit.reverify.numbers import Unconfirmed, Unknown, exact, mp, number, require, within
from doublebubble.audit.reverify.profile import controlled, profile
from doublebubble.audit.reverify.sequence import check_sequence
from doublebubble.audit.reverify.votes import Lead, Rule, binary, by_counts, dipole, joint
from doublebubble.certificate import Ball

SEQUENCE = "sequence"
"""The statistic of votes that were looked at as they came."""
_RULES = {
    "binary": {"binary"},
    "multiclass": {"joint", "counts"},
    "first_order": {"first_order", "counts"},
    "dipole": {"dipole"},
    "profile": {"profile", "controlled", "counts"},
}
_SLACK = mp.mpf("0.002")  # how much a radius may fall short of what its numbers prove, before they do not belong to it
_COVERED = mp.mpf("0.03")  # the same for a covering, which is cut off where a sector leaves no lead to go on


def check_ball(ball: Ball, sigma: float, centre: Point | None, box: Box | None) -> None:
    """Confirm that g is the ball's class on the open ball, with probability at least 1 - ball.alpha over its draws.

    `centre` is needed, None if it is not at hand, where the evidence has an eta.
    """
    counts, top = [int(count) for count in ball.counts], ball.evidence.get("top")
    require(min(counts) >= 0 and sum(counts) == ball.n >= 1, f"the votes sum to {sum(counts)}, n is {ball.n}")
    require(type(top) is int and 0 <= top < len(counts), f"the class of a ball is {top!r}")
    assert isinstance(top, int)
    if ball.statistic == SEQUENCE:
        check_sequence(ball, sigma)
        return
    rules = ball.evidence.get("rules")
    require(isinstance(rules, list) and len(rules) > 0, "a ball's evidence lacks rules")
    assert isinstance(rules, list)
    if ball.statistic not in _RULES:
        raise Unknown(f"no verifier for statistic {ball.statistic}")
    for rule in rules:
        if rule["rule"] not in {name for names in _RULES.values() for name in names}:
            raise Unknown(f"no verifier for rule {rule['rule']}")
        require(rule["rule"] in _RULES[ball.statistic], f"statistic {ball.statistic} has a rule {rule['rule']}")
        for name in rule["numbers"]:
            number(rule["numbers"], name)
        within(rule["alphas"], ball.alpha, f"rule {rule['rule']}")
    covered = _covered(rules, top, len(counts))
    used = set()
    for rule, rivals in zip(rules, covered, strict=True):
        claimed = exact(rule["radius"], "the radius of a rule")
        _follows(rule, claimed / mp.mpf(sigma), _lead(rule, rivals, ball, counts, top))
        require(0 <= ball.radius <= claimed, f"a ball's radius exceeds that of its rule {rule['rule']}")
        if rule["rule"] in ("profile", "controlled"):
            used.add(f"line/{rivals[0]}")
        if rule["rule"] in ("first_order", "profile") and "shift" in rule["numbers"]:
            used.add(_check_shift(rule, ball, centre, box))
    require(ball.radius == min(rule["radius"] for rule in rules), "a ball's radius is not the least of its rules")
    require(used == set(ball.vectors), "there is a vector that no rule uses")


def _covered(rules: Sequence[Rule], top: int, classes: int) -> list[list[int]]:
    """The rivals of each rule; every class but the top one is covered exactly once."""
    named = [k for rule in rules for k in rule["rivals"] or ()]
    rest = [k for k in range(classes) if k != top and k not in named]
    open_ended = sum(rule["rivals"] is None for rule in rules)
    require(len(set(named)) == len(named), "a rival is covered by two rules")
    require(
        all(type(k) is int and 0 <= k < classes and k != top for k in named), "a rule names a class that is no rival"
    )
    require(open_ended <= 1, "two rules claim all other classes")
    require(open_ended == 1 or not rest, f"no rule covers class {rest[0] if rest else ''}")
    require(bool(rest) or open_ended == 0, "a rule covers nothing")
    return [rest if rule["rivals"] is None else list(rule["rivals"]) for rule in rules]


def _lead(rule: Rule, rivals: list[int], ball: Ball, counts: Sequence[int], top: int) -> Lead:
    name, everyone = rule["rule"], rule["rivals"] is None
    if name == "counts":
        return by_counts(rule, counts, top, rivals)
    if name == "joint":
        return joint(rule, counts, top, rivals)
    if name in ("profile", "controlled"):
        require(not everyone, f"rule {name}: it is for one rival")
        line, stored = _vector(ball, f"line/{rivals[0]}"), ball.evidence["profiles"].get(str(rivals[0]))
        if name == "controlled":
            return controlled(rule, counts, top, rivals, stored, line)
        eta = _vector(ball, f"eta/{rivals[0]}") if "shift" in rule["numbers"] else None
        return profile(rule, counts, top, rivals, stored, line, eta)
    alone = everyone and len(rivals) == len(counts) - 1
    if name == "first_order":
        require(alone or not everyone, "rule first_order: all others at once leaves no other rule")
        return first_order(rule, counts, top, None if everyone else rivals)
    require(alone, f"rule {name}: it is for all other classes")
    return binary(rule, counts, top) if name == "binary" else dipole(rule, counts, top, ball.evidence, ball.n)


def _follows(rule: Rule, t: Any, lead: Lead) -> None:
    """The lead is proved up to t, and not much beyond: numbers that prove more belong to another radius or sigma."""
    require(t >= 0, f"rule {rule['rule']}: its radius is below 0")
    require(t == 0 or lead(t) >= 0, f"rule {rule['rule']}: its numbers do not prove the radius {rule['radius']:.6f}")
    slack = _COVERED if rule["rule"] == "profile" else _SLACK
    beyond = lead(t * (1 + slack) + slack)
    require(beyond < 0, f"rule {rule['rule']}: its numbers prove more than {rule['radius']:.6f}, so sigma does not fit")


def _check_shift(rule: Rule, ball: Ball, centre: Point | None, box: Box | None) -> str:
    name = f"eta/{'others' if rule['rivals'] is None else rule['rivals'][0]}"
    eta = _vector(ball, name)
    if centre is None:
        raise Unknown(f"the faces that {name} rests on need the input itself, which is not at hand")
    check_eta(eta, centre, box, number(rule["numbers"], "shift"), name)
    return name


def _vector(ball: Ball, name: str) -> Point:
    if name not in ball.vectors:
        raise Unconfirmed(f"the evidence lacks the vector {name}")
    return ball.vectors[name].reshape(-1)
