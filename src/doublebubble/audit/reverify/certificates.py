"""One certificate: does everything that it says follow from what it stores?"""

from dataclasses import dataclass
from enum import Enum
from math import prod

import numpy as np
from numpy.typing import NDArray

from doublebubble.audit.reverify.balls import SEQUENCE, check_ball
from doublebubble.audit.reverify.geometry import Box, Point, proved_square
from doublebubble.audit.reverify.noise import check_noise
from doublebubble.audit.reverify.numbers import Unconfirmed, Unknown, exact, mp, require, within
from doublebubble.audit.reverify.published import check_published
from doublebubble.audit.reverify.reasons import AT_INPUT, check_reason
from doublebubble.certificate import Certificate, Claim, Status
from doublebubble.config import checked_domain
from doublebubble.types import ABSTAIN, Guarantee

_BALLS = {"cohen": 1, "dipole": 1, "first_order": 1, "profile": 1, "single": 1, "boundary": 1, "double": 2}
_STATISTICS = {"cohen": {SEQUENCE}, "dipole": {"dipole"}, "first_order": {"first_order"}, "profile": {"profile"}}
_VOTES = {"binary", "multiclass"}
_FLOOR = mp.mpf("0.000001")


class Confirmation(Enum):
    """How a verification ended; the value is a word for tables."""

    CONFIRMED = "confirmed"
    PUBLISHED = "as published, no guarantee"
    UNKNOWN = "cannot be confirmed"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Verdict:
    """What became of one certificate: `sentence` says why, or what was shown."""

    index: int
    outcome: Confirmation
    sentence: str

    @property
    def confirmed(self) -> bool:
        """Whether all that the certificate claims follows from what it stores; one that claims nothing is."""
        return self.outcome in (Confirmation.CONFIRMED, Confirmation.PUBLISHED)


def reverify(
    certificate: Certificate, x: NDArray[np.floating] | None = None, domain: tuple[float, float] | None = None
) -> Verdict:
    """Compute every radius of the certificate again from what it stores, by code that shares nothing with what made it.

    `x` is the input as it was fed to the model; plans with further centres, and gradients that the box blocks, need it.
    `domain` is what the adversary is confined to. That the votes were cast as stored is taken on trust: only the model
    could tell.

    >>> import torch, doublebubble as db
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    >>> run = db.certify(model, torch.rand(1, 1, 2, 2), sigma=0.5, n=100, n0=10, methods="cohen", quiet=True)
    >>> db.reverify(run.certificates[0]).outcome.name
    'CONFIRMED'
    """
    domain = checked_domain(domain)
    try:
        point = None if x is None else _flat(x, certificate)
        if certificate.protocol == "paper":
            sentence = check_published(certificate, point, domain)
            return Verdict(certificate.index, Confirmation.PUBLISHED, sentence)
        _check(certificate, point, domain)
    except Unknown as why:
        return Verdict(certificate.index, Confirmation.UNKNOWN, str(why))
    except Unconfirmed as why:
        return Verdict(certificate.index, Confirmation.REFUTED, str(why))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        damage = f"the evidence is not as it should be ({type(error).__name__}: {error})"
        return Verdict(certificate.index, Confirmation.REFUTED, damage)
    shown = "claims nothing" if certificate.abstained else f"radius {certificate.radius:.6f} follows"
    return Verdict(certificate.index, Confirmation.CONFIRMED, shown)


def _flat(x: NDArray[np.floating], certificate: Certificate) -> Point:
    values = np.asarray(x, np.float64).reshape(-1)
    require(values.size == prod(certificate.shape), "the input has another shape than the certificate")
    return values


def _check(made: Certificate, x: Point | None, domain: tuple[float, float] | None) -> None:
    """Every step of the proof of section 2, for each method whose radius is stored."""
    require(made.protocol == "sound", f"there is no protocol {made.protocol}")
    require(made.guarantee is Guarantee.EXACT, f"protocol sound with guarantee {made.guarantee.value}")
    require(exact(made.sigma, "sigma") > 0, "sigma is not above 0")
    require(0 < exact(made.alpha, "alpha") < 1, "alpha is not between 0 and 1")
    require(len(made.balls) > 0, "there is no ball")
    _check_outcome(made)
    require(made.method not in made.beside, f"the method {made.method} is stored twice")
    unproved = sorted(set(made.radii) - set(made.claims))
    if unproved:
        raise Unknown(f"nothing is stored that proves the radius of {', '.join(unproved)}")
    _check_select(made)
    check_noise(made, x, domain)
    box = None if domain is None else Box.of(domain)
    losses = [made.noise.loss] if made.noise.loss else []
    for method, claim in made.claims.items():
        require(made.radii.get(method) == claim.radius, f"the radius is not that of the method {method}")
        _check_words(method, claim)
        within([*losses, *(ball.alpha for ball in claim.balls)], made.alpha, "the plan")
        for ball in claim.balls:
            centre = x if ball.centre is None else ball.centre.reshape(-1)
            check_ball(ball, made.sigma, centre, box, prod(made.shape))
        _check_counts(made, claim)
        _check_radius(method, claim, x, box, made.noise.grid)
        check_reason(method, claim)


