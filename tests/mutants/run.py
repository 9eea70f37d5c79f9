"""Plants each bug in a copy of the package, runs the tests that should see it, and prints what became of it."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import cache
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import ForkServerContext, SpawnContext
from pathlib import Path

from tests.mutants.mutant import PACKAGE, ROOT, Mutant, every

COPY, MODULE, SEEN = "MUTANT_COPY", "MUTANT_MODULE", "MUTANT_SEEN"
"""Names of environment variables: the folder of the copy, the module with the bug, the file for what was seen."""
_PASSED, _FAILED = 0, 1  # exit codes of pytest; all others are no answer
_PATIENCE = 1200.0  # seconds; a bug may make a loop endless, which is no answer either
_IMPORTED = ("torch", "scipy.stats", "scipy.optimize", "pandas", "pydantic", "mpmath", "statsmodels.stats.proportion")


class Outcome(Enum):
    """What became of a bug."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """One bug, what became of it, and the test that failed, or why there is no answer."""

    mutant: Mutant
    outcome: Outcome
    what: str


@dataclass(frozen=True)
class _Run:
    """One run of pytest: its exit code, the tests that failed, those that failed improperly, its output."""

    code: int
    failed: tuple[str, ...]
    stumbled: tuple[str, ...]
    output: str

    @property
    def last_words(self) -> str:
        lines = [line for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else "no output"


def tried(mutant: Mutant, package: Path = PACKAGE) -> Finding:
    """Plant one bug and run its tests until one fails."""
    if (problem := mutant.problem(package)) is not None:
        return Finding(mutant, Outcome.BROKEN, problem)
    run = _tested(mutant.tests, package, mutant)
    if run.code == _PASSED:
        return Finding(mutant, Outcome.SURVIVED, "every test passed")
    stumbled = () if mutant.lets_errors_out else run.stumbled
    if run.code != _FAILED or stumbled or not run.failed:
        return Finding(mutant, Outcome.BROKEN, "; ".join(run.stumbled) or f"exit code {run.code}: {run.last_words}")
    return Finding(mutant, Outcome.CAUGHT, run.failed[0])


def failing_without(mutants: Iterable[Mutant], jobs: int) -> list[str]:
    """The tests named by these mutants that do not pass on the package as it is: they can show nothing."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    shares = [tests[start::jobs] for start in range(jobs) if tests[start::jobs]]
    with ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(lambda share: _tested(share, PACKAGE, None), shares))
    return [
        failed for run in runs if run.code != _PASSED for failed in (run.failed or (f"{run.code}: {run.last_words}",))
    ]


def _tested(tests: Sequence[str], package: Path, mutant: Mutant | None) -> _Run:
    """Run tests in a process of their own on a copy of the package, with the bug planted if there is one."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        # Compiled modules come along, but for those that somebody is writing: to compile them takes longer than a test.
        shutil.copytree(package, folder / "src" / "doublebubble", ignore=shutil.ignore_patterns("*.pyc.*"))
        if mutant is not None:
            mutant.plant(folder / "src" / "doublebubble")
        module = "doublebubble" if mutant is None else mutant.module
        process = _processes().Process(target=_child, args=(folder, module, tests, mutant is not None))
        process.start()
        process.join(_PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        seen, output = folder / "seen.json", folder / "output.txt"
        found = json.loads(seen.read_text()) if seen.exists() else {"failed": [], "stumbled": []}
        words = output.read_text() if output.exists() else ""
        return _Run(process.exitcode or 0, tuple(found["failed"]), tuple(found["stumbled"]), words)


@cache
def _processes() -> ForkServerContext | SpawnContext:
    """Processes that begin with all but the package imported, where that can be had: imports take most of the time."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    processes = get_context("forkserver")
    processes.set_forkserver_preload(list(_IMPORTED))
    return processes


def _child(folder: Path, module: str, tests: Sequence[str], first_failure: bool) -> None:
    """In the new process: import the package from the copy, run pytest, and end with its exit code."""
    if "doublebubble" in sys.modules:
        sys.exit("the package was imported before the copy was there")
    copy = folder / "src"
    with (folder / "output.txt").open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(ROOT)
    sys.path[:0] = [str(copy), str(ROOT)]
    os.environ |= {
        "PYTHONPATH": str(copy),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        "OMP_NUM_THREADS": "1",
        COPY: str(copy),
        MODULE: module,
        SEEN: str(folder / "seen.json"),
    }
    import pytest
    import torch

    torch.set_num_threads(1)
    options = ["-n", "0", "-p", "no:cacheprovider", "-p", "tests.mutants.witness", "--tb=line"]
    options += ["-x"] if first_failure else []
    sys.exit(int(pytest.main([*options, *(f"tests/{test}" for test in tests)])))


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants named, or all; 0 if every one is caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants to plant (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    asked = parser.parse_args(arguments)
    chosen = [mutant for mutant in every() if not asked.names or mutant.name in asked.names]
    if unknown := set(asked.names) - {mutant.name for mutant in chosen}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}")
    if failing := failing_without(chosen, asked.jobs):
        say("these tests fail without any bug, so they can show nothing:", *failing)
        return 2
    findings = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for finding in pool.map(tried, chosen):
            findings.append(finding)
            say(f"{len(findings):3} of {len(chosen)}  {finding.outcome.value:8}  {finding.mutant.name}")
    say("", *_table(findings), "")
    caught = sum(finding.outcome is Outcome.CAUGHT for finding in findings)
    say(f"{caught} of {len(findings)} caught")
    return 0 if caught == len(findings) else 1


def _table(findings: Iterable[Finding]) -> list[str]:
    rows = ["| mutant | why it is unsound | | test |", "|---|---|---|---|"]
    for finding in findings:
        what = finding.what.removeprefix("tests/")
        rows.append(f"| {finding.mutant.name} | {finding.mutant.why} | {finding.outcome.value} | {what} |")
    return rows


def say(*lines: str) -> None:
    """Print lines at once, whatever the output is."""
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
