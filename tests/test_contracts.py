"""The linter's contracts see the imports that the modules' opening paragraphs forbid: each is planted, and found."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "doublebubble"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PLANTED = {
    "methods": ("protocols/sound.py", "from doublebubble.methods.cohen import Cohen"),
    "paper-search": ("protocols/sound.py", "from doublebubble.protocols.paper_search import find_second"),
    "ascent": ("search/ascent.py", "from doublebubble.types import Floats"),
    "gradients": ("search/gradients.py", "from doublebubble.bounds import goodman"),
    "oracles": ("audit/oracles/linear.py", "from doublebubble.geometry import cohen_radius"),
    "verifier": ("audit/reverify/votes.py", "from doublebubble.lines import Line"),
    "reverify": ("audit/reverify/numbers.py", "from doublebubble.bounds import clopper_pearson"),
    "lines": ("lines.py", "from doublebubble.streams import Stream"),
    "numpy": ("geometry/dual.py", "import scipy"),
    "budget": ("bounds/budget.py", "import numpy"),
    "resnet": ("models/resnet.py", "from doublebubble.errors import ModelError"),
}
"""For each contract, by its id, a module and an import that breaks it."""
RULE = re.compile(r"\b(may (not )?import|imports? (nothing|no)\b|knows (only|nothing|neither))", re.IGNORECASE)


def lint(package: Path) -> str:
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"]
    chosen = [word for contract in PLANTED for word in ("--contract", contract)]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), *settings, *chosen],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT)]), "COLUMNS": "500"},
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def test_forbidden_imports_are_found(tmp_path: Path) -> None:
    package = tmp_path / "doublebubble"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    names = {contract["id"]: contract["name"] for contract in CONTRACTS if contract.get("id") in PLANTED}
    kept = lint(package)
    assert all(f"{name} KEPT" in kept for name in names.values()), kept
    for module, planted in PLANTED.values():
        with (package / module).open("a") as file:
            file.write(f"\n{planted}\n")
    broken = lint(package)
    for contract, name in names.items():
        assert f"{name} BROKEN" in broken, broken
        assert f"doublebubble.{PLANTED[contract][0].removesuffix('.py').replace('/', '.')}" in broken
    assert len(names) == len(PLANTED)


def test_every_rule_in_prose_is_a_contract() -> None:
    """A module that says in its opening paragraph what it may import is named by a contract, it or its folder."""
    bound = {
        name.strip(" ()")
        for contract in CONTRACTS
        for field in ("modules", "source_modules", "protected_modules", "layers")
        for entry in contract.get(field, ())
        for name in entry.split("|")
    } - {"doublebubble"}
    stated = {}
    for path in SOURCE.rglob("*.py"):
        rule = RULE.search(ast.get_docstring(ast.parse(path.read_text())) or "")
        if rule is not None:
            parts = path.relative_to(SOURCE.parent).with_suffix("").parts
            stated[".".join(parts).removesuffix(".__init__")] = rule.group()
    assert len(stated) > 50
    for module, words in stated.items():
        own = {module, module.rpartition(".")[0]}
        assert own & bound, f"{module} says {words!r}, and no contract does"


@pytest.mark.parametrize("contract", [c for c in CONTRACTS if c["type"] == "only"], ids=lambda c: c["id"])
def test_a_contract_lists_modules_that_there_are(contract: dict[str, list[str]]) -> None:
    for name in (*contract["modules"], *contract.get("may_import", ())):
        path = ROOT / "src" / Path(*name.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), name
