"""Certified inputs per second against adversarial-robustness-toolbox: same model, n, n0 and alpha."""

import functools
import warnings
from collections.abc import Callable

import numpy as np
from torch import nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from art.estimators.certification.randomized_smoothing import PyTorchRandomizedSmoothing

N0, ALPHA, SIGMA = 100, 0.001, 0.5
BATCHES = (128, 512, 1024)


def run() -> list[Row]:
    """Ratios at the peer's default batch size of 32 and at its best one."""
    rows = []
    for arch, dataset, n in (("resnet18", "cifar10", 1000), ("cnn", "digits", 10_000)):
        model, x = subject(arch, dataset)
        peer = PyTorchRandomizedSmoothing(
            model,
            nn.CrossEntropyLoss(),
            tuple(x.shape),
            10,
            device_type="cpu",
            sample_size=N0,
            scale=SIGMA,
            alpha=ALPHA,
        )
        inputs = np.stack([x.numpy()] * 4)
        rivals: dict[str, Callable[[], object]] = {
            f"peer {size}": functools.partial(peer.certify, inputs, n=n, batch_size=size) for size in (32, *BATCHES)
        }
        certifier = Certifier(SmoothedClassifier(model, SIGMA, 10), CertifyConfig(n=n, n0=N0, alpha=ALPHA))
        rivals["ours"] = functools.partial(certifier.certify_many, [x] * 4, range(4))
        seconds = best_seconds(rivals, rounds=4)
        best = min(seconds[f"peer {size}"] for size in (32, *BATCHES))
        for name, other, target in (("default", seconds["peer 32"], 1.5), ("best", best, 1.0)):
            ratio = other / seconds["ours"]
            measured = f"{ratio:.2f} ({4 / seconds['ours']:.2f} over {4 / other:.2f} inputs a second)"
            met = ratio >= target if name == "default" else ratio > target
            what = f"certified inputs over the peer's, {name} batch size, {arch}"
            rows.append(Row(what, measured, "at least 1.5" if name == "default" else "above 1", met))
    return rows
