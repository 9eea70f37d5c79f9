"""Random changes: what they are made of, and that those which no test sees are told."""

import ast

import pytest

from tests.mutants import sweep
from tests.mutants.mutant import PACKAGE, Mutant
from tests.mutants.run import Finding, Outcome
from tests.mutants.sweep import changes, main, planted

SOURCE = '''"""Words + words."""
import math
LIMIT: int | None = 3

def radius(p: "a + b", q: float = 0.5) -> "float":
    if not p < q:
        raise ValueError(f"expected p < {q + 1}")
    return max(p - q, 0.0) if math.floor(p) and q else -p
'''


def test_code_is_changed_and_nothing_else() -> None:
    made = {(change.line, change.old, change.new) for change in changes(SOURCE)}
    assert made == {
        (3, "3", "(4)"),
        (3, "3", "(2)"),
        (5, "0.5", "(0.46)"),
        (6, "not p < q", "(p < q)"),
        (6, "p < q", "(p <= q)"),
        (8, "max(p - q, 0.0) if math.floor(p) and q else -p", "(max(p - q, 0.0))"),
        (8, "max(p - q, 0.0) if math.floor(p) and q else -p", "(-p)"),
        (8, "max", "(min)"),
        (8, "p - q", "((p) + (q))"),
        (8, "p - q", "(p)"),
        (8, "0.0", "(0.01)"),
        (8, "math.floor(p) and q", "((math.floor(p)) or (q))"),
        (8, "math.floor", "(math.ceil)"),
        (8, "-p", "(p)"),
    }


@pytest.mark.parametrize("file", ["geometry/box.py", "geometry/cohen.py", "geometry/dual.py"])
def test_every_change_can_be_planted_and_read(file: str) -> None:
    source = (PACKAGE / file).read_text()
    made = changes(source)
    assert len(made) > 20
    assert len({change.source for change in made}) == len(made)
    for change in made:
        ast.parse(change.source)
        assert change.source != source
    mutant = planted(file, made[0])
    assert mutant.problem() is None
    assert mutant.tests == (file.replace("/", "/test_"),)


def test_what_no_test_sees_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests see is known here: all but that pairs with one hit count half."""

    def seen(mutant: Mutant) -> Finding:
        outcome = Outcome.SURVIVED if "/ 2 ->" in mutant.name else Outcome.BROKEN
        return Finding(mutant, outcome, "")

    monkeypatch.setattr(sweep, "failing_without", lambda *_: [])
    monkeypatch.setattr(sweep, "tried", seen)
    assert main(["bounds/pairs.py", "--each", "1000"]) == 1
    said = capsys.readouterr().out.splitlines()
    halved = 'clopper_pearson(one, pairs, alpha_one, "lower") / 2'
    assert {line.split(": ", 1)[1].split(" -> ")[0] for line in said[:-1]} == {halved}
    every = len(changes((PACKAGE / "bounds/pairs.py").read_text()))
    assert said[-1] == f"{every - 2} of {every} seen by the tests beside the file"
    monkeypatch.setattr(sweep, "failing_without", lambda *_: ["bounds/test_pairs.py::test_x"])
    assert main(["bounds/pairs.py"]) == 2
    assert "bounds/test_pairs.py::test_x" in capsys.readouterr().out


def test_a_file_without_tests_of_its_own_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nowhere.py"])
    assert "nowhere.py: expected a file below src/doublebubble" in capsys.readouterr().err
