"""Whole runs: confirmed as they were written, refuted when forged with every hash and checksum made anew."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import doublebubble as db
from doublebubble.audit.reverify import Confirmation, reverify_run
from doublebubble.config import PaperSearch
from doublebubble.data import load_dataset
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import RunStore, read_run
from tests.cli.calling import call
from tests.engines.centroids import make

INDICES = "0:4"
_DATA = load_dataset("digits", "test")
X, Y = _DATA.inputs(slice(0, 40)), _DATA.labels[:40]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "run"
    settings: dict[str, Any] = {"n": 1000, "n0": 100, "methods": "all", "quiet": True}
    db.certify(make(), "digits", 0.5, indices=INDICES, out=path, **settings)
    return path


def forged(
    honest: Path, out: Path, record: Callable[[Record], Record], spec: Callable[[RunSpec], RunSpec] = lambda spec: spec
) -> list[Confirmation]:
    """The outcomes of a copy in which records or the specification were changed, and nothing else gives it away."""
    run = db.open_run(honest)
    assert isinstance(run.spec, RunSpec)
    with RunStore(out, spec(run.spec)) as store:
        for one in run.records:
            changed = record(one)
            if one.centres_digest is None:
                store.append(changed)
            else:
                store.append_copy(changed, run)
    return [verdict.outcome for verdict in db.open_run(out).reverify()]


def test_an_honest_run_is_confirmed(honest: Path, tmp_path: Path) -> None:
    assert forged(honest, tmp_path / "copy", lambda one: one) == [Confirmation.CONFIRMED] * 4


def test_sigma_of_the_specification(honest: Path, tmp_path: Path) -> None:
    found = forged(honest, tmp_path / "f", lambda one: one, lambda spec: spec.model_copy(update={"sigma": 5.0}))
    assert found == [Confirmation.REFUTED] * 4


@pytest.mark.parametrize(
    "changes",
    [
        {"radius": 100.0},
        {"prediction": 3},
        {"alpha": 0.5},
        {"alpha": 0.0001},
        {"protocol": "paper"},
        {"method": "toy"},
        {"multipliers": (0.3,)},
        {"draws": {"select": 99, "certify": 1000}},
        {"draws": {"select": 100, "certify": 10}},
        {"counts": {}},
        {"balls": ()},
        {"whole_domain": True},
    ],
    ids=str,
)
def test_a_changed_record_is_not_confirmed(honest: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    def change(one: Record) -> Record:
        radii = dict.fromkeys(one.radii, changes["radius"]) if "radius" in changes else one.radii
        label = {"prediction": (one.prediction + 1) % 10} if "prediction" in changes else {}
        return one.model_copy(update={"radii": radii, **changes, **label})

    at_input = [record.balls[0].centre is None for record in read_run(honest).records]
    for outcome, plain in zip(forged(honest, tmp_path / "f", change), at_input, strict=True):
        assert outcome is Confirmation.REFUTED or (
            plain and "multipliers" in changes
        )  # one ball at the input needs none


def test_every_method_is_proved_not_the_chosen_one_alone(honest: Path, tmp_path: Path) -> None:
    """The radius of each method that was not chosen rests on balls of its own."""
    run = db.open_run(honest)
    for method in ("single", "boundary", "double", "dipole", "first_order", "cohen"):
        beside = [method in record.beside for record in run.records]
        assert any(beside)

        def larger(one: Record, method: str = method) -> Record:
            held = method != one.method
            return one.model_copy(update={"radii": {**one.radii, method: one.radii[method] + 0.1}}) if held else one

        def without(one: Record, method: str = method) -> Record:
            return one.model_copy(update={"beside": {m: c for m, c in one.beside.items() if m != method}})

        def spent(one: Record, method: str = method) -> Record:
            if method not in one.beside:
                return one
            claim = one.beside[method]
            balls = tuple(ball.model_copy(update={"alpha": 1.1 * ball.alpha}) for ball in claim.balls)
            return one.model_copy(update={"beside": {**one.beside, method: claim.model_copy(update={"balls": balls})}})

        for name, change, outcome in (
            ("larger", larger, Confirmation.REFUTED),
            ("without", without, Confirmation.UNKNOWN),
            ("spent", spent, Confirmation.REFUTED),
        ):
            found = forged(honest, tmp_path / method / name, change)
            assert found == [outcome if held else Confirmation.CONFIRMED for held in beside], (method, name)


def test_settings_that_the_records_do_not_fit(honest: Path, tmp_path: Path) -> None:
    def with_config(**changes: Any) -> Callable[[RunSpec], RunSpec]:
        return lambda spec: spec.model_copy(update={"config": spec.config.model_copy(update=changes)})

    changes: tuple[dict[str, Any], ...] = ({"alpha": 1e-5}, {"n": 500}, {"n0": 7}, {"methods": ("single",)})
    for number, change in enumerate(changes):
        found = forged(honest, tmp_path / f"{number}", lambda one: one, with_config(**change))
        assert found == [Confirmation.REFUTED] * 4


def test_other_inputs_do_not_stand_for_those_of_the_run(tmp_path: Path) -> None:
    run = db.certify(
        make(), (X, Y), 0.5, indices="0:3", n=1000, n0=100, out=tmp_path / "r", quiet=True, methods="boundary"
    )
    assert all(verdict.confirmed for verdict in run.reverify((X, Y)))
    needs = [any(ball.centre is not None or ball.vectors for ball in record.balls) for record in run.records]
    for data in (None, (X.flip(0), Y.flip(0))):
        found = [verdict.outcome for verdict in run.reverify(data)]
        assert found == [Confirmation.UNKNOWN if need else Confirmation.CONFIRMED for need in needs]


def test_failed_imported_and_unstored(honest: Path, tmp_path: Path) -> None:
    run = db.open_run(honest)
    failed = replace(run, records=(Record.failed(0, None, "no"),))
    assert [v.outcome for v in reverify_run(failed)] == [Confirmation.CONFIRMED]
    for claimed in ({"radii": {"cohen": 1.0}}, {"prediction": 3}):
        lying = replace(run, records=(Record.failed(0, None, "no").model_copy(update=claimed),))
        assert [v.outcome for v in reverify_run(lying)] == [Confirmation.REFUTED], claimed


def test_a_changed_label_is_refuted_where_the_data_are_at_hand(honest: Path) -> None:
    """It would make a wrong prediction count as correct."""
    run = db.open_run(honest)
    changed = tuple(record.model_copy(update={"label": (int(record.label or 0) + 1) % 10}) for record in run.records)
    lying = replace(run, records=(*run.records[:2], *changed[2:]))
    found = lying.reverify()
    assert [v.outcome for v in found] == [Confirmation.CONFIRMED] * 2 + [Confirmation.REFUTED] * 2
    assert found[2].sentence == f"the label is {run.records[2].label}, not {changed[2].label}"
    assert Confirmation.REFUTED not in [v.outcome for v in reverify_run(lying)], "without the data nobody can tell"


def test_the_paper_is_computed_again_and_carries_no_guarantee(tmp_path: Path) -> None:
    torch.manual_seed(0)
    run = db.certify(
        make(),
        (X, Y),
        0.5,
        indices="0:2",
        n=300,
        n0=50,
        protocol="paper",
        out=tmp_path / "paper",
        quiet=True,
        methods="all",
    )
    found = run.reverify((X, Y))
    assert [verdict.outcome for verdict in found] == [Confirmation.PUBLISHED] * 2, found
    assert all("no guarantee" in verdict.sentence for verdict in found)
    for method in run.records[0].radii:

        def larger(one: Record, method: str = method) -> Record:
            radii = {**one.radii, method: one.radii[method] + 0.01}
            return one.model_copy(update={"radii": radii, "radius": max(radii.values())})

        lying = replace(run, records=tuple(map(larger, run.records)))
        assert [verdict.outcome for verdict in lying.reverify((X, Y))] == [Confirmation.REFUTED] * 2


@pytest.mark.parametrize("thrifty", [False, True])
def test_records_of_either_form_of_the_paper_are_confirmed_in_their_own_run_only(tmp_path: Path, thrifty: bool) -> None:
    forms = {True: PaperSearch.thrifty(), False: PaperSearch(iterations=8, line_iterations=4)}
    run = db.certify(
        make(), (X, Y), 0.5, indices="0:2", n=300, protocol="paper", paper=forms[thrifty], quiet=True, methods="all"
    )
    assert any(len(record.balls) > 1 for record in run.records), "nothing to tell the forms apart"
    found = run.reverify((X, Y))
    assert [verdict.outcome for verdict in found] == [Confirmation.PUBLISHED] * 2, found
    assert isinstance(run.spec, RunSpec)
    other = run.spec.config.model_copy(update={"paper": forms[not thrifty]})
    mixed = replace(run, spec=run.spec.model_copy(update={"config": other}))
    wrong = [record.index for record in run.records if len(record.balls) > 1]
    refuted = [verdict.index for verdict in mixed.reverify((X, Y)) if verdict.outcome is Confirmation.REFUTED]
    assert refuted == wrong


def test_a_ball_of_the_paper_measured_by_fewer_draws_is_refuted(tmp_path: Path) -> None:
    """The thrifty search looks with fewer draws; a look passed off as the confirmation must not go through."""
    run = db.certify(make(), (X, Y), 0.5, indices="0:1", n=300, protocol="paper", quiet=True, methods=("cohen",))
    assert isinstance(run.spec, RunSpec)
    more = run.spec.config.model_copy(update={"n": 400})
    lying = replace(run, spec=run.spec.model_copy(update={"config": more}))
    (verdict,) = lying.reverify((X, Y))
    assert verdict.outcome is Confirmation.REFUTED
    assert "not measured by n = 400 draws" in verdict.sentence


def test_the_command(honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "audit", str(honest))
    assert code == 0
    assert "4 of 4 records confirmed" in out
    code, out, _ = call(capsys, "audit", str(honest), "--json")
    assert code == 0
    told = json.loads(out)
    assert told["confirmed"] is True
    assert [one["index"] for one in told["records"]] == [0, 1, 2, 3]
    forged(honest, tmp_path / "f", lambda one: one.model_copy(update={"radius": 9.0}) if one.index == 2 else one)
    code, out, _ = call(capsys, "audit", str(tmp_path / "f"))
    assert code == 1
    assert "3 of 4 records confirmed" in out
    assert "input 2: refuted: the radius is not that of the method" in out
    code, out, _ = call(capsys, "audit", str(tmp_path / "f"), "--json")
    assert code == 1
    assert json.loads(out)["confirmed"] is False
