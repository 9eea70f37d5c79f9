"""Runs made up for tests of the page: right, wrong, abstained and failed inputs, several sigma, both protocols."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from doublebubble.certificate import Certificate, Status
from doublebubble.config import CertifyConfig
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.types import ABSTAIN, Guarantee
from tests.runs.samples import certificate, spec

NASTY = "<script>window.hacked=1</script>"
CLASSES = ("aeroplane & <b>bird</b>", NASTY, "\u2028cat\u2029")
SIZE = 40
METHODS = ("cohen", "single", "boundary", "double", "dipole", "first_order")


def sound(index: int, sigma: float) -> Certificate | Record:
    """An input whose outcome is drawn from its number and sigma; some radii are equal, one is 0 by one method."""
    rng = np.random.default_rng([index, round(100 * sigma)])
    label = index % 3
    if index == 7:
        return Record.failed(index, label, f"input 7: {NASTY}")
    outcome = rng.choice(["right", "wrong", "none"], p=[0.7, 0.15, 0.15])
    radius = round(float(rng.integers(1, 12) * sigma / 5 + 1e-6 * rng.integers(0, 3)), 6)
    prediction = {"right": label, "wrong": (label + 1) % 3, "none": ABSTAIN}[str(outcome)]
    counts = rng.permutation(np.array([3, 900 - index, 97 + index], np.int64))
    made = certificate(index, 0.0 if outcome == "none" else radius, prediction, label, centres=index % 2)
    cohen = 0.0 if index % 10 == 0 else round(made.radius * 0.75, 6)
    return replace(
        made,
        radii={"cohen": cohen, "double": made.radius},
        method="double",
        reason="a gain was predicted" if index % 2 else "no gain was predicted",
        counts={"select": counts[::-1], "input": counts},
    )


def published(index: int, sigma: float) -> Certificate:
    """The same kind of outcome under protocol paper."""
    made = sound(index + 300, sigma)
    assert isinstance(made, Certificate)
    status = Status.CERTIFIED if made.prediction >= 0 else Status.NOT_SEPARATED
    return replace(
        made,
        index=index,
        protocol="paper",
        guarantee=Guarantee.NONE,
        alpha=0.05,
        status=status,
        counts={"select": made.counts["select"]},
    )


def stored(path: Path, sigma: float = 0.5, inputs: Sequence[int] = range(SIZE)) -> StoredRun:
    """A run of the sound protocol; the last of its 40 inputs is missing if `inputs` leaves it out."""
    config = CertifyConfig(n=1000, n0=10, methods=("cohen", "double"))
    with RunStore(path, spec(f"0:{SIZE}", sigma=sigma, config=config)) as store:
        for index in inputs:
            store.append(sound(index, sigma))
    return read_run(path)


def stored_paper(path: Path, sigma: float = 0.5, inputs: Sequence[int] = range(12)) -> StoredRun:
    """A run of protocol paper over 12 inputs, of which those in `inputs` are finished."""
    config = CertifyConfig(n=100, n0=10, protocol="paper", methods=("cohen", "double"))
    with RunStore(path, spec("0:12", sigma=sigma, config=config)) as store:
        for index in inputs:
            store.append(published(index, sigma))
    return read_run(path)


def large(path: Path, sigma: float, size: int = 10_000) -> StoredRun:
    """A run of many inputs by six methods; nothing of it is on disk but what a test puts into its folder."""
    one = stored(path, inputs=range(1)).records[0]
    rng = np.random.default_rng(round(100 * sigma))
    lengths = rng.permutation(1_500_000)[: 6 * size].reshape(size, 6) / 1e6
    same = {"label": 1, "prediction": 1, "status": "certified", "counts": {"input": {0: 1234, 1: 5678, 2: 3088}}}
    records = tuple(
        one.model_copy(update={**same, "index": i, "radius": r[0], "radii": dict(zip(METHODS, r, strict=True))})
        for i, r in enumerate(lengths.tolist())
    )
    config = CertifyConfig(n=1000, n0=10, methods=METHODS)
    return StoredRun(path, spec(f"0:{size}", size=size, sigma=sigma, config=config), records, torn=False)
