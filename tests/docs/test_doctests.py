"""The `>>>` examples of the docstrings, run; and every public function has one."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import doublebubble as db

SOURCE = Path(db.__file__).parent
WITH_EXAMPLES = sorted(
    ".".join(("doublebubble", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)
SHOWN = re.findall(r"^::: (\S+)$", (Path(__file__).parents[2] / "docs" / "api.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted
    assert not result.failed


def test_the_reference_shows_what_is_public() -> None:
    shown = {name.rpartition(".")[2] for name in SHOWN}
    errors = {
        name
        for name in db.__all__
        if inspect.isclass(getattr(db, name)) and issubclass(getattr(db, name), Warning | Exception)
    }
    assert set(db.__all__) - errors - {"ABSTAIN", "bounds", "geometry"} <= shown


@pytest.mark.parametrize("name", SHOWN)
def test_every_function_of_the_reference_shows_an_example(name: str) -> None:
    found = pkgutil.resolve_name(name)
    assert not inspect.isfunction(found) or ">>> " in (inspect.getdoc(found) or ""), f"{name} has no example"
