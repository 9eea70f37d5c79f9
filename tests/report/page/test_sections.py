"""The parts of the page that need no script: their numbers are the records', and every one is marked as it must be."""

from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.report.page import sections
from doublebubble.report.page.envelope import Choice
from doublebubble.report.page.run_view import RunView, views
from doublebubble.runs.spec import RunSpec, spec_hash
from tests.report.page.samples import NASTY, stored, stored_paper

RADII = (0.0, 0.1, 0.2, 0.3, 0.4)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[RunView]:
    folder = tmp_path_factory.mktemp("runs")
    return views([stored(folder / "first"), stored(folder / "second", sigma=0.25), stored_paper(folder / "paper")])


def test_the_answer_counts_the_records(shown: list[RunView]) -> None:
    text = sections.answer(shown[:1], RADII)
    records = shown[0].run.records
    for radius in RADII:
        certified = sum(record.correct is True and record.radius >= radius for record in records)
        assert f"{certified} of {len(records)}" in text
    assert "not guaranteed" not in text
    assert "failed on 1" in text, "input 7"


def test_every_tile_of_a_run_without_a_guarantee_is_marked(shown: list[RunView]) -> None:
    text = sections.answer(shown[2:], RADII)
    assert text.count('<span class="mark">not guaranteed</span>') == 1 + len(RADII)
    assert "Average certified radius" in text
    assert "(not guaranteed)" in text


def test_runs_are_compared_with_the_first_or_a_reason_is_given(shown: list[RunView]) -> None:
    assert isinstance(shown[1].run.spec, RunSpec)
    other = replace(shown[1].run, spec=shown[1].run.spec.model_copy(update={"data_digest": "00" * 32}))
    text = sections.comparison([shown[0], shown[1], replace(shown[1], name="elsewhere", run=other)])
    assert "Compared with <b>first</b>" in text
    assert text.count("<tr>") == 2, "the head and one row"
    assert "elsewhere: holds other data than first and is not compared." in text


def test_a_choice_where_nothing_is_certified_is_no_choice() -> None:
    found = [
        Choice(radius=0.5, best=0, certified=30, second=1, second_certified=20, p_value=0.01),
        Choice(radius=9.0, best=0, certified=0, second=1, second_certified=0, p_value=1.0),
    ]
    text = sections.choice(["sigma 0.25", "sigma 0.5"], "", found, 40, [40, 40], 3)
    assert "75.0 % (30 of 40)" in text
    assert "sigma 0.5: 50.0 %" in text
    assert ">9<" not in text
    assert 'id="envelope-3"' in text
    assert "Only the" not in text
    assert "Only the 40 inputs that all" in sections.choice(["a", "b"], "", found, 40, [40, 50], 0)


def test_how_a_run_was_made_is_all_there(shown: list[RunView]) -> None:
    spec = shown[0].run.spec
    assert isinstance(spec, RunSpec)
    text = sections.making(shown[0])
    for part in (spec_hash(spec), spec.model_digest, spec.data_digest, "[0, 1] in every coordinate", "torch 2"):
        assert part in text


def test_tables_and_names_are_escaped(shown: list[RunView], tmp_path: Path) -> None:
    assert NASTY not in sections.table(("a",), [(NASTY,)], NASTY)
    assert NASTY not in sections.making(replace(shown[0], name=NASTY))
    assert sections.badge("") == ""
