"""A form that is run on the inputs of the published form first and on the other ones later: what is put together."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.packed import pack_runs
from doublebubble.reproduce.scales import SoundForm, Which
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY, invent

FORM = SoundForm(400, 0.001, ("cohen", "profile"), "first")
AUTO = SoundForm(400, 0.001, ("auto",), "first")
WIDE = replace(
    STUDY, sound_forms=tuple(replace(form, which=which) for which in ("first", "other") for form in (FORM, AUTO))
)


def _evidence(folder: Path, *parts: Which) -> Evidence:
    wishes = [Wanted.of_form(WIDE, 0.5, replace(FORM, which=part)) for part in parts]
    wishes += [Wanted(WIDE, 0.5, "paper", "full"), Wanted(WIDE, 0.5, "sound", "full", which="all")]
    pack_runs([invent(folder / "made" / one.name, one, SCALE.alpha, False).path for one in wishes], folder / "runs")
    return Evidence(folder, replace(SCALE, studies=(WIDE,)))


def _run(folder: Path, which: Which) -> pd.DataFrame:
    return load_run(folder / "made" / Wanted.of_form(WIDE, 0.5, replace(FORM, which=which)).name)


def test_all_inputs_are_those_of_either_run(tmp_path: Path) -> None:
    found = _evidence(tmp_path, "first", "other").sound_on_all(WIDE, 0.5, FORM)
    assert found is not None
    assert found["index"].tolist() == list(range(STUDY.wide))
    assert found["radius"].tolist() == [*_run(tmp_path, "first")["radius"], *_run(tmp_path, "other")["radius"]]


def test_neither_part_stands_for_all(tmp_path: Path) -> None:
    assert _evidence(tmp_path / "first", "first").sound_on_all(WIDE, 0.5, FORM) is None
    assert _evidence(tmp_path / "other", "other").sound_on_all(WIDE, 0.5, FORM) is None
    assert Evidence(tmp_path, SCALE).sound_on_all(WIDE, 0.5, FORM) is None


def test_where_all_are_given_the_published_form_one_run_is_all(tmp_path: Path) -> None:
    evidence = _evidence(tmp_path, "first")
    for wide in (0, STUDY.inputs):
        few = replace(WIDE, wide=wide)
        found = evidence.sound_on_all(few, 0.5, FORM)
        assert found is not None
        assert found["index"].tolist() == list(range(STUDY.inputs))


def test_the_page_has_a_row_of_all_inputs_and_without_them_of_the_published_ones(tmp_path: Path) -> None:
    both = _evidence(tmp_path / "both", "first", "other")
    for evidence, inputs in ((both, STUDY.wide), (_evidence(tmp_path / "one", "first"), STUDY.inputs)):
        rows = [row for row in claims_page(evidence).splitlines() if row.startswith(f"| {STUDY.name} | 0.5 | 400 |")]
        assert [row.split(" | ")[4] for row in rows] == ["cohen profile"]
        table = evidence.sound(WIDE, 0.5, FORM) if inputs == STUDY.inputs else evidence.sound_on_all(WIDE, 0.5, FORM)
        assert table is not None
        assert f" | {table['correct'].sum()} of {inputs} | " in rows[0]
