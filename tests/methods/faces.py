"""A half-space seen from a corner of the box: the gain that the box gives is known in closed form."""

import math

import numpy as np
import torch
from torch import Tensor

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.types import GradientKind, Method

D, BLOCKED, R, SIGMA = 16, 8, 0.4, 0.5
W = np.ones(D) / math.sqrt(D)
S = math.sqrt(BLOCKED / D)  # the slope that the box blocks
TRUTH = R / math.sqrt(1 - S * S)


def at_faces() -> Tensor:
    """Half of the coordinates at the lower face, where the gradient points inwards."""
    x = torch.full((D,), 0.5)
    x[:BLOCKED] = 0.0
    return x


def smoothed(domain: tuple[float, float] | None = (0.0, 1.0)) -> db.SmoothedClassifier:
    offset = R - float(W @ at_faces().double().numpy())
    return db.SmoothedClassifier(HalfSpace(W, offset), SIGMA, 2, domain, batch_size=1000)


def certify(n: int, methods: tuple[Method, ...], index: int = 0, gradient: GradientKind = "full") -> db.Certificate:
    config = db.CertifyConfig(n=n, methods=methods, gradient=gradient)
    return db.Certifier(smoothed(), config).certify(at_faces(), index=index)
