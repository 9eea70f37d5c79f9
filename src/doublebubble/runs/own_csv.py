"""Rows of the CSV that `export` writes, read back as records: all columns but the guarantee.

A table can be edited and holds no evidence, so what stands behind its radii is recorded as unstated.
"""

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from doublebubble.config import first_problem
from doublebubble.errors import DataError, SettingError
from doublebubble.runs.record import Record
from doublebubble.types import Guarantee

_NEEDED = ("index", "label", "prediction", "radius", "status")
_T = TypeVar("_T")


def read_own_csv(source: Path, text: str) -> list[Record]:
    """The records of an exported table, each input once; a wrong row is named by its line."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    records: dict[int, Record] = {}
    try:
        names = rows.fieldnames or []
        lacking = [name for name in _NEEDED if name not in names]
        if lacking:
            raise DataError(f"{source}: line 1: expected the columns of `export --format csv`, {lacking[0]} is missing")
        for row in rows:
            where = f"{source}: line {rows.line_num}"
            if None in row or None in row.values():
                raise DataError(f"{where}: expected {len(names)} values between commas")
            record = _record(where, row)
            if record.index in records:
                raise DataError(f"{where}: input {record.index} was on an earlier line already")
            records[record.index] = record
    except csv.Error as error:
        raise DataError(f"{source}: line {rows.line_num}: cannot be read as CSV ({error})") from error
    if not records:
        raise DataError(f"{source}: expected at least one line of results below the columns' names")
    return list(records.values())


def _record(where: str, row: Mapping[str, str]) -> Record:
    values: dict[str, object] = {
        "index": row["index"],
        "label": row["label"] or None,
        "prediction": row["prediction"],
        "radius": row["radius"],
        "status": row["status"],
        "guarantee": Guarantee.UNSTATED,
        "radii": _numbered(where, row, "radius_", float),
        "counts": _numbered(where, row, "votes_", _votes),
        "draws": _numbered(where, row, "draws_", _whole),
        "seconds": _numbered(where, row, "seconds_", float),
    }
    values |= {name: row[name] for name in ("alpha", "protocol", "method", "error", "whole_domain") if row.get(name)}
    values["reason"] = row.get("reason", "")
    try:
        return Record(**values)
    except SettingError as error:
        cause = error.__cause__
        said = first_problem(cause) if isinstance(cause, ValidationError) else str(error)
        raise DataError(f"{where}: {said}") from error


def _numbered(where: str, row: Mapping[str, str], prefix: str, read: Callable[[str], _T]) -> dict[str, _T]:
    """The columns of one kind, by method or by stage; an empty cell is none."""
    found: dict[str, _T] = {}
    for name, text in row.items():
        if name.startswith(prefix) and text:
            try:
                found[name.removeprefix(prefix)] = read(text)
            except ValueError:
                raise DataError(f"{where}: {name}: cannot be read, got {text!r:.200}") from None
    return found


def _whole(text: str) -> int:
    """An integer, also as pandas writes one in a column with gaps: 100.0."""
    number = float(text)
    if not number.is_integer():
        raise ValueError("a part of a draw")
    return int(number)


def _votes(text: str) -> dict[int, int]:
    pairs = (word.split(":") for word in text.split())
    return {int(label): int(votes) for label, votes in pairs}
