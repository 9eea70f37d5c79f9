"""Profiles in closed form."""

import itertools

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from doublebubble.geometry.profile import GuessedProfile, checked_guess
from doublebubble.types import Floats


def blurred_profile(p: float, slope: float, gamma: float, edges: Floats, share: float = 1.0) -> GuessedProfile:
    """A boundary across the line, blurred to a part of a half-space's slope; the rival takes a share of what A loses.

    P(A | z) = Phi((h - slope z)/sqrt(1 - slope^2)), Phi(h) = p, averaged over each bin by quadrature.
    """
    h, blur = float(ndtri(p)), float(np.sqrt(1 - slope**2))
    ends = [-9.0, *edges.tolist(), 9.0]

    def density(z: float) -> float:
        return float(np.exp(-0.5 * z * z))

    f_a = [
        quad(lambda z: density(z) * float(ndtr((h - slope * z) / blur)), low, high)[0] / quad(density, low, high)[0]
        for low, high in itertools.pairwise(ends)
    ]
    return checked_guess(edges, f_a, share * (1 - np.array(f_a)), gamma)
