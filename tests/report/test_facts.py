from pathlib import Path

from doublebubble.config import CertifyConfig
from doublebubble.report.facts import facts, level
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


def test_a_run_is_told_in_words(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec("0:4", centres=False)) as store:
        store.append(certificate(2))
    found = dict(facts(read_run(tmp_path / "run")))
    assert found["inputs"] == "1 of 4 done (0:4)"
    assert found["noise"] == "sigma 0.5"
    assert found["draws"] == "n 100, n0 10, seed 0"
    assert "cannot be verified again" in found["note"]


def test_the_level_says_what_it_is_the_level_of() -> None:
    assert level(spec()) == "0.001 for each input"
    assert level(spec(simultaneous=100, config=CertifyConfig(alpha=1e-5))) == "0.001 for all 100 inputs at once"
