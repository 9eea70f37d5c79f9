"""Why a plan is as it is: is the stored sentence one that its method can say, and does it agree with the evidence?

Every sentence of every method is written here a second time, as a pattern, with what of it can be checked. Imports
nothing of what it checks.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from doublebubble.audit.reverify.numbers import Unconfirmed, require
from doublebubble.certificate import Claim

Said = Mapping[str, str | None]
"""The parts of a sentence that differ from claim to claim, by name; None where one is left out."""
Check = Callable[[Said, Claim], None]

AT_INPUT = "all draws at the input"
"""How every reason begins whose plan is votes at the input alone; no other reason does."""
_NUMBER = r"(?:0|[1-9][0-9]*)"
_GROWS = rf"the radius grows by (?P<slope>-?{_NUMBER}\.[0-9]{{2}}) per unit distance"
_BLOCKS = rf"the box blocks a slope of (?P<slope>-?{_NUMBER}\.[0-9]{{2}})"
_PAIR = "a pair of balls along the free gradient was tried"
_AGREE = r", and fresh search draws agree \((?P<names>[a-z_, ]+)\)"
_NO_GAIN = ", but fresh search draws predict no gain"
_UNDECIDED = f"{AT_INPUT}: the select draws do not separate the leading class"
_STOPS = {
    "certified": "every radius asked for is certified",
    "given_up": "the radii that are not certified are out of reach, at level beta",
    "precise": "the radius can grow by no more than the precision asked for, at level beta",
    "cap": "the most draws allowed were made",
}


def check_reason(method: str, claim: Claim) -> None:
    """The whole of the reason is a sentence of this method, and says nothing that the evidence contradicts."""
    for words, checks in SENTENCES[method].items():
        found = re.fullmatch(words, claim.reason)
        if found is not None:
            for check in checks:
                check(found.groupdict(), claim)
            return
    raise Unconfirmed(f"the reason {claim.reason!r} is no sentence of method {method}")


def _agrees(said: object, stored: object, what: str) -> None:
    require(said == stored, f"the reason says {said!r} of {what}, the evidence {stored!r}")


def _slope(low: str, high: str) -> Check:
    """A slope, rounded to two decimals, on the side of the threshold that the rest of the sentence is about."""

    def check(said: Said, claim: Claim) -> None:
        fits = Decimal(low) <= Decimal(said["slope"] or "nan") <= Decimal(high)
        require(fits, f"the slope in the reason {claim.reason!r} is not between {low} and {high}")

    return check


def _draws(least: int, most: float) -> Check:
    """As many draws at the input as the sentence is about."""

    def check(_: Said, claim: Claim) -> None:
        n = claim.balls[0].n
        require(least <= n <= most, f"the reason {claim.reason!r} does not fit a ball of {n} draws")

    return check


def _names(said: Said, claim: Claim) -> None:
    """The statistics of the balls, in their order, each once."""
    _agrees(said["names"], ", ".join(dict.fromkeys(ball.statistic for ball in claim.balls)), "the statistics")


def _balls(number: int) -> Check:
    """As many balls as the sentence is about."""
    return lambda _, claim: _agrees(number, len(claim.balls), "the number of balls")


def _eta(said: Said, claim: Claim) -> None:
    """A part that the box blocks was taken off if and only if one is stored."""
    stored = any(name.startswith("eta/") for name in claim.balls[0].vectors)
    _agrees(said["blocked"] is not None, stored, "whether a part that the box blocks is taken off")


def _profiles(said: Said, claim: Claim) -> None:
    """As many rivals as have a profile, and a rule that uses it."""
    evidence = claim.balls[0].evidence
    rules = [rule for rule in evidence["rules"] if rule["rule"] in ("profile", "controlled")]
    for found in (len(rules), len(evidence["profiles"])):
        _agrees(said["rivals"], str(found), "the number of rivals with profiles")


def _sequence(said: Said, claim: Claim) -> None:
    """Since when there was a control variate, how many radii won, and why sampling stopped."""
    evidence: Mapping[str, Any] = claim.balls[0].evidence
    since = str(evidence["change"]["at"][0]) if "change" in evidence else None
    _agrees(said["since"], since, "the draw since which there is a control variate")
    won, asked = str(sum(times for *_, times in evidence["wins"])), str(len(evidence.get("radii", ())))
    counted = (None, None) if "precision" in evidence else (won, asked)
    _agrees((said["won"], said["asked"]), counted, "how many radii are certified, of how many")
    _agrees(said["stop"], _STOPS.get(evidence["stop"]), "why sampling stopped")


SENTENCES: dict[str, dict[str, tuple[Check, ...]]] = {
    "cohen": {
        AT_INPUT: (),
        r"votes at the input, looked at as they came: "
        rf"(?:with a control variate since draw (?P<since>{_NUMBER}); )?"
        rf"(?:(?P<won>{_NUMBER}) of (?P<asked>{_NUMBER}) radii certified; )?"
        rf"(?P<stop>{'|'.join(_STOPS.values())})": (_sequence,),
    },
    "single": {
        _UNDECIDED: (),
        f"{AT_INPUT}: {_GROWS}, and one ball in free space gains only above 1": (_slope("-Infinity", "1"),),
        f"{AT_INPUT}: {_GROWS}{_NO_GAIN}": (_slope("1", "Infinity"),),
        f"{_GROWS}{_AGREE}": (_slope("1", "Infinity"), _balls(1), _names),
    },
    "boundary": {
        _UNDECIDED: (),
        f"{AT_INPUT}: {_BLOCKS}, too little to gain": (_slope("0", "0.05"),),
        f"{AT_INPUT}: {_BLOCKS}{_NO_GAIN}": (_slope("0.05", "0.9"),),
        f"{_BLOCKS}{_AGREE}": (_slope("0.05", "0.9"), _balls(1), _names),
    },
    "double": {
        _UNDECIDED: (),
        f"{AT_INPUT}: no draw shows a free direction to put a pair of balls along": (),
        f"{AT_INPUT}: {_PAIR}{_NO_GAIN}": (),
        f"{_PAIR}{_AGREE}": (_balls(2), _names),
    },
    "dipole": {
        f"{AT_INPUT}: no pair in n": (_draws(1, 1),),
        f"{AT_INPUT}: pairs of opposite draws promise no gain": (_draws(2, float("inf")),),
        "pairs of opposite draws promise a gain": (),
    },
    "first_order": {
        f"{AT_INPUT}: too few draws to halve, or none for the class": (),
        f"{AT_INPUT}: a bound on the gradient would cost more alpha than it gains": (_draws(4, float("inf")),),
        "the gradient of the lead is expected to be small(?P<blocked>, with the part that the box blocks taken off)?": (
            _eta,
        ),
    },
    "profile": {
        f"{AT_INPUT}: looks of so few draws show nothing of a profile": (),
        f"{AT_INPUT}: too few draws against the class to show a profile": (),
        f"{AT_INPUT}: no draw shows a direction in which the lead falls": (),
        f"{AT_INPUT}: a profile is not expected to gain": (),
        rf"profiles along lines against (?P<rivals>{_NUMBER}) of the rivals": (_profiles,),
    },
}
"""What each method can say, as patterns, with what is checked of it."""
