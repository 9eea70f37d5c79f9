"""Shards of one run put together: all but the inputs must agree, and no input may have two different outcomes."""

from collections.abc import Sequence
from pathlib import Path

from doublebubble.errors import RunError
from doublebubble.runs.indices import format_indices
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec, differences
from doublebubble.runs.store import RunStore, StoredRun, read_run


def merge_runs(shards: Sequence[Path], out: Path) -> StoredRun:
    """The union of the shards' inputs and records as a new run; inputs that a shard still lacks stay to be done.

    An interrupted merge goes on when it is asked for again.
    """
    if not shards:
        raise RunError("merge: expected at least one run")
    runs = [read_run(path) for path in shards]
    specs = [_require_certify(run) for run in runs]
    indices = sorted({index for spec in specs for index in spec.index_list})
    merged = [spec.model_copy(update={"indices": format_indices(indices)}) for spec in specs]
    for run, spec in zip(runs[1:], merged[1:], strict=True):
        if changed := differences(merged[0], spec):
            raise RunError(f"{run.path}: cannot be merged with {runs[0].path}: {'; '.join(changed)}")
    chosen: dict[int, tuple[StoredRun, Record]] = {}
    for run in runs:
        for record in run.records:
            first, same = chosen.setdefault(record.index, (run, record))
            if record.without_time() != same.without_time():
                raise RunError(f"input {record.index}: {first.path} and {run.path} hold different outcomes for it")
    with RunStore(out, merged[0]) as store:
        done = {record.index for record in store.records}
        for index in sorted(set(chosen) - done):
            run, record = chosen[index]
            store.append_copy(record, run)
    return read_run(out)


def _require_certify(run: StoredRun) -> RunSpec:
    if not isinstance(run.spec, RunSpec):
        raise RunError(f"{run.path}: was imported, and imported runs cannot be merged")
    return run.spec
