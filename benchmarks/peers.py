"""Whole certificates per second: the limit that bare forward passes set, ours, and two other ways of making them.

The same model, n, n0 and alpha for all. `plain loop` is how the scripts of 2019 do it: noise for a batch, argmax,
counts in numpy, one binomial bound; `toolbox` is adversarial-robustness-toolbox, at its default batch size of 32 and at
its best.
Ours runs the prepared program that `fastest_program` names, and the model as given beside it.
"""

import functools
import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.plain_loop import plain_loop
from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from benchmarks.throughput import bare_forward
from doublebubble import Certifier, CertifyConfig, Program, SmoothedClassifier
from doublebubble.measuring import fastest_program

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from art.estimators.certification.randomized_smoothing import PyTorchRandomizedSmoothing

N0, ALPHA, SIGMA = 100, 0.001, 0.5
SUBJECTS = (("resnet18", "cifar10", 2044, 5, 2, 0.95), ("cnn", "digits", 10_000, 5, 6, 0.92))
"""Architecture, data set, n, inputs, rounds, and the part of the limit that ours should reach.

As many draws as leave hardly more rows empty than a long run does: it certifies five inputs together at n = 10 000.
"""
DEFAULT, BATCHES = 32, (128, 512)


def run(quick: bool = False) -> list[Row]:
    """Ours over the limit, and over each of the others."""
    rows = []
    for arch, dataset, n, inputs, rounds, part in SUBJECTS:
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(64, *x.shape).clone())
        seconds = best_seconds(_rivals(model, x, program, n // 4 if quick else n, inputs), 1 if quick else rounds)
        rates = {name: inputs / taken for name, taken in seconds.items()}
        best = max((name for name in rates if name.startswith("toolbox")), key=rates.__getitem__)
        ours = rates["prepared"]
        made = {"certificates per second": ours}
        rows.append(
            Row(
                f"certificates over the limit of bare forward passes, {arch}",
                ours / rates["limit"],
                at_least=part,
                parts={**made, "at the limit": rates["limit"]},
                note=program.name,
            )
        )
        for name, other, least in (
            ("toolbox, default batch size", f"toolbox {DEFAULT}", 2.0),
            ("toolbox, best batch size", best, 1.3),
            ("plain loop", "plain loop", None),
        ):
            rows.append(
                Row(
                    f"certificates over those of the {name}, {arch}",
                    ours / rates[other],
                    at_least=least,
                    parts={
                        **made,
                        "of the other": rates[other],
                        "as given": rates["eager"],
                    },
                    note=other,
                )
            )
    return rows


def _rivals(model: nn.Module, x: Tensor, program: Program, n: int, inputs: int) -> dict[str, Callable[[], object]]:
    toolbox = PyTorchRandomizedSmoothing(
        model, nn.CrossEntropyLoss(), tuple(x.shape), 10, device_type="cpu", sample_size=N0, scale=SIGMA, alpha=ALPHA
    )
    many = np.stack([x.numpy()] * inputs)
    images = program.layout(x + SIGMA * torch.randn((inputs * (n + N0), *x.shape)))
    rivals: dict[str, Callable[[], object]] = {
        "limit": functools.partial(bare_forward, program.prepare(model), images, 256),
        "plain loop": lambda: [plain_loop(model, x, SIGMA, N0, n, ALPHA) for _ in range(inputs)],
    }
    for size in (DEFAULT, *BATCHES):
        rivals[f"toolbox {size}"] = functools.partial(toolbox.certify, many, n=n, batch_size=size)
    for label, made in (("eager", Program()), ("prepared", program)):
        smoothed = SmoothedClassifier(model, SIGMA, 10, program=made)
        certifier = Certifier(smoothed, CertifyConfig(n=n, n0=N0, alpha=ALPHA, methods=("cohen",)))
        rivals[label] = functools.partial(certifier.certify_many, [x] * inputs, range(inputs))
    return rivals
