"""Points of every oracle at which certificates are put to the test, in free space and in a box."""

import math

import numpy as np

from doublebubble.audit.coverage import Case, at
from doublebubble.audit.oracles import BallClassifier, HalfSpace, Intervals1D, LinearClassifier, Slab
from doublebubble.audit.oracles.corridor import Corridor
from doublebubble.types import Floats, Method


def orthonormal(rows: int, dimension: int) -> Floats:
    """So many orthonormal rows, always the same."""
    columns: Floats = np.linalg.qr(np.random.default_rng(3).normal(size=(dimension, rows)))[0]
    return columns.T


def free_cases() -> list[Case]:
    """One clear point and one near the boundary of each oracle."""
    W = orthonormal(4, 6)
    w = np.ones(5) / math.sqrt(5)
    return [
        Case("half-space", HalfSpace(w, 0.1), at([0.05] * 5), 0.5),
        Case("half-space, close", HalfSpace(w, 0.0), at([0.01] * 5), 0.5),
        Case("linear, four classes", LinearClassifier(W, [0.4, 0.0, 0.1, 0.0]), at([0.1, 0, 0, 0, 0, 0]), 0.5),
        Case("linear, close", LinearClassifier(W, [0.02, 0.0, -1.0, -1.0]), at([0.0] * 6), 0.5),
        Case("slab", Slab(w, -0.5, 0.5), at([0.02] * 5), 0.4),
        Case("slab, close", Slab(w, -0.3, 0.3), at([0.0] * 5), 0.43),
        Case("ball", BallClassifier(np.zeros(4), 1.2), at([0.1, 0.1, 0.0, 0.0]), 0.4),
        Case("ball, outside", BallClassifier(np.zeros(4), 1.0), at([0.9, 0.3, 0.0, 0.0]), 0.4),
        Case("intervals", Intervals1D([(-1.0, 0.0), (0.4, 1.5)]), at([0.9]), 0.3),
        Case("intervals, close", Intervals1D([(-1.0, 0.0), (0.4, 1.5)]), at([0.35]), 0.3),
    ]


def boxed_cases() -> list[Case]:
    """The same kinds in the unit box, at faces and corners that block an attack."""
    w = np.ones(6) / math.sqrt(6)
    corner, face = at([0.0] * 6), at([0.0, 0.0, 0.0, 0.5, 0.5, 0.5])
    W = orthonormal(3, 6)
    return [
        Case("half-space at a corner", HalfSpace(w, 0.25), corner, 0.5, (0.0, 1.0)),
        Case("half-space at a face", HalfSpace(w, 0.3 - float(w @ face.numpy())), face, 0.5, (0.0, 1.0)),
        Case("linear at a face", LinearClassifier(W, [0.5, 0.0, 0.0]), face, 0.5, (0.0, 1.0)),
        Case("slab at a face", Slab(w, 0.2, 1.4), face, 0.4, (0.0, 1.0)),
        Case("ball in a box", BallClassifier(np.full(6, 0.4), 1.0), at([0.5] * 6), 0.3, (0.0, 1.0)),
        Case("intervals at the end", Intervals1D([(-1.0, 0.4), (0.8, 2.0)]), at([1.0]), 0.3, (0.0, 1.0)),
    ]


def tied_cases() -> list[Case]:
    """Points at which two classes are exactly as likely: every claim is a miss."""
    W = orthonormal(4, 6)
    return [
        Case("half-space, tied", HalfSpace(np.array([1.0, 0.0]), 0.0), at([0.0, 0.3]), 0.5),
        Case("linear, tied", LinearClassifier(W, [0.3, 0.3, 0.0, -0.4]), at([0.0] * 6), 0.5),
    ]


def tight_cases() -> dict[Method, Case]:
    """For each method a point where its bound, with exact probabilities, is the truth: misses come near alpha there.

    A half-space for votes alone; one whose normal the box blocks in part, for a ball moved off the face; slabs, off
    centre for the gradient and centred for pairs of opposite draws. `single` has no such point: where its bound is
    tight it gains nothing, and votes at the input stand in for it.
    """
    line = np.array([1.0])
    plain = Case("half-space", HalfSpace(line, 0.3), at([0.0]), 0.5)
    blocked = Case("half-space, blocked", HalfSpace(np.array([0.6, 0.8]), -0.1), at([0.0, 0.5]), 0.5, (0.0, 1.0))
    aside = Case("slab, off centre", Slab(line, -0.35, 0.6), at([0.0]), 0.5)
    return {
        "cohen": plain,
        "single": plain,
        "boundary": blocked,
        "double": blocked,
        "dipole": Case("slab, centred", Slab(line, -0.5, 0.5), at([0.0]), 0.5),
        "first_order": aside,
        "profile": aside,
    }


def corridor_case() -> Case:
    """Where a ball off the face gains by the box and by the small gradient there."""
    return Case("corridor", Corridor(6, 0.2, 0.5), at([0.0, 0.5, 0.5, 0.5, 0.5, 0.5]), 0.25, (0.0, 1.0))
