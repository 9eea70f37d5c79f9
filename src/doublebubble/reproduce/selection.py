"""What keeping the largest of many noisy radii gains where there is nothing to gain: the formulas.

A look is n draws at one point, read by Goodman's bounds as published. Where the class probabilities are the same at
every look, radii of looks are independent and have one law, and the law of the largest of m is known.
Nothing here runs a model.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.special import ndtr as Phi
from scipy.special import ndtri as Phi_inv
from scipy.stats import binom, chi2, norm

from doublebubble.errors import SettingError
from doublebubble.streams import Stream
from doublebubble.types import Floats

_RARE = 5  # classes of fewer votes are merged, as published


def look_radii(votes: npt.ArrayLike, alpha: float, sigma: float) -> Floats:
    """The radius that each row of votes reports: (S3) at Goodman's bounds after merging, never below 0.

    The same numbers as `goodman` gives one row at a time. Votes need not be whole, so that the mean can be expanded.
    """
    rows = np.atleast_2d(np.asarray(votes, np.float64))
    rare = rows < _RARE
    merged = np.where(rare.any(1), np.maximum(_RARE, (rows * rare).sum(1)), 0.0)
    n = (rows * ~rare).sum(1) + merged
    c = chi2.isf(alpha / np.arange(1, rows.shape[1] + 2), 1)[(~rare).sum(1) + rare.any(1) - 1]  # by classes left
    top = rows.argmax(1)
    ahead = rows[np.arange(len(rows)), top]
    others = rows.copy()
    others[np.arange(len(rows)), top] = 0.0
    behind = np.maximum(np.where(rare, 0.0, others).max(1), merged)  # the upper bound rises with the votes
    lower = np.where(ahead < _RARE, 0.0, _goodman(ahead, n, c, -1))
    radii: Floats = sigma / 2 * (Phi_inv(lower) - Phi_inv(_goodman(behind, n, c, +1)))
    return np.maximum(radii, 0.0)


def _goodman(votes: Floats, n: Floats, c: Floats, side: int) -> Floats:
    """Goodman's lower (-1) or upper (+1) bound at c, the quantile of chi squared."""
    bound: Floats = (c + 2 * votes + side * np.sqrt(c * (c + 4 * votes * (n - votes) / n))) / (2 * (n + c))
    return np.clip(bound, 0.0, 1.0)


@dataclass(frozen=True)
class LookLaw:
    """The law of the radius of one look: its values, each once, in rising order, and the probability of each."""

    radii: Floats
    weights: Floats

    @property
    def mean(self) -> float:
        """The mean of one look."""
        return float(self.radii @ self.weights)

    def largest(self, m: int) -> float:
        """The mean of the largest of m looks: sum of r (F(r)^m - F(r-)^m)."""
        below = np.concatenate([[0.0], np.minimum(1.0, np.cumsum(self.weights))])
        return float(self.radii @ np.diff(below**m))

    def gain(self, m: int) -> float:
        """What the largest of m looks has over one of them, as a part of the latter."""
        return self.largest(m) / self.mean - 1

    def exceeds(self, truth: float, m: int) -> float:
        """The probability that the largest of m looks is above the truth."""
        return 1 - float(self.weights[self.radii <= truth].sum()) ** m


def two_class_law(p: float, n: int, alpha: float, sigma: float) -> LookLaw:
    """Exact: with two classes a look is one binomial count. A look that the other class leads reports nothing, 0."""
    votes = np.arange(n + 1)
    radii = np.where(2 * votes > n, look_radii(np.stack([votes, n - votes], 1), alpha, sigma), 0.0)
    return _law(radii, binom.pmf(votes, n, p))


def sampled_law(p: npt.ArrayLike, n: int, alpha: float, sigma: float, stream: Stream, looks: int = 20_000) -> LookLaw:
    """For any number of classes, from so many looks whose votes are drawn; the likeliest class is tested."""
    shares = np.asarray(p, np.float64)
    votes = stream.generator().multinomial(n, shares / shares.sum(), looks)
    right = votes.argmax(1) == int(shares.argmax())
    return _law(np.where(right, look_radii(votes, alpha, sigma), 0.0), np.full(looks, 1 / looks))


def _law(radii: Floats, weights: Floats) -> LookLaw:
    values, places = np.unique(radii, return_inverse=True)  # many looks report the same
    return LookLaw(values, np.bincount(places, weights).astype(np.float64))


def expected_maximum(m: int) -> float:
    """The mean of the largest of m independent standard normal numbers, about sqrt(2 ln m)."""
    if m < 1:
        raise SettingError(f"expected maximum: expected at least one number, got {m}")
    return float(quad(lambda z: z * m * norm.pdf(z) * Phi(z) ** (m - 1), -9.0, 9.0, limit=200)[0])


def first_order_gain(p: npt.ArrayLike, n: int, alpha: float, sigma: float, m: int) -> float:
    """The same gain in closed form, for many draws: e_m s / r, e_m the expected maximum of m normal numbers.

    r is the radius at the expected votes n p; s, its standard deviation, follows from its slopes there (the delta
    method) and the covariance n (diag(p) - p p') of the votes. So the gain falls like n^-1/2, and grows like
    sqrt(2 ln m).
    """
    shares = np.asarray(p, np.float64)
    h = 1e-4 * n
    moved = n * shares + h * np.concatenate([np.eye(len(shares)), -np.eye(len(shares))])
    up, down = np.split(look_radii(moved, alpha, sigma), 2)
    slopes = (up - down) / (2 * h)
    variance = n * (slopes**2 @ shares - (slopes @ shares) ** 2)
    return expected_maximum(m) * float(np.sqrt(variance)) / float(look_radii(n * shares, alpha, sigma)[0])