def _check_outcome(made: Certificate) -> None:
    """Prediction and status agree with each other and with the balls."""
    tops = {ball.evidence.get("top") for claim in made.claims.values() for ball in claim.balls}
    require(len(tops) == 1, "the balls are for different classes")
    certified = made.status is Status.CERTIFIED
    require(certified == (made.radius > 0), f"status {made.status.name.lower()} with radius {made.radius}")
    named = tops if certified else {ABSTAIN}
    require(made.prediction in named, f"the prediction {made.prediction} is not the class of the balls")
    empty = all(ball.radius == 0 for ball in made.balls)
    without = Status.NOT_REACHED if made.balls[0].statistic == SEQUENCE else Status.NOT_SEPARATED
    fitting = Status.CERTIFIED if certified else without if empty else Status.NOT_COVERED
    require(made.status is fitting, f"status {made.status.name.lower()} does not fit the balls")


def _check_words(method: str, claim: Claim) -> None:
    """Method, beginning of the reason and multipliers fit the balls."""
    require(len(claim.multipliers) == len(claim.balls) > 0, "there are not as many multipliers as balls")
    if method not in _BALLS:
        raise Unknown(f"no verifier for method {method}")
    only = claim.balls[0]
    plain = len(claim.balls) == 1 and only.centre is None and only.statistic in _VOTES
    require(plain == claim.reason.startswith(AT_INPUT), f"the reason {claim.reason!r} does not fit the balls")
    if plain:
        return
    require(len(claim.balls) <= _BALLS[method], f"method {method} with {len(claim.balls)} balls")
    at_input = [ball.centre is None for ball in claim.balls]
    if method in _STATISTICS:
        require(all(at_input) and only.statistic in _STATISTICS[method], f"the ball is not of {method}")
    else:
        allowed = {*_VOTES, "first_order"}
        fits = not any(at_input) and all(ball.statistic in allowed for ball in claim.balls)
        require(fits, f"the balls are not of {method}")


def _check_select(made: Certificate) -> None:
    """The select draws chose the class; a sequence of votes has none, since it needs no choice."""
    selected = made.counts.get("select")
    if made.balls[0].statistic == SEQUENCE:
        none = selected is None and not made.draws.get("select") and not made.beside
        require(none, "a sequence of votes with select draws, or beside other methods")
        return
    require(selected is not None, "the votes of the select draws are missing")
    assert selected is not None
    top = made.balls[0].evidence["top"]
    require(int(selected[top]) == int(selected.max()), "the class is not the one that the select draws chose")
    require(int(selected.sum()) == made.draws.get("select"), "the select draws are not as many as their votes")


def _check_counts(made: Certificate, claim: Claim) -> None:
    """Draws at the input are the same wherever they are stored."""
    require(
        sum(ball.n for ball in claim.balls) <= made.draws.get("certify", 0), "the balls have more draws than were made"
    )
    for ball in claim.balls:
        if ball.centre is None and ball.statistic != "dipole":
            same = "input" in made.counts and np.array_equal(made.counts["input"], ball.counts)
            require(same, "the votes at the input are stored twice and differ")


def _check_radius(method: str, claim: Claim, x: Point | None, box: Box | None, grid: int | None) -> None:
    """(D1) and (D6) at the stored multipliers: the radius is proved, and is not far below what is proved."""
    claimed = exact(claim.radius, "the radius")
    if all(ball.centre is None for ball in claim.balls):
        require(not claim.whole_domain, "balls at the input alone with the whole domain claimed")
        proved = mp.mpf(max(ball.radius for ball in claim.balls))
    else:
        if x is None:
            raise Unknown("the plan has further centres, and the input itself is not at hand")
        require(box is not None or not claim.whole_domain, "the whole of a domain without end is claimed")
        centres = [x if ball.centre is None else ball.centre.reshape(-1) for ball in claim.balls]
        radii = [ball.radius for ball in claim.balls]
        square, farthest = proved_square(x, centres, radii, claim.multipliers, box, grid)
        if method == "single":  # its claim does not use the box, so its multipliers are for free space
            square = proved_square(x, centres, radii, claim.multipliers, None, grid)[0]
        if claim.whole_domain:
            require(square > farthest, "the balls do not cover the whole domain")
            square = farthest
        proved = mp.sqrt(max(square, mp.mpf(0)))
    require(claimed <= proved, f"the radius {claim.radius:.6f} exceeds the {float(proved):.6f} that the balls prove")
    near = claimed >= proved * (1 - _FLOOR) - 2 * _FLOOR
    require(near, f"the balls prove {float(proved):.6f}, so the radius {claim.radius:.6f} is not theirs")
