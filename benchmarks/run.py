"""`make bench`: every figure a ratio within this one run, printed as a table and saved beside it.

    python -m benchmarks.run [--only throughput,methods] [--quick] [--out FOLDER]

One thread and CPU time, rivals in turns, the best round of each; what else the machine does then counts little.
`--quick` takes few draws and rounds: it shows that all parts run, and figures that are not to be quoted.
"""

import argparse
import importlib
import json
import platform
import sys
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.rows import Row
from doublebubble.freed_memory import keep_freed_memory

RESULTS = Path(__file__).parent / "results"
PARTS = {
    "memory": "peak memory",
    "throughput": "draws per second",
    "peers": "whole certificates, against a plain loop and adversarial-robustness-toolbox",
    "methods": "every method over Cohen",
    "shares": "where the time goes",
    "growth": "growth in n, d, K and inputs",
    "geometry": "geometry",
    "first_order": "first-order certificates",
    "profiles": "profile certificates",
    "lattice": "noise on the grid",
    "paper": "protocol paper",
    "engines": "engines and workers",
}
"""Module and title; each module has a function `run(quick)` that returns rows."""


def chosen_parts(only: str | None) -> list[str]:
    """The parts asked for, in the order of the table."""
    asked = set(PARTS if only is None else only.split(","))
    if unknown := asked - set(PARTS):
        raise SystemExit(f"--only: expected some of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    return [name for name in PARTS if name in asked]


def table(rows: list[Row]) -> Table:
    """The rows for a person."""
    shown = Table("what", "measured", "target", "met", title="doublebubble benchmarks")
    for row in rows:
        shown.add_row(row.what, row.measured, row.target, {True: "yes", False: "NO", None: ""}[row.met])
    return shown


def save(rows: list[Row], name: str, settings: dict[str, object], out: Path) -> None:
    """The table as Markdown, and as JSON in which numbers are numbers."""
    out.mkdir(parents=True, exist_ok=True)
    lines = ["| what | measured | target | met |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.measured} | {row.target} | {row.met} |" for row in rows]
    (out / f"{name}.md").write_text("\n".join(lines) + "\n")
    content = {"settings": settings, "rows": [row.content() for row in rows]}
    (out / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def main() -> int:
    """Run the parts, print and save the table; exit 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PART,PART", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="few draws and rounds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    names = chosen_parts(asked.only)
    torch.set_num_threads(1)
    keep_freed_memory()  # as the command does
    console = Console(width=150)
    rows: list[Row] = []
    settings: dict[str, object] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "quick": asked.quick,
    }
    name = "bench" if asked.only is None else f"bench-{'-'.join(names)}"
    for part in names:
        console.print(f"  measuring {PARTS[part]} ...")
        begin = time.perf_counter()
        rows += importlib.import_module(f"benchmarks.{part}").run(asked.quick)
        console.print(f"    {time.perf_counter() - begin:.0f} s")
        save(rows, name, settings, asked.out)
    console.print(table(rows))
    console.print(f"saved as {name}.md and {name}.json in {asked.out}")
    return 0 if all(row.met in (True, None) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
