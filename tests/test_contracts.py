"""The linter's contracts see the imports that the modules' opening paragraphs forbid: each is planted, and found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lint(package: Path, contract: str) -> subprocess.CompletedProcess[str]:
    settings = ["--config", str(ROOT / "pyproject.toml"), "--contract", contract, "--no-cache"]
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), *settings],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("contract", "module", "planted"),
    [
        ("methods", "protocols/sound.py", "from doublebubble.methods.cohen import Cohen"),
        ("paper-search", "protocols/sound.py", "from doublebubble.protocols.paper_search import find_second"),
        ("ascent", "search/ascent.py", "from doublebubble.types import Floats"),
        ("oracles", "audit/oracles/linear.py", "from doublebubble.geometry import cohen_radius"),
    ],
)
def test_a_forbidden_import_is_found(contract: str, module: str, planted: str, tmp_path: Path) -> None:
    package = tmp_path / "doublebubble"
    shutil.copytree(ROOT / "src" / "doublebubble", package, ignore=shutil.ignore_patterns("__pycache__"))
    kept = lint(package, contract)
    assert kept.returncode == 0, kept.stdout + kept.stderr
    with (package / module).open("a") as file:
        file.write(f"\n{planted}\n")
    broken = lint(package, contract)
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "1 broken" in broken.stdout
    assert f"doublebubble.{module.removesuffix('.py').replace('/', '.')}" in broken.stdout
