"""A run as people use it."""

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import doublebubble as db
from doublebubble.errors import InputError, RunError
from doublebubble.facade.run import Run
from doublebubble.runs.importing import import_tsv
from doublebubble.runs.memory import MemoryStore
from doublebubble.runs.record import Record, floor_radius
from doublebubble.runs.store import RunStore
from tests.runs.samples import certificate, spec


@pytest.fixture
def run() -> Run:
    """Four inputs: radius 0.4, radius 0.8, wrong, failed."""
    store = MemoryStore(spec("0:5"))
    with store:
        store.append(certificate(0, radius=0.4, centres=2))
        store.append(certificate(2, radius=0.8))
        store.append(certificate(1, radius=0.9, prediction=2))
        store.append(Record.failed(3, 1, "<b>no"))
    return Run.of(store.run())


def test_every_input_counts_in_its_numbers(run: Run) -> None:
    assert [run.certified_accuracy(radius) for radius in (0.0, 0.4, 0.5, 0.81)] == [0.5, 0.5, 0.25, 0.0]
    assert run.average_radius == pytest.approx((0.4 + 0.8) / 4)
    assert run.frame["index"].tolist() == [0, 1, 2, 3]
    assert run.missing == (4,)


def test_its_certificates_are_those_that_were_kept_in_rising_order(run: Run) -> None:
    first, second, third = run.certificates
    assert (first.index, second.index, third.index) == (0, 1, 2)
    for found, made in (
        (first, certificate(0, radius=0.4, centres=2)),
        (second, certificate(1, radius=0.9, prediction=2)),
    ):
        assert found == replace(made, radii={name: floor_radius(radius) for name, radius in made.radii.items()})


def test_certificates_without_their_centres_are_not_made_up(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec(centres=False)) as store:
        store.append(certificate(0, centres=1))
    with pytest.raises(RunError, match="input 0: the certificate cannot be made again, its centres were not stored"):
        _ = db.open_run(tmp_path / "run").certificates
    (tmp_path / "run.tsv").write_text("idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.3\t1\t0.1\n")
    import_tsv(tmp_path / "run.tsv", tmp_path / "imported")
    with pytest.raises(RunError, match="was imported"):
        _ = db.open_run(tmp_path / "imported").certificates


def test_it_says_what_it_is(run: Run) -> None:
    text = repr(run)
    assert len(text.splitlines()) == 4
    assert "Run (in memory): 4 of 5 inputs" in text
    assert (
        "50.0% at 0, 50.0% at 0.25, 25.0% at 0.5, 25.0% at 0.75, 0.0% at 1; average radius 0.3000; abstained 1 of 4, 1 "
        "failed" in text
    )
    assert "at least 1 - alpha" in text
    assert run._repr_html_().count("<br>") == 3
    assert "no record yet" in repr(Run.of(MemoryStore(spec()).run()))


def test_without_labels_it_does_not_speak_of_accuracy() -> None:
    store = MemoryStore(spec("0:2"))
    store.append(certificate(0, label=None))
    run = Run.of(store.run())
    assert "mean radius of all inputs 0.4000" in repr(run)
    assert "accuracy" not in repr(run)
    with pytest.raises(InputError, match="expected a label for every input"):
        run.certified_accuracy(0.1)


def test_a_figure_and_a_page(run: Run, tmp_path: Path) -> None:
    assert isinstance(run.plot(), Figure)
    page = run.report(tmp_path / "page.html")
    assert page.read_text().startswith("<!doctype html>")


def test_numbers_without_a_guarantee_are_marked(tmp_path: Path) -> None:
    config = db.CertifyConfig(protocol="paper")
    store = MemoryStore(spec("0:2", config=config))
    store.append(Record.of(certificate(0)).model_copy(update={"guarantee": db.Guarantee.NONE, "protocol": "paper"}))
    assert "average radius 0.4000 (not guaranteed)" in repr(Run.of(store.run()))


@pytest.mark.parametrize(
    ("radius", "said"), [(0.0, "0.0% at 0; "), (0.015, "100.0% at 0, 100.0% at 0.01, 0.0% at 0.02; ")]
)
def test_accuracies_are_told_up_to_the_first_that_is_nothing(radius: float, said: str) -> None:
    with MemoryStore(spec("0:1")) as store:
        store.append(certificate(0, radius=radius) if radius else Record.failed(0, 1, "no"))
    assert f"certified accuracy {said}" in str(Run.of(store.run()))
