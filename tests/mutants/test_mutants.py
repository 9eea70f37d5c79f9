"""The planted bugs can be planted, are told apart, stand in the docs, and the quick ones are caught here as well."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.mutant import ROOT, Mutant, by_area, every
from tests.mutants.run import Outcome, tried
from tests.mutants.table import PAGE, page

QUICK = [mutant for mutant in every() if mutant.quick]


@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.name)
def test_a_planted_bug_is_caught(mutant: Mutant) -> None:
    finding = tried(mutant)
    assert finding.outcome is Outcome.CAUGHT, finding.what


def test_there_are_enough_of_them() -> None:
    assert len(every()) >= 60
    assert len(QUICK) >= 12


def test_every_bug_can_be_planted() -> None:
    """The code that a mutant changes is still there, once: mutants do not rot."""
    assert {mutant.name: problem for mutant in every() if (problem := mutant.problem()) is not None} == {}


def test_names_tell_them_apart_and_are_words() -> None:
    names = [mutant.name for mutant in every()]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in every()}) == len(names)


def test_every_mutant_says_why_and_which_tests_see_it() -> None:
    for mutant in every():
        assert mutant.why.endswith("."), mutant.name
        assert "|" not in mutant.why, mutant.name
        assert mutant.tests, mutant.name
        for test in mutant.tests:
            file, _, function = test.partition("::")
            assert (ROOT / "tests" / file).is_file(), f"{mutant.name}: {test}"
            assert f"def {function.partition('[')[0]}(" in (ROOT / "tests" / file).read_text() or not function, test


def test_the_table_in_the_docs_is_that_of_the_mutants() -> None:
    assert PAGE.read_text() == page(), "run python -m tests.mutants.table"
    assert all(area.replace("_", " ").capitalize() in PAGE.read_text() for area in by_area())


# The runner itself: what it must not take for a caught bug.

HARMLESS = Mutant(
    "harmless",
    "bounds/pairs.py",
    '"""How pairs of opposite draws show an event',
    '"""How pairs of draws show an event',
    "It is not.",
    ("bounds/test_pairs.py::test_each_mass_spends_its_own_part_of_alpha",),
)


def test_a_bug_that_no_test_sees_survives() -> None:
    assert tried(HARMLESS).outcome is Outcome.SURVIVED


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ('import nowhere\n"""How pairs of opposite draws show an event', "exit code 4"),
        ("def (", "exit code 4"),
    ],
)
def test_a_module_that_cannot_be_imported_is_no_caught_bug(new: str, words: str) -> None:
    finding = tried(replace(HARMLESS, new=new))
    assert finding.outcome is Outcome.BROKEN
    assert words in finding.what


def test_a_bug_that_makes_python_stumble_is_no_caught_bug() -> None:
    finding = tried(replace(HARMLESS, old="    single = clopper_pearson", new="    single = clopper_person"))
    assert finding.outcome is Outcome.BROKEN
    assert "NameError" in finding.what


def test_a_text_that_is_not_there_or_there_twice_cannot_be_planted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one = 1\ntwo = 1\n")
    mutant = replace(HARMLESS, file="a.py", old="= 1", new="= 2")
    assert mutant.problem(tmp_path) == "its text occurs 2 times in a.py, once was expected"
    assert replace(mutant, old="three").problem(tmp_path) == "its text occurs 0 times in a.py, once was expected"
    assert replace(mutant, file="b.py").problem(tmp_path) == "there is no file b.py"
    assert replace(mutant, old="one = 1", new="one = 1").problem(tmp_path) == "it changes nothing"
    assert tried(mutant, tmp_path).outcome is Outcome.BROKEN
    planted = replace(mutant, old="one = 1", new="one = 3")
    assert planted.problem(tmp_path) is None
    planted.plant(tmp_path)
    assert (tmp_path / "a.py").read_text() == "one = 3\ntwo = 1\n"


def test_tests_that_do_not_exist_are_no_caught_bug() -> None:
    finding = tried(replace(HARMLESS, tests=("bounds/test_pairs.py::test_nothing",)))
    assert finding.outcome is Outcome.BROKEN
