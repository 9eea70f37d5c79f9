"""A packed run is the run: records, centres, and an audit that confirms it; what is no run is refused."""

import shutil
import tarfile
from pathlib import Path

import pytest

from docs import generate_reproduction
from doublebubble.config import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.engines.local import LocalEngine
from doublebubble.errors import RunError
from doublebubble.facade.job import make_job
from doublebubble.models.checkpoints import WEIGHTS
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.packed import pack_runs, packed_as, read_packed, unpacked
from doublebubble.runs.attacks import store_attack
from doublebubble.runs.store import RunStore, read_run
from doublebubble.training import preset
from doublebubble.training.loop import SETTINGS
from doublebubble.training.metrics import METRICS, EpochMetrics, append_metrics
from tests.engines.centroids import make
from tests.reproduce.invented import SCALE
from tests.runs.test_attacks import attacked


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "runs" / "digits-sound-full"
    config = CertifyConfig(n=400, n0=100, methods=("cohen", "boundary", "profile"))
    job = make_job(make(), load_dataset("digits", "test"), 0.5, config, indices="0:6", batch_size=64)
    with RunStore(path, job.spec) as store:
        execute(LocalEngine(job.recipe.build()), job.groups(store), store, lambda record: None)
    return path


def test_a_packed_run_is_the_run_and_equal_runs_pack_alike(run: Path, tmp_path: Path) -> None:
    pack_runs([run], tmp_path)
    file = tmp_path / packed_as(run.name)
    assert file.stat().st_size < (run / "records.jsonl").stat().st_size
    assert read_packed(file)[run.name].records == read_run(run).records
    with unpacked(file) as folder:
        found, original = read_run(folder / run.name), read_run(run)
        for mine, theirs in zip(found.records, original.records, strict=True):
            a, b = found.centres(mine), original.centres(theirs)
            assert (a is None) == (b is None)
            assert a is None or b is None or (a == b).all()
    assert not folder.exists()
    pack_runs([run], tmp_path / "again")
    assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_runs_of_one_number_of_draws_lie_together_whenever_they_came_and_take_the_room_of_one(
    run: Path, tmp_path: Path
) -> None:
    names = ["net-sound-full-n400-6inputs-auto", "net-sound-full-n400-6inputs-profile", "net-sound-full-n40-6inputs"]
    runs = [Path(shutil.copytree(run, tmp_path / "made" / name)) for name in names]
    pack_runs(runs, tmp_path / "once")
    assert sorted(path.name for path in (tmp_path / "once").iterdir()) == [
        "net-sound-full-n40.tar.xz",
        "net-sound-full-n400.tar.xz",
    ]
    file = Path("net-sound-full-n400.tar.xz")
    alone, both = ((tmp_path / "once" / name).stat().st_size for name in ("net-sound-full-n40.tar.xz", file))
    assert both < 1.2 * alone, "what is repeated takes no room"
    for one in runs:
        pack_runs([one], tmp_path / "by turns")
    pack_runs(runs[:1], tmp_path / "by turns")
    assert (tmp_path / "by turns" / file).read_bytes() == (tmp_path / "once" / file).read_bytes()
    assert list(read_packed(tmp_path / "once" / file)) == names[:2]
    other = tmp_path / "other" / names[0]
    with RunStore(other, read_run(run).spec) as store:
        for record in read_run(run).records:
            store.append_copy(record.model_copy(update={"label": 7}), read_run(run))
    pack_runs([other], tmp_path / "once")
    found = read_packed(tmp_path / "once" / file)
    assert [record.label for record in found[names[0]].records] == [7] * 6, "a run packed again is replaced"
    assert found[names[1]].records == read_run(run).records, "and no other"


def test_committed_sound_records_are_audited_and_a_changed_radius_is_found(run: Path, tmp_path: Path) -> None:
    assert generate_reproduction.pack(run.parent.parent, tmp_path) < 1_000_000
    assert generate_reproduction.audit(tmp_path) == []
    larger = tmp_path / "larger" / run.name
    with RunStore(larger, read_run(run).spec) as store:
        for record in read_run(run).records:
            factor = 1.5 if record.index == 3 else 1.0
            radii = {method: round(radius * factor, 6) for method, radius in record.radii.items()}
            changed = record.model_copy(update={"radius": round(record.radius * factor, 6), "radii": radii})
            store.append_copy(changed, read_run(run))
    pack_runs([larger], tmp_path / "runs")
    (problem,) = generate_reproduction.audit(tmp_path)
    assert "index=3" in problem


