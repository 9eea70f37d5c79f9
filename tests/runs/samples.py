"""Certificates and specifications made up for tests."""

from typing import Any

import numpy as np

from doublebubble.certificate import Ball, Certificate, Status
from doublebubble.config import CertifyConfig
from doublebubble.runs.spec import RunSpec
from doublebubble.types import ABSTAIN, Guarantee


def spec(indices: str = "0:20", **changes: Any) -> RunSpec:
    values: dict[str, Any] = {
        "model_digest": "ab" * 32,
        "dataset": "digits",
        "split": "test",
        "data_digest": "cd" * 32,
        "size": 100,
        "indices": indices,
        "sigma": 0.5,
        "num_classes": 3,
        "shape": (1, 2, 2),
        "domain": (0.0, 1.0),
        "batch_size": 4,
        "program": "eager",
        "device": "cpu",
        "config": CertifyConfig(n=100, n0=10),
        "versions": {"torch": "2"},
    }
    return RunSpec(**{**values, **changes})


def certificate(
    index: int = 0,
    radius: float = 0.4,
    prediction: int = 1,
    label: int | None = 1,
    centres: int = 0,
    seconds: float = 0.5,
) -> Certificate:
    counts = np.array([3, 90, 7], np.int64)
    rng = np.random.default_rng(index)
    others = tuple(
        Ball(rng.random((1, 2, 2)).astype(np.float32).astype(np.float64), 0.7, 50, 5e-4, counts, "multiclass")
        for _ in range(centres)
    )
    at_input = Ball(None, radius, 100, 1e-3, counts, "binary", {"top": 1})
    return Certificate(
        index=index,
        label=label,
        prediction=prediction,
        status=Status.NOT_SEPARATED if prediction == ABSTAIN else Status.CERTIFIED,
        radius=radius,
        radii={"cohen": radius, "double": radius / 3},
        method="cohen",
        reason="no gain was predicted",
        protocol="sound",
        guarantee=Guarantee.EXACT,
        alpha=1e-3,
        sigma=0.5,
        shape=(1, 2, 2),
        program="eager",
        balls=(at_input, *others),
        multipliers=(1.0,) * (1 + centres),
        whole_domain=False,
        counts={"select": counts, "certify": counts},
        draws={"select": 10, "certify": 100},
        forward_equivalents={"select": 12, "certify": 100},
        seconds={"select": seconds, "certify": 2 * seconds},
    )
