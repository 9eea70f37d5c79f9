"""Runs as tables: a pandas frame, and files that other tools read. Radii are only ever rounded down."""

import io
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from doublebubble.errors import RunError, SettingError
from doublebubble.files import write_whole
from doublebubble.runs.record import Record, radius_text
from doublebubble.runs.spec import canonical, spec_hash
from doublebubble.runs.store import StoredRun, read_run
from doublebubble.types import ABSTAIN

ExportFormat = Literal["tsv", "csv", "parquet", "jsonl"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
TSV_COLUMNS = ("idx", "label", "predict", "radius", "correct", "time")


def load_run(path: str | Path) -> pd.DataFrame:
    """The records of a run, one row for each input in rising order.

    Columns: index, label, prediction, radius, correct, status, guarantee, alpha, protocol, method, selected,
    whole_domain, reason, error, draws, seconds, `draws_<stage>`, `radius_<method>`, `seconds_<stage>`,
    `votes_<stage>`. `selected` is the class that most select draws voted for, the one that every radius of the row is
    about, abstained or not; without select draws, the one that most certify draws voted for. Votes are written as
    `class:votes`. Inputs that abstained, failed or were misclassified are rows like any other. `attrs` names the run
    and the hash of its specification.

    >>> import tempfile, torch, doublebubble as db
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> run = db.certify(model, torch.rand(3, 1, 2, 2), sigma=0.5, n=100, n0=10, out=folder, quiet=True)
    >>> db.load_run(folder)["draws_certify"].tolist()
    [100, 100, 100]
    """
    return frame(read_run(Path(path)))


def frame(run: StoredRun) -> pd.DataFrame:
    """The table of a run that was read already."""
    if not run.records:
        raise RunError(f"{run.path}: the run holds no record yet")
    rows = [_row(record) for record in sorted(run.records, key=lambda record: record.index)]
    table = pd.DataFrame(rows).astype({"label": "Int64", "correct": "boolean"})
    for column in ("alpha", "protocol", "method", "error"):
        table[column] = table[column].astype(
            "float64" if column == "alpha" else "str" if column != "error" else "object"
        )
    first = list(_row(run.records[0]))
    table = table[[*first, *sorted(column for column in table.columns if column not in first)]]
    table.attrs.update(run=str(run.path), spec_hash=spec_hash(run.spec))
    return table


def _row(record: Record) -> dict[str, object]:
    row: dict[str, object] = {
        "index": record.index,
        "label": record.label,
        "prediction": record.prediction,
        "radius": record.radius,
        "correct": record.correct,
        "status": record.status,
        "guarantee": record.guarantee.value,
        "alpha": record.alpha,
        "protocol": record.protocol,
        "method": record.method,
        "selected": _leader(record.counts.get("select") or record.counts.get("input", {})),
        "whole_domain": record.whole_domain,
        "reason": record.reason,
        "error": record.error,
        "draws": sum(record.draws.values()),
        "seconds": sum(record.seconds.values()),
    }
    row |= {f"radius_{method}": radius for method, radius in record.radii.items()}
    row |= {f"draws_{stage}": number for stage, number in record.draws.items()}
    row |= {f"seconds_{stage}": number for stage, number in record.seconds.items()}
    row |= {f"votes_{stage}": _votes_text(votes) for stage, votes in record.counts.items()}
    return {_text(name): _text(value) if isinstance(value, str) else value for name, value in row.items()}


def _votes_text(votes: dict[int, int]) -> str:
    return " ".join(f"{label}:{number}" for label, number in sorted(votes.items()))


def _text(text: str) -> str:
    """The text as files of text can hold it: JSON knows halves of characters, they do not."""
    return text.encode("utf-8", "replace").decode()


def _leader(votes: dict[int, int]) -> int:
    """The class with most votes, the lowest number among equals, as the protocols choose it; ABSTAIN without votes."""
    return min(votes, key=lambda label: (-votes[label], label), default=ABSTAIN)


def export_text(run: StoredRun, kind: ExportFormat) -> str:
    """The run as text: tsv in the columns the field's scripts read, csv with all columns, or jsonl with all records."""
    if kind == "tsv":
        return _tsv(run)
    if kind == "csv":
        return frame(run).to_csv(index=False, lineterminator="\n")
    if kind == "jsonl":
        records = sorted(run.records, key=lambda record: record.index)
        return "".join(canonical(record.model_dump(mode="json")) + "\n" for record in records)
    raise SettingError(f"format: expected one of tsv, csv, jsonl as text, got {kind!r}")


def export_file(run: StoredRun, kind: ExportFormat, path: Path) -> None:
    """Write the run to a file in any of the formats; the file appears whole or not at all."""
    content = _parquet(run) if kind == "parquet" else export_text(run, kind).encode()
    try:
        write_whole(path, content)
    except OSError as error:
        raise RunError(f"{path}: the export could not be written ({error})") from error


def _parquet(run: StoredRun) -> bytes:
    content = io.BytesIO()
    frame(run).to_parquet(content, index=False)
    return content.getvalue()


def _tsv(run: StoredRun) -> str:
    lines = ["\t".join(TSV_COLUMNS)]
    for record in sorted(run.records, key=lambda record: record.index):
        if record.label is None:
            raise RunError(f"{run.path}: the tsv format needs labels, input {record.index} has none; use csv")
        values = (
            str(record.index),
            str(record.label),
            str(record.prediction),
            radius_text(record.radius),
            str(int(record.prediction == record.label)),
            f"{sum(record.seconds.values()):.3f}",
        )
        lines.append("\t".join(values))
    return "\n".join(lines) + "\n"
