"""Records that other processes wrote are verified again after each test, and a forged one fails it."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import doublebubble as db
from doublebubble.runs.encoding import encode
from doublebubble.runs.spec import identity_hash
from doublebubble.runs.store import RECORDS, read_run
from tests.mutants.mutant import ROOT

SUITE = """
import shutil, subprocess, sys
import pytest

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")

def written(how, folder):
    copy = f"import shutil; shutil.copytree({how!r}, {str(folder / 'deep' / 'run')!r})"
    subprocess.run([sys.executable, "-c", copy], check=True)

def test_honest(tmp_path):
    written("honest", tmp_path)

def test_forged(tmp_path):
    written("forged", tmp_path)

def test_forged_in_a_folder_of_a_wider_fixture(shared):
    written("wider", shared)

def test_after_it(shared):
    pass

@pytest.mark.forged_records("on purpose")
def test_marked(tmp_path):
    written("marked", tmp_path)

def test_damaged(tmp_path):
    written("damaged", tmp_path)
"""


def other_run(folder: Path, radius: float | None = None, n: int = 100) -> None:
    """A run of two inputs, the radius of the second one forged, its checksum recomputed."""
    model = torch.nn.Linear(4, 2).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0], [-1.0]]).expand(2, 4))
    db.certify(model, torch.ones(2, 4), 0.5, n=n, n0=10, methods=("cohen",), domain=None, out=folder, quiet=True)
    run = read_run(folder)
    lines = [encode(record, identity_hash(run.spec)) for record in run.records]
    if radius is not None:
        lines[1] = encode(run.records[1].model_copy(update={"radius": radius}), identity_hash(run.spec))
    (folder / RECORDS).write_bytes(b"".join(lines))


@pytest.mark.forged_records("they are forged here, and verified in a session of their own")
def test_a_record_that_a_subprocess_forged_fails_the_test_that_started_it(tmp_path: Path) -> None:
    """And that test alone: what was verified once is not verified again."""
    other_run(tmp_path / "honest")
    for how, radius in (("forged", 100.0), ("wider", 99.0), ("marked", 98.0)):
        other_run(tmp_path / how, radius)
    other_run(tmp_path / "damaged")
    records = tmp_path / "damaged" / RECORDS
    records.write_bytes(records.read_bytes().replace(b'"radius"', b'"radios"', 1))
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  forged_records(reason)\n")
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "--basetemp", "base", "-rEA", "test_suite.py"]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest; pytest.main()"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=True)
    ended = [line for line in done.stdout.splitlines() if line.startswith(("ERROR ", "PASSED "))]
    wrong = {line.split("::")[1].split(" ")[0] for line in ended if line.startswith("ERROR ")}
    assert wrong == {"test_forged", "test_forged_in_a_folder_of_a_wider_fixture", "test_damaged"}, done.stdout
    assert sum(line.startswith("PASSED ") for line in ended) == 6, "each does what it says, and then is judged"
    told, _, _ = done.stdout.partition("short test summary")
    assert told.count("input 1: refuted") == 2
    assert "input 0" not in done.stdout
