"""A certificate of protocol `paper`: are its numbers what the published procedure gives? None is a guarantee."""

from collections.abc import Sequence
from typing import Any

from doublebubble.audit.reverify.geometry import Point, distance, printed_boundary
from doublebubble.audit.reverify.numbers import Unknown, mp, quantile, require
from doublebubble.certificate import Ball, Certificate, Noise, Status
from doublebubble.types import ABSTAIN, Guarantee

_RARE = 5
_NEAR = mp.mpf("0.000002")


def check_published(made: Certificate, x: Point | None, domain: tuple[float, float] | None) -> str:
    """Confirm that the numbers are as published, and return the sentence that says so."""
    require(made.noise == Noise(made.noise.name) != Noise("lattice"), "protocol paper with exact noise or a loss")
    require(made.guarantee is Guarantee.NONE, f"protocol paper with guarantee {made.guarantee.value}")
    require(made.radius == max(made.radii.values()), "the radius is not the largest of the radii")
    require(made.radii.get(made.method) == made.radius, f"the radius is not that of the method {made.method}")
    certified = made.status is Status.CERTIFIED
    require(certified == (made.radius > 0), f"status {made.status.name.lower()} with radius {made.radius}")
    top = made.balls[0].evidence["top"]
    named = ABSTAIN if made.status is Status.NOT_SEPARATED else top
    require(made.prediction == named, "the prediction is not the class of the balls")
    wrong = made.status is Status.WRONG_CLASS
    require(wrong == (made.label is not None and made.label != top), "the status does not fit the label")
    for ball in made.balls:
        _check_ball(ball, made.sigma, top, made.alpha)
    if not wrong:
        _check_radii(made, x, domain)
    return "computed again as published; it carries no guarantee at any level"


def _check_ball(ball: Ball, sigma: float, top: int, alpha: float) -> None:
    """(S3) with Goodman's intervals (B4), rare classes merged (B5)."""
    counts = [int(count) for count in ball.counts]
    require(ball.statistic == "goodman", f"protocol paper with statistic {ball.statistic}")
    require(sum(counts) == ball.n and ball.alpha == alpha, "the votes do not sum to n, or alpha differs")
    require(ball.evidence["top"] == top, "the balls are for different classes")
    lower, upper = _goodman(counts, top, mp.mpf(alpha))
    signed = mp.mpf(sigma) / 2 * (quantile(lower) - quantile(upper))
    require(
        abs(max(signed, mp.mpf(0)) - mp.mpf(ball.radius)) <= _NEAR,
        f"the votes give {float(signed):.6f}, not {ball.radius}",
    )


def _goodman(counts: Sequence[int], top: int, alpha: Any) -> tuple[Any, Any]:
    """The lower end for the class and the largest upper end among the others."""
    rare = [count for count in counts if count < _RARE]
    kept = [count for count in counts if count >= _RARE] + ([max(_RARE, sum(rare))] if rare else [])
    n, c = mp.mpf(sum(kept)), quantile(1 - alpha / (2 * len(kept))) ** 2

    def end(count: int, sign: int) -> Any:
        return (c + 2 * count + sign * mp.sqrt(c * (c + 4 * count * (n - count) / n))) / (2 * (c + n))

    lower = mp.mpf(0) if counts[top] < _RARE else end(counts[top], -1)
    merged = [kept[-1]] if rare and any(count < _RARE for k, count in enumerate(counts) if k != top) else []
    others = [count for k, count in enumerate(counts) if k != top and count >= _RARE] + merged
    return lower, max(end(count, 1) for count in others)


def _check_radii(made: Certificate, x: Point | None, domain: tuple[float, float] | None) -> None:
    """Each method's printed formula, from the balls."""
    first, *further = made.balls
    found = {"cohen": mp.mpf(first.radius)}
    found["single"] = found["boundary"] = found["double"] = found["cohen"]
    if further:
        if x is None:
            raise Unknown("the plan has further centres, and the input itself is not at hand")
        points = [ball.centre.reshape(-1) for ball in further if ball.centre is not None]
        require(len(points) == len(further), "a further ball stands at the input")
        radii, away = [mp.mpf(ball.radius) for ball in further], [distance(x, point) for point in points]
        single = max(found["cohen"], radii[0] - away[0])  # (D2)
        found["single"] = found["boundary"] = found["double"] = single
        if domain is not None:
            found["boundary"] = max(single, printed_boundary(x, points[0], radii[0], domain))
        if len(further) > 1:
            (r2, r3), (d2, d3) = radii, away
            square = (d2 * (r3**2 - d3**2) + d3 * (r2**2 - d2**2)) / (d2 + d3)  # (D3)
            found["double"] = max(single, mp.sqrt(max(square, mp.mpf(0))))
    for method, radius in made.radii.items():
        if method not in found:
            raise Unknown(f"no verifier for method {method}")
        near = abs(mp.mpf(radius) - found[method]) <= _NEAR
        require(near, f"{method} gives {float(found[method]):.6f}, not {radius}")
