"""A run's inputs only ever grow: what was asked for is added, whatever happens between, and nothing is lost."""

from pathlib import Path

import pytest

from doublebubble.errors import RunError
from doublebubble.runs import store as storing
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


def begin(path: Path, indices: str, count: int) -> bytes:
    with RunStore(path, spec(indices)) as store:
        for index in range(count):
            store.append(certificate(index))
    return (path / "records.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("before", "asked", "after"),
    [
        ("0:5", "0:8", "0:8"),
        ("0:5", "3:8", "0:8"),
        ("0:5", "10:12", "0:5,10:12"),
        ("0:8", "0:5", "0:8"),
    ],
)
def test_a_run_covers_all_that_it_was_asked_for(tmp_path: Path, before: str, asked: str, after: str) -> None:
    records = begin(tmp_path, before, 5)
    with RunStore(tmp_path, spec(asked)) as store:
        assert [record.index for record in store.records] == [0, 1, 2, 3, 4]
    found = read_run(tmp_path)
    assert isinstance(found.spec, RunSpec)
    assert found.spec == spec(after)
    assert (tmp_path / "records.jsonl").read_bytes() == records


def test_a_crash_while_growing_leaves_the_old_run_or_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path, "0:5", 5)

    def crash(path: Path, content: bytes) -> None:
        path.with_name(path.name + ".tmp").write_bytes(content[:10])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(storing, "write_whole", crash)
        with pytest.raises(KeyboardInterrupt), RunStore(tmp_path, spec("0:8")):
            pass
    assert read_run(tmp_path).spec == spec("0:5")
    with RunStore(tmp_path, spec("0:8")) as store:
        store.append(certificate(7))
    assert [record.index for record in read_run(tmp_path).records] == [0, 1, 2, 3, 4, 7]


def test_other_settings_are_refused_also_for_other_inputs_and_change_nothing(tmp_path: Path) -> None:
    begin(tmp_path, "0:5", 5)
    before = (tmp_path / "spec.json").read_bytes()
    with (
        pytest.raises(RunError, match=r"another specification \(sigma: 0.5 -> 0.25\)"),
        RunStore(tmp_path, spec("0:8", sigma=0.25)),
    ):
        pass
    assert (tmp_path / "spec.json").read_bytes() == before


def test_a_run_without_a_record_takes_other_settings(tmp_path: Path) -> None:
    begin(tmp_path, "0:5", 0)
    with RunStore(tmp_path, spec("0:3", sigma=0.25)) as store:
        store.append(certificate(1))
    assert read_run(tmp_path).spec == spec("0:3", sigma=0.25)


def test_a_reader_sees_a_whole_run_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path, "0:5", 5)
    read = storing.read_spec

    def grown_meanwhile(path: Path) -> object:
        found = read(path)
        with monkeypatch.context() as patched:
            patched.setattr(storing, "read_spec", read)
            with RunStore(path, spec("0:8")) as store:
                if len(store.records) == 5:
                    store.append(certificate(7))
        return found

    monkeypatch.setattr(storing, "read_spec", grown_meanwhile)
    assert [record.index for record in read_run(tmp_path).records] == [0, 1, 2, 3, 4]
