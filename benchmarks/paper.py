"""Protocol `paper` against Cohen's time, in its published and its thrifty form, on the demo's network at N = 1000.

One thread, and its CPU time, so that what else the machine does counts little. Cohen is timed anew beside every single
search, so that each ratio is of two times that were taken within the same seconds. None of the radii is a guarantee.

The published form reports the best of many looks by the draws that chose it, so its mean radius is too large. The
thrifty form measures what it found once more. Beside its mean radius over the published one stands that over the
published search with the same confirmation: what the search itself lost by being thrifty.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.console import Console
from torch import nn

from benchmarks.rows import Row
from benchmarks.run import table
from benchmarks.subjects import demo_network, some_digits
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier
from doublebubble.certificate import Certificate, Status
from doublebubble.config import PaperSearch
from doublebubble.models import load_model
from doublebubble.smoothing import Input
from doublebubble.types import GradientKind, Method

SIGMA, N = 0.5, 1000
KEPT = 0.98  # of the published form's mean radius, at least


@dataclass(frozen=True)
class Case:
    """A method by one gradient in one form, and at most how many times Cohen's time it may take."""

    method: Method
    gradient: GradientKind
    thrifty: bool
    most: float | None

    @property
    def name(self) -> str:
        """As the table has it."""
        return f"{self.method}, {self.gradient}, {'thrifty' if self.thrifty else 'published'}"

    def config(self, confirmed: bool = False) -> CertifyConfig:
        """The settings of this case; `confirmed` has the published search confirm its find as the thrifty one does."""
        search = PaperSearch.thrifty() if self.thrifty else PaperSearch(draws=N if confirmed else None)
        return CertifyConfig(protocol="paper", n=N, methods=(self.method,), gradient=self.gradient, paper=search)


CASES = (
    Case("single", "approximate", False, 10),
    Case("double", "approximate", False, 40),
    Case("single", "full", False, 18),
    Case("double", "full", False, 45),
    Case("single", "approximate", True, 6),
    Case("double", "approximate", True, None),
    Case("single", "full", True, 14),
    Case("double", "full", True, 20),
)


@dataclass
class Timed:
    """What one case took, round by round, beside Cohen's time in the same seconds; and its certificates."""

    seconds: list[float] = field(default_factory=list)
    cohen: list[float] = field(default_factory=list)
    certificates: list[Certificate] = field(default_factory=list)
    confirmed: list[Certificate] = field(default_factory=list)
    """Those of the published search whose find is measured once more; none for a thrifty case."""

    @property
    def ratio(self) -> float:
        """The median over rounds of its time over Cohen's."""
        return statistics.median(mine / cohen for mine, cohen in zip(self.seconds, self.cohen, strict=True))

    @property
    def mean_radius(self) -> float:
        """Of the inputs whose class is right: the others are left before any search."""
        return mean_radius(self.certificates)


def mean_radius(certificates: Sequence[Certificate]) -> float:
    """The mean over inputs whose class is right."""
    return statistics.fmean(made.radius for made in certificates if made.status is not Status.WRONG_CLASS)


def measure(model: nn.Module, inputs: Sequence[Input], rounds: int, cases: Sequence[Case] = CASES) -> dict[Case, Timed]:
    """Every case on every input in turns, Cohen before each of them."""
    smoothed = SmoothedClassifier(model, SIGMA, 10)
    cohen = Certifier(smoothed, Case("cohen", "approximate", False, None).config())
    certifiers = {case: Certifier(smoothed, case.config()) for case in cases}
    found = {case: Timed() for case in cases}
    for certifier in (cohen, *certifiers.values()):
        certifier.certify_inputs(inputs[:1])
    for _ in range(rounds):
        for timed in found.values():
            timed.seconds.append(0.0)
            timed.cohen.append(0.0)
            timed.certificates.clear()
        for given in inputs:
            for case, timed in found.items():
                start = time.process_time()
                cohen.certify_inputs([given])
                between = time.process_time()
                timed.certificates += certifiers[case].certify_inputs([given])
                timed.seconds[-1] += time.process_time() - between
                timed.cohen[-1] += between - start
    for case, timed in found.items():
        if not case.thrifty:
            timed.confirmed += Certifier(smoothed, case.config(confirmed=True)).certify_inputs(inputs)
    return found


def rows_of(found: dict[Case, Timed]) -> list[Row]:
    """Times over Cohen's, and the thrifty form's mean radii over the published form's."""
    rows = []
    for case, timed in found.items():
        parts = {"ms for an input of Cohen's": 1000 * min(timed.cohen) / max(1, len(timed.certificates))}
        what = f"paper, no guarantee: time over Cohen's, {case.name}"
        rows.append(Row(what, timed.ratio, at_most=case.most, parts=parts))
    for case, timed in found.items():
        published = Case(case.method, case.gradient, False, None)
        twin = next((one for one in found if not one.thrifty and one.name == published.name), None)
        if case.thrifty and twin is not None:
            which = f"{case.method}, {case.gradient}"
            part = timed.mean_radius / found[twin].mean_radius
            what = f"paper, no guarantee: thrifty mean radius over published, {which}"
            rows.append(Row(what, part, at_least=KEPT))
            if found[twin].confirmed:
                part = timed.mean_radius / mean_radius(found[twin].confirmed)
                what = f"paper, no guarantee: thrifty mean radius over published and confirmed, {which}"
                rows.append(Row(what, part))
    return rows


def run(quick: bool = False) -> list[Row]:
    """The rows for the demo's network, trained here."""
    return rows_of(measure(demo_network(SIGMA), some_digits(2 if quick else 20), 1 if quick else 3))


def main() -> None:
    """Measure, print the table, and save it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="folder of the demo's model (default: train it)")
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="JSON file for the rows")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = demo_network(SIGMA) if asked.model is None else load_model(asked.model)[0].eval()
    rows = rows_of(measure(model, some_digits(asked.inputs), asked.rounds))
    Console(width=150).print(table(rows))
    if asked.out is not None:
        asked.out.write_text(json.dumps([row.content() for row in rows], indent=1))


if __name__ == "__main__":
    main()
