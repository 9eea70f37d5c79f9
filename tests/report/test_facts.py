"""What a run is in words, and which words must stand beside its numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.certificate import Noise
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.report.facts import draws_asked, facts, guarantee_of, guarantees, level, mark, protocol_of
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, StoredRun, read_run
from doublebubble.types import Guarantee
from tests.runs.samples import certificate, spec


def test_a_run_is_told_in_words(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:4", centres=False)) as store:
        store.append(certificate(2))
    found = dict(facts(read_run(tmp_path / "run")))
    assert found["inputs"] == "1 of 4 done (0:4)"
    assert found["noise"] == "gaussian, sigma 0.5"
    assert "a function of one row" in found["assumed"]
    assert "how float32 rounds" in found["assumed"]
    assert "lost" not in found
    assert found["draws"] == "n 100, n0 10, seed 0"
    assert "cannot be verified again" in found["note"]


def test_exact_noise_is_told_with_its_grid_its_loss_and_what_is_left_to_assume(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:4", noise="lattice", grid=255)) as store:
        for index, loss in ((0, 1.5e-9), (1, 3e-9)):
            store.append(replace(certificate(index), noise=Noise("lattice", loss, 255, -1020, 1275)))
    found = dict(facts(read_run(tmp_path / "run")))
    assert found["noise"] == "lattice of step 1/255, sigma 0.5"
    assert found["lost"].startswith("3e-09 of alpha at most")
    assert "the adversary's inputs lie on the grid" in found["assumed"]


def test_the_two_forms_of_protocol_paper_are_told_apart() -> None:
    published = CertifyConfig(protocol="paper", n=1000)
    thrifty = CertifyConfig(protocol="paper", n=1000, paper=PaperSearch.thrifty())
    assert protocol_of(published) == "paper: as published, not guaranteed"
    assert protocol_of(thrifty) == "paper: thrifty form, not as published, not guaranteed"
    assert protocol_of(CertifyConfig(paper=PaperSearch.thrifty())) == "sound", "there the settings mean nothing"
    assert draws_asked(published) == "n 1000, n0 500"
    assert draws_asked(thrifty) == "n 1000, n0 500, looks of 256 fixed draws"
    told = dict(facts(StoredRun(Path("run"), spec(config=thrifty), ())))
    assert told["protocol"].startswith("paper: thrifty form")


def test_the_level_says_what_it_is_the_level_of() -> None:
    assert level(spec()) == "0.001 for each input"
    assert level(spec(simultaneous=100, config=CertifyConfig(alpha=1e-5))) == "0.001 for all 100 inputs at once"


def holding(*held: Guarantee) -> StoredRun:
    records = [Record.of(replace(certificate(index), guarantee=one)) for index, one in enumerate(held)]
    return StoredRun(Path("run"), spec(), (*records, Record.failed(19, 1, "no")))


@pytest.mark.parametrize("held", list(Guarantee))
def test_the_mark_of_a_run_is_that_of_its_weakest_record(held: Guarantee) -> None:
    assert mark(holding(Guarantee.EXACT, held, Guarantee.EXACT)) == held.mark
    assert guarantees(holding(Guarantee.EXACT, held)) == tuple(dict.fromkeys((Guarantee.EXACT, held)))


def test_a_record_of_protocol_paper_is_never_guaranteed() -> None:
    """Whatever word it carries."""
    record = Record.of(replace(certificate(), guarantee=Guarantee.EXACT, protocol="paper"))
    assert guarantee_of(record) is Guarantee.NONE
    assert guarantees(StoredRun(Path("run"), spec(), (record,))) == (Guarantee.NONE,)
