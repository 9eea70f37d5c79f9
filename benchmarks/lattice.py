"""Exact noise on the grid: what it costs beside float32 noise, and whether 1e8 draws follow the law.

`python -m benchmarks.lattice` also counts draws beyond 6 sigma among 1e10, which takes a minute or two.
`python -m benchmarks.lattice --generator 0 1 2` does nothing but the two counts, from the streams of each of these
seeds.
"""

import argparse
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import subject
from doublebubble.measuring import fastest_program
from doublebubble.noise import Lattice, LatticeDraws, NoiseSource, noise_source
from doublebubble.program import Program
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from doublebubble.types import NOISES, NoiseName

SIGMA, BATCH = 0.5, 256
EIGHT_BIT = Lattice.around(Fraction(1, 255), (0.0, 1.0), SIGMA)
DRAWS, MANY = 10**8, 10**10


def run(quick: bool = False) -> list[Row]:
    """Rates of draws with and without a model, and the chi-square test."""
    rows = [_noise_row(1 if quick else 12)]
    for arch, dataset, draws, target, rounds in (
        ("resnet18", "cifar10", 512, 0.85, 4),
        ("cnn", "mnist", 4096, 0.6, 8),
        ("cnn", "digits", 16_384, 0.6, 8),
    ):
        model, x = subject(arch, dataset)
        program = fastest_program(model, x.expand(BATCH, *x.shape).clone())
        few = 1 if quick else rounds
        rows.append(_votes_row(f"{arch} on {dataset}'s shape", model, EIGHT_BIT.snap(x), program, draws, target, few))
    return [*rows, chi_square_row(draws=DRAWS // 100 if quick else DRAWS)]


def _noise_row(rounds: int) -> Row:
    x = torch.full((3, 32, 32), 51 / 255)
    batch, noise = torch.empty(BATCH, *x.shape), torch.empty(BATCH, *x.shape)
    sources = {name: _source(name, x) for name in NOISES}
    rivals: dict[str, Callable[[], object]] = {}
    for name, source in sources.items():
        rivals[name] = functools.partial(source.draw, batch, noise if name == "gaussian" else None)
    rivals["lattice with means"] = functools.partial(sources["lattice"].draw, batch, noise)
    rivals["lattice with remainders"] = functools.partial(
        sources["lattice"].draw, batch, None, torch.empty(batch.shape, dtype=torch.float64)
    )
    each = {name: 1e9 * best / batch.numel() for name, best in best_seconds(rivals, rounds).items()}
    parts = {f"ns {name}": best for name, best in each.items()}
    return Row("time of a noisy value on the lattice over gaussian", each["lattice"] / each["gaussian"], parts=parts)


def _source(name: NoiseName, x: Tensor) -> NoiseSource:
    lattice = EIGHT_BIT if name == "lattice" else None
    return noise_source(name, Stream(0, 0, "audit"), x, SIGMA, lattice)


def _votes_row(name: str, model: nn.Module, x: Tensor, program: Program, draws: int, target: float, rounds: int) -> Row:
    names: tuple[NoiseName, ...] = ("gaussian", "lattice")
    smoothed = {
        name: SmoothedClassifier(model, SIGMA, 10, batch_size=BATCH, program=program, noise=name) for name in names
    }
    for one in smoothed.values():  # tables are made and rows are tried out before the clock starts
        one.counts(x, 1, seed=0, index=0)
    rivals: dict[str, Callable[[], object]] = {
        name: functools.partial(one.counts, x, draws, seed=0, index=0) for name, one in smoothed.items()
    }
    seconds = best_seconds(rivals, rounds)
    return Row(
        f"votes with lattice over votes with gaussian, {name}",
        seconds["gaussian"] / seconds["lattice"],
        at_least=target,
        parts={f"votes per second, {name}": draws / best for name, best in seconds.items()},
        note=program.name,
    )


def chi_square_row(seed: int = 0, draws: int = DRAWS) -> Row:
    """The integers of many draws against the law of rounded normal noise, cell by cell."""
    law = EIGHT_BIT.law(SIGMA)
    tails = stats.norm.sf((np.arange(law.last) + 0.5) * float(law.width))
    side = np.append(tails[:-1] - tails[1:], tails[-1])
    expected = draws * np.concatenate([side[::-1], [1 - 2 * tails[0]], side])
    source, block = LatticeDraws(Stream(seed, 1, "audit"), law), np.empty(1 << 20, np.int32)
    counts = np.zeros(len(expected), np.int64)
    for first in range(0, draws, len(block)):
        values = block[: min(len(block), draws - first)]
        source.fill(values)
        counts += np.bincount(values + law.last, minlength=len(counts))
    ends = np.flatnonzero(expected >= 25)[[0, -1]]
    edges = [0, *range(int(ends[0]) + 1, int(ends[1]) + 1)]
    seen, likely = np.add.reduceat(counts, edges), np.add.reduceat(expected, edges)
    test = stats.chisquare(seen, likely * (draws / likely.sum()))
    parts = {"chi-square": float(test.statistic), "degrees of freedom": len(seen) - 1}
    return Row(f"p-value of the chi-square of {draws:.0e} draws", float(test.pvalue), at_least=1e-4, parts=parts)


def tail_row(seed: int = 0) -> Row:
    """Draws beyond 6 sigma among 1e10."""
    law = EIGHT_BIT.law(SIGMA)
    edge = round(6 / float(law.width))
    chance = 2 * float(stats.norm.sf((edge + 0.5) * float(law.width)))
    source, block = LatticeDraws(Stream(seed, 2, "audit"), law), np.empty(1 << 20, np.int32)
    blocks = MANY // len(block)
    seen = 0
    for _ in range(blocks):
        source.fill(block)
        seen += int(np.count_nonzero(block > edge) + np.count_nonzero(block < -edge))
    test = stats.binomtest(seen, blocks * len(block), chance)
    parts = {"seen": seen, "expected": chance * blocks * len(block)}
    what = f"p-value of draws beyond {(edge + 0.5) * float(law.width):.2f} sigma among {MANY:.0e}"
    return Row(what, float(test.pvalue), at_least=1e-4, parts=parts)


def _generator_rows(seeds: Sequence[int]) -> Iterator[Row]:
    for seed in seeds:
        yield from (replace(row, what=f"seed {seed}, {row.what}") for row in (chi_square_row(seed), tail_row(seed)))


def main() -> None:
    """All rows, or those of the generator for each of the seeds given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", type=int, nargs="+", metavar="SEED", help="only test the integers, by seed")
    seeds: list[int] | None = parser.parse_args().generator
    torch.set_num_threads(1)
    for row in (*run(), tail_row()) if seeds is None else _generator_rows(seeds):
        verdict = f" ({row.target}: {'met' if row.met else 'missed'})" if row.target else ""
        print(f"{row.what}: {row.measured}{verdict}", flush=True)


if __name__ == "__main__":
    main()
