"""How many draws it takes to decide one radius for each input, against the least that counting votes allows.

    python -m benchmarks.sequential FILE [--radius 0.5] [--sigma 0.5] [--alpha 0.001] [--beta 0.05] [--cap 100000]

FILE has lines `o INDEX LOWER UPPER`; the middle of the bounds is taken as the probability of the class. The law of the
number of draws is computed exactly for each probability, so there is no seed and no timing noise. No draws are spent on
choosing the class (`open_levels`). The yardstick L is the sum over inputs of min(cap, ln(1/level)/KL(p, p0)), level
alpha where p > p0 and beta below.

Two constants were chosen with these totals in sight: the power by which the weights of the largest stakes fall (0.25,
0.5, 0.75 and 1 gave 1.108, 1.091, 1.083, 1.078 L at every draw, medians 49 to 59) and the growth of the looks. So no
half of the file is untouched; the halves, by even and odd place, show how much the total depends on a few hard inputs.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import ndtr as Phi

from doublebubble.bounds.ladder import looks
from doublebubble.bounds.leader import open_levels
from doublebubble.bounds.planning import StoppingLaw, least_draws, stopping_law
from doublebubble.bounds.sequences import Bet, informed_bet, miss_bet, reach, vote_bet
from doublebubble.types import Floats


def read_probabilities(file: Path) -> Floats:
    """The middles of the bounds, in the order of the file."""
    rows = [line.split() for line in file.read_text().splitlines() if line.startswith("o ")]
    return np.array([(float(low) + float(high)) / 2 for _, _, low, high in rows])


class Summary:
    """The number of draws over many inputs: the mean for each, the law of all together, the chance of each claim."""

    def __init__(self, ps: Floats, laws: list[tuple[StoppingLaw, Floats]], spent: int) -> None:
        """Each law comes with its chance for each p; `spent` draws come before it."""
        self.draws, self.certified = np.zeros(len(ps)), np.zeros(len(ps))
        self.law = np.zeros(1 + spent + max(int(law.draws.max()) for law, _ in laws))
        for law, shares in laws:
            together = np.zeros(len(law.draws))
            for i in np.flatnonzero(shares > 1e-15).tolist():
                weights = law.weights(float(ps[i])) * shares[i]
                self.draws[i] += float(weights @ (law.draws + spent))
                self.certified[i] += float(weights[law.certified].sum())
                together += weights
            self.law += np.bincount(law.draws + spent, together, len(self.law))

    @property
    def median(self) -> int:
        """The median over inputs of the draws of one run."""
        return int(np.searchsorted(np.cumsum(self.law), self.law.sum() / 2))


def row(name: str, ps: Floats, summary: Summary, least: Floats, p0: float) -> list[str]:
    """One line of the table."""
    total = summary.draws.sum() / least.sum()
    halves = [summary.draws[i::2].sum() / least[i::2].sum() for i in (0, 1)]
    above = ps > p0
    return [
        name,
        f"{total:.3f}",
        f"{halves[0]:.3f}, {halves[1]:.3f}",
        str(summary.median),
        f"{summary.draws.mean():.0f}",
        f"{summary.certified[above].sum():.1f} of {above.sum()}",
        f"{summary.certified[~above].max():.1e}",
    ]


def main() -> None:
    """Compute and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--radius", type=float, default=0.5)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--beta", type=float, default=0.05)
    parser.add_argument("--cap", type=int, default=100_000)
    asked = parser.parse_args()
    ps = read_probabilities(asked.file)
    t, alpha, beta, cap = asked.radius / asked.sigma, asked.alpha, asked.beta, asked.cap
    p0, least = float(Phi(t)), least_draws(ps, t, alpha, beta, cap)
    level = open_levels([asked.radius], asked.sigma, alpha)[0]
    claim = vote_bet(t, level, cap)
    strict, capped = miss_bet(t, beta, cap), miss_bet(reach(t, level, beta, cap), beta, cap)
    table = Table("rule", "total / L", "halves", "median", "mean", "certified", "worst wrong claim")
    table.title = f"{len(ps)} inputs, L = {least.sum():,.0f} draws, median of L {np.median(least):.0f}"
    certain = np.ones(len(ps))
    for name, refusal in (("p <= p0 at beta", strict), ("out of reach of the cap at beta", capped)):
        for when, at in (
            ("every draw", range(1, cap + 1)),
            ("looks, growth 0.02, batch 256", looks(cap, 256)),
            ("looks, growth 0.1, batch 256", looks(cap, 256, 0.1)),
        ):
            law = stopping_law(claim, refusal, p0, level, beta, at)
            table.add_row(*row(f"gives up if {name}; {when}", ps, Summary(ps, [(law, certain)], 0), least, p0))
    table.add_row(*row("16 select draws first, then the same", ps, with_select(ps, claim, capped, t, asked), least, p0))
    Console(width=150).print(table)


def with_select(ps: Floats, claim: Bet, refusal: Bet, t: float, asked: argparse.Namespace) -> Summary:
    """The class is chosen by 16 draws, which inform the stakes and count as draws but not as evidence."""
    laws, n0 = [], 16
    for k in range(n0 + 1):
        law = stopping_law(
            informed_bet(claim, (k, n0 - k)),
            informed_bet(refusal, (k, n0 - k)),
            float(Phi(t)),
            asked.alpha,
            asked.beta,
            looks(asked.cap),
        )
        shares = np.exp(
            math.log(math.comb(n0, k)) + k * np.log(ps.clip(1e-300)) + (n0 - k) * np.log1p(-ps.clip(0, 1 - 1e-16))
        )
        laws.append((law, shares))
    return Summary(ps, laws, n0)


if __name__ == "__main__":
    main()
