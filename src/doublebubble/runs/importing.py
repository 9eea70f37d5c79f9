"""Other tools' results as runs: the field's TSV, read line by line and checked, `correct` computed again.

One tool writes a running total into `correct`, so that column is never believed.
"""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from doublebubble.errors import DataError
from doublebubble.runs.indices import format_indices
from doublebubble.runs.own_csv import read_own_csv
from doublebubble.runs.record import Record
from doublebubble.runs.spec import ImportSpec
from doublebubble.runs.store import RunStore
from doublebubble.types import ABSTAIN, Guarantee

_NEEDED = ("idx", "label", "predict", "radius")
_CLOCK = re.compile(r"(?:(\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)")


def import_file(source: Path, out: Path) -> int:
    """Make a run of a table, a CSV that `export` wrote if it is called so, else the field's TSV; returns its size."""
    return import_csv(source, out) if source.suffix.lower() == ".csv" else import_tsv(source, out)


def import_csv(source: Path, out: Path) -> int:
    """Make a run of a CSV that `export` wrote; the guarantee is `unstated`, since a table holds no evidence."""
    return _import(source, out, read_own_csv)


def import_tsv(source: Path, out: Path) -> int:
    """Make a run of a TSV file with the columns idx, label, predict, radius and possibly time; returns its size.

    Radii are rounded down to 6 decimals. What stands behind them is not known here and recorded as `unstated`.
    """
    return _import(source, out, lambda path, text: _records(path, text.splitlines()))


def _import(source: Path, out: Path, read: Callable[[Path, str], list[Record]]) -> int:
    try:
        content = source.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{source}: cannot be read as text ({error})") from error
    records = read(source, text)
    indices = sorted(record.index for record in records)
    spec = ImportSpec(
        source=source.name,
        digest=hashlib.sha256(content).hexdigest(),
        size=indices[-1] + 1,
        indices=format_indices(indices),
    )
    with RunStore(out, spec) as store:
        done = {record.index for record in store.records}
        for record in records:
            if record.index not in done:
                store.append(record)
    return len(records)


def _records(source: Path, lines: Sequence[str]) -> list[Record]:
    names = lines[0].split("\t") if lines else []
    lacking = [name for name in _NEEDED if name not in names]
    if lacking:
        raise DataError(
            f"{source}: line 1: expected the columns {' '.join(_NEEDED)}, {lacking[0]} is not among {names}"
        )
    records: dict[int, Record] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        record = _record(f"{source}: line {number}", names, line.split("\t"))
        if record.index in records:
            raise DataError(f"{source}: line {number}: input {record.index} was on an earlier line already")
        records[record.index] = record
    if not records:
        raise DataError(f"{source}: expected at least one line of results below the columns' names")
    return list(records.values())


def _record(where: str, names: Sequence[str], values: Sequence[str]) -> Record:
    if len(values) != len(names):
        raise DataError(f"{where}: expected {len(names)} values between tabs, got {len(values)}")
    row = dict(zip(names, values, strict=True))
    index, label, prediction = (_integer(where, name, row[name]) for name in ("idx", "label", "predict"))
    radius = _number(where, "radius", row["radius"])
    if index < 0 or prediction < ABSTAIN or not (math.isfinite(radius) and radius >= 0):
        raise DataError(f"{where}: expected idx >= 0, predict >= -1 and a finite radius >= 0, got {' '.join(values)}")
    if prediction == ABSTAIN and radius > 0:
        raise DataError(f"{where}: expected radius 0 where no class is predicted, got {radius}")
    return Record(
        index=index,
        label=label,
        prediction=prediction,
        status="imported",
        radius=radius,
        radii={},
        guarantee=Guarantee.UNSTATED,
        reason="imported",
        seconds={"total": _seconds(where, row["time"])} if row.get("time") else {},
    )


def _integer(where: str, name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"{where}: {name}: expected an integer, got {text!r}") from None


def _number(where: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{where}: {name}: expected a number, got {text!r}") from None


def _seconds(where: str, text: str) -> float:
    """Seconds, or a clock like `0:01:15.4`, as tools write them."""
    if clock := _CLOCK.fullmatch(text.strip()):
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return days * 86400 + hours * 3600 + minutes * 60 + seconds
    seconds = _number(where, "time", text)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise DataError(f"{where}: time: expected a finite number of seconds >= 0, got {text!r}")
    return seconds
