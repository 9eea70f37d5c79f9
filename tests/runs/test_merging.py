from pathlib import Path

import numpy as np
import pytest

from doublebubble.errors import RunError
from doublebubble.runs.importing import import_tsv
from doublebubble.runs.merging import merge_runs
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


def shard(path: Path, indices: str, done: range, **changes: object) -> Path:
    with RunStore(path, spec(indices, **changes)) as store:
        for index in done:
            store.append(certificate(index, centres=1))
    return path


def test_shards_become_the_run_that_one_process_would_have_made(tmp_path: Path) -> None:
    whole = read_run(shard(tmp_path / "whole", "0:10", range(10)))
    even, odd = shard(tmp_path / "even", "0:10:2", range(0, 10, 2)), shard(tmp_path / "odd", "1:10:2", range(1, 10, 2))
    merged = merge_runs([odd, even], tmp_path / "merged")
    assert merged.spec == whole.spec
    assert list(merged.records) == list(whole.records)
    for record in merged.records:
        mine, theirs = merged.centres(record), whole.centres(record)
        assert mine is not None
        assert theirs is not None
        assert np.array_equal(mine, theirs)


def test_inputs_that_a_shard_lacks_stay_to_be_done(tmp_path: Path) -> None:
    first, second = shard(tmp_path / "a", "0:5", range(3)), shard(tmp_path / "b", "5:10", range(5, 10))
    merged = merge_runs([first, second], tmp_path / "merged")
    assert merged.missing == (3, 4)
    shard(tmp_path / "a", "0:5", range(3, 5))
    assert merge_runs([first, second], tmp_path / "merged").missing == ()


def test_overlapping_shards_must_agree(tmp_path: Path) -> None:
    first, second = shard(tmp_path / "a", "0:5", range(5)), shard(tmp_path / "b", "3:8", range(3, 8))
    assert len(merge_runs([first, second], tmp_path / "merged").records) == 8
    with RunStore(tmp_path / "c", spec("0:5")) as store:
        store.append(certificate(2, radius=0.9))
    with pytest.raises(RunError, match=r"input 2: .*a and .*c hold different outcomes"):
        merge_runs([first, tmp_path / "c"], tmp_path / "other")


def test_shards_of_different_runs_are_refused_with_the_fields(tmp_path: Path) -> None:
    first, second = shard(tmp_path / "a", "0:5", range(5)), shard(tmp_path / "b", "5:9", range(5, 9), sigma=0.25)
    with pytest.raises(RunError, match=r"cannot be merged with .*a: sigma: 0.5 -> 0.25"):
        merge_runs([first, second], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_imported_runs_and_nothing_cannot_be_merged(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("idx\tlabel\tpredict\tradius\n0\t1\t1\t0.5\n")
    import_tsv(tmp_path / "a.tsv", tmp_path / "run")
    with pytest.raises(RunError, match="imported runs cannot be merged"):
        merge_runs([tmp_path / "run"], tmp_path / "merged")
    with pytest.raises(RunError, match="at least one run"):
        merge_runs([], tmp_path / "merged")
