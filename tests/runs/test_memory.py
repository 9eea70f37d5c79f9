"""A run in memory holds what the same run on disk holds."""

from pathlib import Path

import numpy as np
import pytest

from doublebubble.certificate import Certificate
from doublebubble.runs.memory import IN_MEMORY, MemoryStore, open_store
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


@pytest.mark.parametrize("centres", [True, False])
def test_memory_and_disk_hold_the_same(tmp_path: Path, centres: bool) -> None:
    made = spec(centres=centres)
    outcomes: list[Certificate | Record] = [
        certificate(2),
        certificate(0, centres=2),
        Record.failed(1, 0, "input 1: no"),
    ]
    with open_store(None, made) as memory, open_store(tmp_path / "run", made) as disk:
        for outcome in outcomes:
            assert memory.append(outcome) == disk.append(outcome)
        kept = memory.run()
        assert kept.records == disk.run().records
    stored = read_run(tmp_path / "run")
    assert (kept.path, kept.spec, kept.missing) == (IN_MEMORY, made, stored.missing)
    for ours, theirs in zip(kept.records, stored.records, strict=True):
        one, other = kept.centres(ours), stored.centres(theirs)
        assert (one is None) == (other is None) == (ours.index != 0 or not centres)
        if one is not None and other is not None:
            assert one.shape == (2, 1, 2, 2)
            np.testing.assert_array_equal(one, other)


def test_what_was_read_before_does_not_grow_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store(None, spec())
    assert isinstance(store, MemoryStore)
    store.append(certificate(0))
    before = store.run()
    store.append(certificate(1, centres=1))
    assert [record.index for record in before.records] == [0]
    assert [record.index for record in store.run().records] == [0, 1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_asks_for_a_run_on_disk(tmp_path: Path) -> None:
    assert isinstance(open_store(tmp_path / "run", spec()), RunStore)
