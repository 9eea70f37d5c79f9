"""Settings and a half-space for tests of protocol `paper`."""

import dataclasses

import torch
from torch import Tensor

from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.certificate import Certificate
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.protocols import paper
from doublebubble.smoothing import Input
from doublebubble.types import GradientKind, Method

ALL: tuple[Method, ...] = ("cohen", "single", "boundary", "double")
SHORT = PaperSearch(iterations=5, line_iterations=3)
KINDS: tuple[GradientKind, ...] = ("approximate", "full")


def settings(gradient: GradientKind = "approximate", n: int = 1000, **changes: object) -> CertifyConfig:
    values = {"protocol": "paper", "n": n, "methods": ALL, "gradient": gradient, **changes}
    return CertifyConfig.model_validate(values)


def half_space(domain: tuple[float, float] | None = None, sigma: float = 0.5) -> SmoothedClassifier:
    return SmoothedClassifier(HalfSpace([0.6, 0.8, 0.0], -0.7), sigma, 2, domain=domain, batch_size=500)


INSIDE = torch.tensor([0.7, 0.8, 0.3])  # class 1 of the half-space, 0.36 from its boundary


def certify(
    smoothed: SmoothedClassifier, config: CertifyConfig, x: Tensor, index: int, label: int | None
) -> Certificate:
    ((_, found),) = paper.decided(smoothed, config, [Input(index, x, label)])
    return found


def same(one: Certificate, other: Certificate) -> bool:
    """Whether two certificates agree in everything but the time they took."""
    left, right = (dataclasses.asdict(dataclasses.replace(c, seconds={})) for c in (one, other))
    return repr(left) == repr(right)
