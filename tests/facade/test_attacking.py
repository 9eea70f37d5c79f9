"""The certificates of whole runs under attack: kept, resumed, and never with another model or other data."""

from pathlib import Path
from typing import Any

import pytest
from torch import nn

import doublebubble as db
from doublebubble.data import load_dataset
from doublebubble.errors import RunError, SettingError
from doublebubble.facade import attacking
from doublebubble.facade.attacking import attack_run
from doublebubble.runs.attacks import AttackSettings, stored_attacks
from doublebubble.runs.importing import import_tsv
from doublebubble.runs.store import RunStore
from tests.cli.test_picture import other_model
from tests.engines.centroids import make

QUICK: dict[str, Any] = {"n": 2000, "draws": 64, "steps": 3, "restarts": 1}
_DATA = load_dataset("digits", "test")
X, Y = _DATA.inputs(slice(0, 40)), _DATA.labels[:40]


@pytest.fixture
def run(tmp_path: Path) -> db.Run:
    return db.certify(make(), "digits", 0.5, indices="0:4", n=1000, n0=100, out=tmp_path / "run", quiet=True)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The inputs that are attacked from now on."""
    done = list[int]()

    def watched(certificate: db.Certificate, *rest: Any) -> Any:
        done.append(certificate.index)
        return db.attack(certificate, *rest)

    monkeypatch.setattr(attacking, "attack", watched)
    return done


def test_what_is_done_is_kept_and_not_done_again(run: db.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [record.index for record in run.records if record.radius > 0]
    assert len(claims) >= 3
    done = counted(monkeypatch)
    first = run.attack(make(), indices=claims[:1], **QUICK)
    assert done == claims[:1]
    told = list[tuple[int, int]]()
    found = attack_run(run, make(), AttackSettings(**QUICK), seen=lambda at, total: told.append((at, total)))
    assert done == claims
    assert told == [(number + 1, len(claims)) for number in range(len(claims))]
    assert found[0] == first[0]
    assert [one.index for one in found] == claims
    assert all(one.distance is None or one.distance > one.radius for one in found)
    assert db.open_run(run.path).attack(make(), **QUICK) == found
    assert done == claims, "nothing was left to do"
    harder = run.attack(make(), indices=claims[:1], **{**QUICK, "seed": 5})
    assert done == [*claims, claims[0]]
    assert len(stored_attacks(run)[claims[0]]) == 2
    distances = [one.distance for one in stored_attacks(run)[claims[0]] if one.distance is not None]
    assert harder[0].distance == min(distances)


def test_the_nearest_class_of_a_linear_classifier_is_found(run: db.Run) -> None:
    """Nearest centroids are linear, and so is their smoothed version but for rivals that share votes: about as far."""
    model = make()
    weight, bias = (parameter.detach().double() for parameter in model.parameters())
    for one in run.attack(make(), indices="0:2", n=10_000, draws=200):
        x = _DATA.inputs(slice(one.index, one.index + 1)).double().flatten()
        leads = (weight @ x + bias)[one.prediction] - (weight @ x + bias)
        lengths = (weight[one.prediction] - weight).norm(dim=1)
        straight = min(float(leads[k] / lengths[k]) for k in range(10) if k != one.prediction)
        assert one.distance is not None
        assert 0.8 * straight < one.distance < straight + 0.3


def test_another_model_and_other_data_are_refused(run: db.Run) -> None:
    with pytest.raises(RunError, match="the run was made with another model: expected digest"):
        run.attack(other_model(), **QUICK)
    with pytest.raises(RunError, match="this digits is not the one that the run was made with"):
        run.attack(make(), (X, Y), **QUICK)
    with pytest.raises(RunError, match="the inputs are not at hand"):
        run.attack(make(), "nowhere", **QUICK)
    with pytest.raises(SettingError, match="n: "):
        run.attack(make(), n=0)
    assert not (run.path / "attacks").exists()


def test_runs_in_memory_and_without_centres_are_attacked_too(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n": 1000, "n0": 100, "methods": "boundary", "quiet": True, "indices": "0:3"}
    memory = db.certify(make(), (X, Y), 0.5, **settings)
    found = memory.attack(make(), (X, Y), **QUICK)
    kept = db.certify(make(), (X, Y), 0.5, centres=False, out=tmp_path / "run", **settings)
    without = kept.attack(make(), (X, Y), **QUICK)
    assert [one.index for one in found] == [one.index for one in without]
    assert stored_attacks(memory) == {}
    assert len(stored_attacks(kept)) == len(without)


def test_a_radius_that_was_enlarged_is_refuted(run: db.Run, tmp_path: Path) -> None:
    with RunStore(tmp_path / "forged", run.spec) as store:
        for record in run.records:
            store.append(record.model_copy(update={"radius": 2 * record.radius + 0.5, "centres_digest": None}))
    found = db.open_run(tmp_path / "forged").attack(make(), **QUICK)
    assert found
    assert all(one.inside for one in found)


def test_an_imported_run_has_nothing_to_attack_it_with(tmp_path: Path) -> None:
    (tmp_path / "run.tsv").write_text("idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.3\t1\t0.1\n")
    import_tsv(tmp_path / "run.tsv", tmp_path / "imported")
    with pytest.raises(RunError, match="was imported"):
        db.open_run(tmp_path / "imported").attack(nn.Linear(1, 1).eval())
