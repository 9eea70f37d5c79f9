import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from doublebubble.errors import RunError
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of 20 inputs of which five are done."""
    path = tmp_path / "run"
    with RunStore(path, spec()) as store:
        for index in range(5):
            store.append(certificate(index, radius=0.1 * index, centres=index % 2))
    return path


def records_file(run: Path) -> Path:
    return run / "records.jsonl"


def test_what_was_appended_is_read_back(run: Path) -> None:
    found = read_run(run)
    assert found.spec == spec()
    assert [record.index for record in found.records] == [0, 1, 2, 3, 4]
    assert found.missing == tuple(range(5, 20))
    assert not found.torn


def test_resuming_goes_on_behind_the_records(run: Path) -> None:
    before = records_file(run).read_bytes()
    with RunStore(run, spec()) as store:
        assert [record.index for record in store.records] == [0, 1, 2, 3, 4]
        store.append(certificate(9))
    assert records_file(run).read_bytes().startswith(before)
    assert [record.index for record in read_run(run).records] == [0, 1, 2, 3, 4, 9]


def test_centres_come_back_exactly(run: Path) -> None:
    found = read_run(run)
    centres = found.centres(found.records[3])
    expected = certificate(3, centres=1).balls[1].centre
    assert centres is not None
    assert centres.dtype == np.float64
    assert expected is not None
    assert np.array_equal(centres[0], expected)
    assert found.centres(found.records[2]) is None


def test_centres_that_need_float64_are_kept_in_it(tmp_path: Path) -> None:
    precise = certificate(1, centres=1)
    ball = precise.balls[1]
    assert ball.centre is not None
    ball.centre[0, 0, 0] = 0.1  # not a float32
    with RunStore(tmp_path / "run", spec()) as store:
        record = store.append(precise)
    stored = read_run(tmp_path / "run").centres(record)
    assert stored is not None
    assert stored[0, 0, 0, 0] == 0.1


def test_without_centres_none_are_stored(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec(centres=False)) as store:
        assert store.append(certificate(1, centres=1)).centres_digest is None
    assert not (tmp_path / "run" / "centres").exists()


def test_damaged_and_missing_centres_are_named(run: Path) -> None:
    found = read_run(run)
    path = run / "centres" / "1.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(RunError, match=r"1\.npy: damaged"):
        found.centres(found.records[1])
    path.unlink()
    with pytest.raises(RunError, match=r"1\.npy: the centres of input 1 cannot be read"):
        found.centres(found.records[1])


def test_a_tail_cut_anywhere_is_dropped_and_nothing_else(run: Path) -> None:
    whole = records_file(run).read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(whole) if byte == ord("\n"))]
    for cut in range(starts[3] + 1, starts[4], 7):
        records_file(run).write_bytes(whole[:cut])
        assert read_run(run).torn
        assert records_file(run).read_bytes() == whole[:cut]  # reading repairs nothing
        with RunStore(run, spec()) as store:
            assert store.repaired
            assert [record.index for record in store.records] == [0, 1, 2]
        assert records_file(run).read_bytes() == whole[: starts[3]]


@pytest.mark.forged_records("bytes are flipped")
def test_every_other_flipped_byte_is_refused_by_its_line_and_left_alone(run: Path) -> None:
    whole = records_file(run).read_bytes()
    rng = np.random.default_rng(1)
    for at in rng.choice(len(whole) - 1, 60, replace=False):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        records_file(run).write_bytes(bytes(damaged))
        line = whole[:at].count(b"\n") + 1
        # A flip that makes a newline cuts the line in two: both parts are on lines named here or the next.
        with pytest.raises(RunError, match=rf"records\.jsonl: line {line}: damaged"), RunStore(run, spec()):
            pass
        assert records_file(run).read_bytes() == bytes(damaged)


def test_a_record_twice_and_a_record_of_no_input_of_the_run_are_refused(run: Path) -> None:
    whole = records_file(run).read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    records_file(run).write_bytes(whole + first)
    with pytest.raises(RunError, match="line 6: input 0 is on line 1 already"):
        read_run(run)
    other = run.parent / "other"
    with RunStore(other, spec("0:3")) as store:
        store.append(certificate(7))
    with pytest.raises(RunError, match=r"line 1: input 7 is not one of the run's \(0:3\)"):
        read_run(other)


def test_another_specification_is_refused_with_the_fields(run: Path) -> None:
    with (
        pytest.raises(RunError, match=r"another specification \(sigma: 0.5 -> 0.25\)"),
        RunStore(run, spec(sigma=0.25)),
    ):
        pass
    with RunStore(run, spec()) as store:
        assert len(store.records) == 5


def test_a_specification_edited_by_hand_is_refused(run: Path) -> None:
    path = run / "spec.json"
    path.write_text(path.read_text().replace('"sigma": 0.5', '"sigma": 0.7'))
    for changed in (spec(), spec(sigma=0.7)):
        with pytest.raises(RunError, match="was changed after it was written"), RunStore(run, changed):
            pass


def test_a_folder_with_other_things_in_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(RunError, match=r"is not a run .* holds thesis\.tex"), RunStore(tmp_path, spec()):
        pass
    with pytest.raises(RunError, match=r"expected a run, found no spec\.json"):
        read_run(tmp_path)


def test_a_second_writer_is_refused_until_the_first_is_gone(run: Path) -> None:
    holder = (
        "import sys, fcntl, os; file = os.open(sys.argv[1], os.O_RDWR); fcntl.flock(file, fcntl.LOCK_EX); "
        "print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(run / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RunError, match="another process is writing this run"), RunStore(run, spec()):
            pass
        process.kill()
    with RunStore(run, spec()) as store, pytest.raises(RunError, match="another process"), RunStore(run, spec()):
        store.append(certificate(8))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_loses_nothing(run: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    before = records_file(run).read_bytes()
    write = os.write

    def half_then_full(file: int, content: memoryview) -> int:
        if len(content) < 20:
            raise OSError(number, os.strerror(number))
        return write(file, content[: len(content) // 2])

    with RunStore(run, spec()) as store:
        monkeypatch.setattr(os, "write", half_then_full)
        with pytest.raises(RunError, match="5 records are safe, writing the next failed: there is no space left"):
            store.append(certificate(8))
        assert records_file(run).read_bytes() == before
        monkeypatch.setattr(os, "write", write)
        store.append(certificate(8))
    assert [record.index for record in read_run(run).records] == [0, 1, 2, 3, 4, 8]


def test_a_file_size_limit_of_the_system_is_a_full_disk(run: Path) -> None:
    size = records_file(run).stat().st_size
    code = (
        "import resource, sys; from pathlib import Path; from doublebubble.runs.store import RunStore\n"
        "from tests.runs.samples import certificate, spec\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 100}, {size + 100}))\n"
        "with RunStore(Path(sys.argv[1]), spec()) as store: store.append(certificate(8))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no space left" in done.stderr
    assert records_file(run).stat().st_size == size


def test_an_interruption_within_a_write_leaves_no_half_line(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = records_file(run).read_bytes()
    write = os.write

    def interrupted(file: int, content: memoryview) -> int:
        write(file, content[:30])
        raise KeyboardInterrupt

    with RunStore(run, spec()) as store:
        monkeypatch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.append(certificate(8))
    assert records_file(run).read_bytes() == before


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(RunError, match="the folder cannot be written"), RunStore(tmp_path / "run", spec()):
        pass


def test_a_run_killed_before_its_specification_was_whole_starts_afresh(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / "spec.json.tmp").write_text('{"form')
    with RunStore(tmp_path, spec()) as store:
        store.append(certificate(1))
    assert len(read_run(tmp_path).records) == 1


def test_a_closed_store_takes_nothing(run: Path) -> None:
    with RunStore(run, spec()) as store:
        pass
    with pytest.raises(RunError, match="not open for writing"):
        store.append(Record.failed(9, None, "no"))
