"""What the engines cost and bring: `local` over bare calls of the certifier, and two ray workers over one.

All certify the same digits with the same small network on one torch thread for each process. Workers are timed by the
wall clock, which on a machine that others use measures them too. Start-up of a cluster is not counted: the clock starts
with the first outcome.
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
SPEEDUP_TARGET = 1.8


def run(quick: bool = False) -> list[Row]:
    """Both figures; the second only where ray is installed."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [_overhead(*((4, 1000, 1) if quick else (20, 10_000, ROUNDS)))]
        if importlib.util.find_spec("ray") is not None:
            rows.append(_speedup(*((12, 2000, 1) if quick else (120, 20_000, ROUNDS - 1))))
    finally:
        torch.set_num_threads(threads)
    return rows


def _job(inputs: int, n: int) -> Job:
    model, _ = subject("cnn", "digits")
    data = load_dataset("digits", "test")
    return make_job(model, data, 0.5, CertifyConfig(n=n, n0=500), indices=f"0:{inputs}")


def _overhead(inputs: int, n: int, rounds: int) -> Row:
    """The time that grouping, records and the store add."""
    job = _job(inputs, n)
    certifier = job.recipe.build()
    chosen = [job.source.input(index) for index in job.spec.index_list]

    def bare() -> None:
        for given in chosen:
            certifier.certify(given.x, index=given.index, label=given.label)

    def engine() -> None:
        with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder), job.spec) as store:
            execute(LocalEngine(certifier), job.groups(store), store, lambda record: None)

    seconds = best_seconds({"bare": bare, "engine": engine}, rounds)
    return Row(
        f"engine local over bare certify calls, digits, n = {n:,}",
        seconds["engine"] / seconds["bare"],
        at_most=1 + OVERHEAD_LIMIT,
        parts={"s per input": seconds["engine"] / inputs},
    )


def _speedup(inputs: int, n: int, rounds: int) -> Row:
    """Inputs per second of two workers over those of one, each the best of its rounds."""
    job = _job(inputs, n)
    best = {1: 0.0, 2: 0.0}
    for _ in range(rounds):
        for workers in best:
            best[workers] = max(best[workers], _rate(job, workers))
    return Row(
        f"engine ray, two workers over one, digits, n = {n:,}",
        best[2] / best[1],
        at_least=SPEEDUP_TARGET,
        parts={"inputs per second with two": best[2], "with one": best[1]},
        note="wall time",
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
        print(f"{row.what}: {row.measured}; {row.target}")
