"""A slab of given mass around the origin: first order and pairs have closed forms there."""

import numpy as np
from scipy.stats import norm

import doublebubble as db
from doublebubble.audit.oracles import Slab


def slab(d: int, p: float, sigma: float = 0.5) -> db.SmoothedClassifier:
    w = np.zeros(d)
    w[0] = 1.0
    half = sigma * float(norm.ppf((1 + p) / 2))
    return db.SmoothedClassifier(Slab(w, -half, half), sigma, 2, domain=None, batch_size=1000)