def test_attacks_are_packed_with_their_run_and_one_inside_its_radius_is_a_problem(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "made" / "runs" / run.name
    shutil.copytree(run, copy)
    stored = read_run(copy)
    first, second, third = [record for record in stored.records if record.radius > 0][:3]
    for record, times in ((first, 1.5), (second, None)):
        distance = None if times is None else round(times * record.radius, 6)
        store_attack(stored, attacked(record.index, distance, radius=record.radius))
    generate_reproduction.pack(tmp_path / "made", tmp_path)
    assert [(one.index, one.distance is None) for one in Evidence(tmp_path, SCALE).attacks()[run.name]] == [
        (first.index, False),
        (second.index, True),
    ]
    assert f"| {run.name} | 2 | 0 | 1 | 1.50 |" in claims_page(Evidence(tmp_path, SCALE))
    assert generate_reproduction.audit(tmp_path) == []
    store_attack(stored, attacked(third.index, round(0.5 * third.radius, 6), radius=third.radius))
    generate_reproduction.pack(tmp_path / "made", tmp_path)
    (problem,) = generate_reproduction.audit(tmp_path)
    assert problem.endswith(f"index={third.index} was attacked inside its radius")
    assert f"| {run.name} | 3 | 1 | 1 | 1.00 |" in claims_page(Evidence(tmp_path, SCALE))


def test_what_is_no_complete_run_is_refused(run: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    with RunStore(part, read_run(run).spec) as store:
        store.append_copy(read_run(run).records[0], read_run(run))
    with pytest.raises(RunError, match="expected a complete run, 5 inputs have no record"):
        pack_runs([part], tmp_path / "x")
    (tmp_path / "y.tar.xz").write_bytes(b"nonsense")
    with pytest.raises(RunError, match=r"y\.tar\.xz: holds no packed runs"), unpacked(tmp_path / "y.tar.xz"):
        pass
    with tarfile.open(tmp_path / "z.tar.xz", "w:xz") as tar:
        entry = tarfile.TarInfo("../escaped")
        tar.addfile(entry)
    with pytest.raises(RunError, match="holds no packed runs"), unpacked(tmp_path / "z.tar.xz"):
        pass


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "out" / "models" / "digits-gaussian-0.5"
    folder.mkdir(parents=True)
    (folder / SETTINGS).write_text(preset("digits", "gaussian", 0.5, epochs=2).model_dump_json())
    (folder / WEIGHTS).write_bytes(b"weights")
    append_metrics(folder, EpochMetrics(1, 1.0, 0.5, 0.5, 0.1, 3.0))
    return folder


def test_a_model_whose_training_goes_on_is_not_noted(model: Path, tmp_path: Path) -> None:
    note = tmp_path / "results" / "models" / f"{model.name}.json"
    for more in (False, True):
        if more:
            append_metrics(model, EpochMetrics(2, 1.0, 0.5, 0.5, 0.1, 3.0))
        generate_reproduction.pack(tmp_path / "out", tmp_path / "results")
        assert note.exists() is more


def test_a_model_trained_again_keeps_its_note_and_must_have_its_weights(model: Path, run: Path, tmp_path: Path) -> None:
    append_metrics(model, EpochMetrics(2, 1.0, 0.5, 0.5, 0.1, 3.0))
    generate_reproduction.pack(tmp_path / "out", tmp_path / "results")
    note = tmp_path / "results" / "models" / f"{model.name}.json"
    first = note.read_bytes()
    (model / METRICS).unlink()
    for epoch in (1, 2):
        append_metrics(model, EpochMetrics(epoch, 1.0, 0.5, 0.5, 0.1, 700.0))
    generate_reproduction.pack(tmp_path / "out", tmp_path / "results")
    assert note.read_bytes() == first
    (model / WEIGHTS).write_bytes(b"other weights")
    shutil.copytree(run, tmp_path / "out" / "runs" / run.name)
    with pytest.raises(RunError, match="other weights than those behind the runs that are packed already"):
        generate_reproduction.pack(tmp_path / "out", tmp_path / "results")
    assert not (tmp_path / "results" / "runs").exists(), "no run of theirs is packed either"
