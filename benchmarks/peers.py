"""Certified inputs per second against adversarial-robustness-toolbox: same model, n, n0 and alpha.

Our side runs the prepared program that `fastest_program` names; the ratio with the model as given stands beside it.
"""

import functools
import warnings
from collections.abc import Callable

import numpy as np
from torch import nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble import Certifier, CertifyConfig, Program, SmoothedClassifier
from doublebubble.measuring import fastest_program

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
        prepared = fastest_program(model, x.expand(256, *x.shape).clone())
        for label, program in (("eager", Program()), ("prepared", prepared)):
            smoothed = SmoothedClassifier(model, SIGMA, 10, program=program)
            certifier = Certifier(smoothed, CertifyConfig(n=n, n0=N0, alpha=ALPHA))
            rivals[label] = functools.partial(certifier.certify_many, [x] * 4, range(4))
        seconds = best_seconds(rivals, rounds=8)
        best = min(seconds[f"peer {size}"] for size in (32, *BATCHES))
        for name, other, target in (("default", seconds["peer 32"], 1.5), ("best", best, 1.0)):
            ratio, eager = other / seconds["prepared"], other / seconds["eager"]
            rates = f"{4 / seconds['prepared']:.2f} over {4 / other:.2f} inputs per second"
            measured = f"{ratio:.2f} ({rates}, {prepared.name}; as given {eager:.2f})"
            met = ratio >= target if name == "default" else ratio > target
            what = f"certified inputs over the peer's, {name} batch size, {arch}"
            rows.append(Row(what, measured, "at least 1.5" if name == "default" else "above 1", met))
    return rows
