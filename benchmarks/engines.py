"""What the engines cost and bring: `local` over bare calls of the certifier, and two ray workers over one.

All certify the same digits with the same small network on one torch thread a process. Start-up of a cluster is not
counted: the clock starts with the first outcome.
"""

import importlib.util
import tempfile
import time
from pathlib import Path

import torch

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble.config import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.engines.local import LocalEngine
from doublebubble.facade.job import Job, make_job
from doublebubble.runs.store import RunStore

ROUNDS = 3
OVERHEAD_LIMIT = 0.03
SPEEDUP_TARGET = 1.6


def run() -> list[Row]:
    """Both figures; the second only where ray is installed."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [_overhead()]
        if importlib.util.find_spec("ray") is not None:
            rows.append(_speedup())
    finally:
        torch.set_num_threads(threads)
    return rows


def _job(inputs: int, n: int) -> Job:
    model, _ = subject("cnn", "digits")
    data = load_dataset("digits", "test")
    return make_job(model, data, 0.5, CertifyConfig(n=n, n0=500), indices=f"0:{inputs}")


def _overhead() -> Row:
    """The time that grouping, records and the store add."""
    job = _job(inputs=20, n=10_000)
    certifier = job.recipe.build()
    chosen = [job.source.input(index) for index in job.spec.index_list]

    def bare() -> None:
        for given in chosen:
            certifier.certify(given.x, index=given.index, label=given.label)

    def engine() -> None:
        with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder), job.spec) as store:
            execute(LocalEngine(certifier), job.groups(store), store, lambda record: None)

    seconds = best_seconds({"bare": bare, "engine": engine}, ROUNDS)
    ratio = seconds["engine"] / seconds["bare"] - 1
    return Row(
        "engine local over bare certify calls, digits, n = 10 000",
        f"{ratio:+.1%}",
        f"under {OVERHEAD_LIMIT:.0%}",
        ratio < OVERHEAD_LIMIT,
    )


def _speedup() -> Row:
    """Inputs per second of two workers over those of one, each the best of its rounds."""
    job = _job(inputs=120, n=20_000)
    best = {1: 0.0, 2: 0.0}
    for _ in range(ROUNDS - 1):
        for workers in best:
            best[workers] = max(best[workers], _rate(job, workers))
    ratio = best[2] / best[1]
    return Row(
        "engine ray, two workers over one, digits, n = 20 000",
        f"{ratio:.2f} x",
        f"at least {SPEEDUP_TARGET} x",
        ratio >= SPEEDUP_TARGET,
    )


def _rate(job: Job, workers: int) -> float:
    from doublebubble.engines.ray import RayEngine

    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder), job.spec) as store:
        engine = RayEngine(job.recipe, job.spec.device, workers)
        execute(engine, job.groups(store), store, lambda record: times.append(time.perf_counter()))
    return (len(times) - 1) / (times[-1] - times[0])


if __name__ == "__main__":
    for row in run():
        print(f"{row.what}: {row.measured} ({row.target})")
