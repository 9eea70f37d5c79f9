"""Protocol `paper` against Cohen's time, in its published and its thrifty form, on the demo's network at N = 1000.

One thread, and its CPU time, so that what else the machine does counts little. Cohen is timed anew beside every single
search, so that each ratio is of two times that were taken within the same seconds. None of the radii is a guarantee.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from benchmarks.rows import Row
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier
from doublebubble.certificate import Certificate, Status
from doublebubble.cli.progress_bars import training_progress
from doublebubble.config import PaperSearch
from doublebubble.data import load_dataset
from doublebubble.models import load_model
from doublebubble.smoothing import Input
from doublebubble.terminal import Terminal
from doublebubble.training import preset, train
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

    def config(self) -> CertifyConfig:
        """The settings of this case."""
        search = PaperSearch.thrifty() if self.thrifty else PaperSearch()
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

    @property
    def ratio(self) -> float:
        """The median over rounds of its time over Cohen's."""
        return statistics.median(mine / cohen for mine, cohen in zip(self.seconds, self.cohen, strict=True))

    @property
    def mean_radius(self) -> float:
        """Of the inputs whose class is right: the others are left before any search."""
        return statistics.fmean(made.radius for made in self.certificates if made.status is not Status.WRONG_CLASS)


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
    return found


def rows_of(found: dict[Case, Timed]) -> list[Row]:
    """Times over Cohen's, and the thrifty form's mean radii over the published form's."""
    rows = []
    for case, timed in found.items():
        ratio, most = timed.ratio, case.most
        target, met = ("", None) if most is None else (f"at most {most:g}", ratio <= most)
        rows.append(Row(f"paper, no guarantee: time over Cohen's, {case.name}", f"{ratio:.1f}", target, met, ratio))
    for case, timed in found.items():
        published = Case(case.method, case.gradient, False, None)
        twin = next((one for one in found if not one.thrifty and one.name == published.name), None)
        if case.thrifty and twin is not None:
            part = timed.mean_radius / found[twin].mean_radius
            what = f"paper, no guarantee: thrifty mean radius over published, {case.method}, {case.gradient}"
            rows.append(Row(what, f"{part:.3f}", f"at least {KEPT:g}", part >= KEPT, part))
    return rows


def run(model: nn.Module | None = None, count: int = 20, rounds: int = 3) -> list[Row]:
    """The rows for the demo's network, trained here unless it is given, on every so many of the test digits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        network = _trained() if model is None else model
        data = load_dataset("digits", "test")
        chosen = list(range(0, len(data.labels), max(1, len(data.labels) // count)))[:count]
        pixels = data.inputs()
        inputs = [Input(index, pixels[index], int(data.labels[index])) for index in chosen]
        return rows_of(measure(network, inputs, rounds))
    finally:
        torch.set_num_threads(threads)


def _trained() -> nn.Module:
    with tempfile.TemporaryDirectory() as folder:
        settings = preset("digits", "gaussian", SIGMA)
        with training_progress(Terminal(), settings.epochs) as observer:
            train(settings, load_dataset("digits", "train"), Path(folder) / "model", observer)
        return load_model(Path(folder) / "model")[0].eval()


def main() -> None:
    """Measure, print the table, and save it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="folder of the demo's model (default: train it)")
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="JSON file for the rows")
    asked = parser.parse_args()
    model = None if asked.model is None else load_model(asked.model)[0].eval()
    rows = run(model, asked.inputs, asked.rounds)
    table = Table("what", "measured", "target", "met")
    for row in rows:
        table.add_row(row.what, row.measured, row.target, {True: "yes", False: "NO", None: ""}[row.met])
    Console(width=118).print(table)
    if asked.out is not None:
        asked.out.write_text(json.dumps([vars(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
