"""`make bench`: every figure a ratio within this one run, printed as a table and saved beside it.

Timing noise changes from minute to minute, so rivals are timed in turns and the best round of each counts.
"""

import json
import platform
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import engines, first_order, geometry, lattice, memory, paper, peers, profiles, throughput
from benchmarks.rows import Row

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run all parts, print and save the table; exit 1 if a target is missed."""
    console = Console(width=118)
    rows: list[Row] = []
    for title, part in (
        ("peak memory", memory.run),
        ("draws per second", throughput.run),
        ("against adversarial-robustness-toolbox", peers.run),
        ("geometry", geometry.run),
        ("first-order certificates", first_order.run),
        ("profile certificates", profiles.run),
        ("noise on the grid", lattice.run),
        ("protocol paper", paper.run),
        ("engines", engines.run),
    ):
        console.print(f"  measuring {title} ...")
        rows += part()
    table = Table("what", "measured", "target", "met", title="doublebubble benchmarks")
    for row in rows:
        table.add_row(row.what, row.measured, row.target, {True: "yes", False: "NO", None: ""}[row.met])
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    versions = {"python": platform.python_version(), "torch": torch.__version__, "threads": torch.get_num_threads()}
    lines = ["| what | measured | target | met |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.measured} | {row.target} | {row.met} |" for row in rows]
    (RESULTS / "bench.md").write_text("\n".join(lines) + "\n")
    (RESULTS / "bench.json").write_text(
        json.dumps({"versions": versions, "rows": [vars(row) for row in rows]}, indent=1)
    )
    console.print(f"saved to benchmarks/{RESULTS.name}/bench.md and bench.json")
    return 0 if all(row.met in (True, None) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
