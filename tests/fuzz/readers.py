"""Every reader of files from elsewhere as a function of bytes, with seeds that it takes.

A reader must return, or raise an error of this package in one sentence: never anything else, whatever the bytes.
"""

import functools
import gzip
import hashlib
import io
import json
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from PIL import Image

from doublebubble.audit.reverify import reverify_run
from doublebubble.data.cifar import read_python_batch
from doublebubble.data.folders import read_classes, read_images, read_tiny_imagenet
from doublebubble.data.idx import read_idx
from doublebubble.errors import DoubleBubbleError
from doublebubble.facade.run import Run
from doublebubble.models import build, load_model, save_model
from doublebubble.models.checkpoints import CARD, WEIGHTS, ModelCard, read_weights
from doublebubble.models.loading import load_classifier
from doublebubble.report.facts import facts
from doublebubble.report.page.run_view import views
from doublebubble.report.page.script_data import run_data
from doublebubble.report.page.sections import making
from doublebubble.runs.encoding import encode
from doublebubble.runs.importing import import_csv, import_tsv
from doublebubble.runs.record import Record
from doublebubble.runs.spec import identity_hash, spec_text
from doublebubble.runs.statistics import summarise
from doublebubble.runs.store import StoredRun, read_run
from doublebubble.runs.tables import export_text, frame
from doublebubble.training.metrics import keep_metrics
from doublebubble.training.settings import preset, read_settings
from tests.runs.samples import certificate, spec

ABOUT = ModelCard(
    arch="cnn",
    dataset="digits",
    shape=(1, 4, 4),
    classes=("a", "b"),
    mean=(0.5,),
    std=(0.25,),
    sigma=0.5,
    method="gaussian",
    epoch=1,
)


@dataclass(frozen=True)
class Reader:
    """Reads bytes that it finds a place for in an empty folder; `seeds` are some that it takes."""

    read: Callable[[bytes, Path], object]
    seeds: Callable[[], list[bytes]]


def _file(name: str, reader: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def read(content: bytes, folder: Path) -> object:
        (folder / name).write_bytes(content)
        return reader(folder / name)

    return read


# Runs


def _use(run: StoredRun) -> None:
    """All that is done with a run from elsewhere; each part may refuse it by itself."""
    parts: list[Callable[[], object]] = [
        lambda: repr(Run.of(run)),
        lambda: repr(Run.of(run).certificates),
        lambda: summarise(frame(run)),
        lambda: frame(run).to_parquet(io.BytesIO()),
        lambda: reverify_run(run),
        lambda: [(run_data(view), making(view)) for view in views([run])],
        lambda: facts(run),
        lambda: export_text(run, "tsv").encode(),
        lambda: export_text(run, "csv").encode(),
        lambda: export_text(run, "jsonl").encode(),
    ]
    for part in parts:
        try:
            part()
        except DoubleBubbleError as error:
            require_one_sentence(error)


def require_one_sentence(error: DoubleBubbleError) -> None:
    """An error that can be shown as one line."""
    said = str(error)
    assert said.strip()
    assert said.isprintable() or not any(ord(character) < 32 for character in said), said


def _read_spec(content: bytes, folder: Path) -> object:
    (folder / "spec.json").write_bytes(content)
    return read_run(folder)


def _read_records(content: bytes, folder: Path) -> StoredRun:
    (folder / "spec.json").write_text(spec_text(spec()))
    (folder / "records.jsonl").write_bytes(content)
    return read_run(folder)


def _read_record(content: bytes, folder: Path) -> object:
    """A line whose checksum is right, as a forger would write it; and then all that is done with runs."""
    digest = identity_hash(spec()).encode()
    body = content.replace(b"\n", b" ").removesuffix(b"}")
    line = body + b',"check":"' + hashlib.sha256(digest + body).hexdigest()[:16].encode() + b'"}\n'
    run = _read_records(line, folder)
    _use(run)
    return run


def _record_seeds() -> list[bytes]:
    records = (Record.of(certificate(3)), Record.of(certificate(0, centres=1)), Record.failed(2, 1, "no"))
    return [json.dumps(record.model_dump(mode="json")).encode() for record in records]


def _records_seeds() -> list[bytes]:
    body = Record.of(certificate(3)).model_dump_json().encode()
    return [body + b',"check":"0123456789abcdef"}\n', b"\n"]


def _read_centres(content: bytes, folder: Path) -> object:
    made = Record.of(certificate(0, centres=1), hashlib.sha256(content).hexdigest())
    (folder / "centres").mkdir()
    (folder / "centres" / "0.npy").write_bytes(content)
    run = _read_records(encode(made, identity_hash(spec())), folder)
    reverify_run(run)
    return Run.of(run).certificates


def _centres_seeds() -> list[bytes]:
    found = []
    for array in (np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 4)), np.zeros(3, ">f4"), np.zeros(2, object)):
        buffer = io.BytesIO()
        np.save(buffer, array)
        found.append(buffer.getvalue())
    return found


# Models


@functools.cache
def _small_weights() -> bytes:
    model = build("cnn", (1, 4, 4), 2, (0.5,), (0.25,))
    return safetensors.torch.save(model.state_dict())


def _read_card(content: bytes, folder: Path) -> object:
    (folder / WEIGHTS).write_bytes(_small_weights())
    (folder / CARD).write_bytes(content)
    return load_model(folder)


def _read_safetensors(content: bytes, folder: Path) -> object:
    save_model(folder, build("cnn", (1, 4, 4), 2, (0.5,), (0.25,)), ABOUT)
    (folder / WEIGHTS).write_bytes(content)
    return load_model(folder)


def _safetensors_seeds() -> list[bytes]:
    return [safetensors.torch.save({"a": torch.zeros(2)}), safetensors.torch.save({})]


def _weights_seeds() -> list[bytes]:
    found = []
    for old in (False, True):
        buffer = io.BytesIO()
        torch.save({"a": torch.zeros(2)}, buffer, _use_new_zipfile_serialization=not old)
        found.append(buffer.getvalue())
    return found


def _read_model_file(content: bytes, folder: Path) -> object:
    (folder / "m.pt2").write_bytes(content)
    return load_classifier(str(folder / "m.pt2"), (1, 4, 4), 2, (0.5,), (0.25,))


@functools.cache
def _model_file_seeds() -> list[bytes]:
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2).eval(), (torch.zeros(1, 2),)), buffer)
    return [buffer.getvalue()]


# Data


def _read_annotations(content: bytes, folder: Path) -> object:
    (folder / "wnids.txt").write_text("n1\nn2\n")
    (folder / "words.txt").write_bytes(content)
    (folder / "val" / "images").mkdir(parents=True)
    (folder / "val" / "val_annotations.txt").write_bytes(content)
    Image.new("RGB", (2, 2)).save(folder / "val" / "images" / "a.png")
    return read_tiny_imagenet(folder, "test")


def _idx_seeds() -> list[bytes]:
    return [struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 2, 2) + bytes(8)]


def _picture_seeds() -> list[bytes]:
    found = []
    for kind in ("PNG", "JPEG", "BMP", "PPM", "WEBP"):
        buffer = io.BytesIO()
        Image.new("RGB", (3, 2)).save(buffer, kind)
        found.append(buffer.getvalue())
    return found


def _stored_sample() -> StoredRun:
    records = (Record.of(certificate(0)), Record.failed(1, None, "broken, twice"))
    return StoredRun(Path("sample"), spec("0:2"), records)


READERS: dict[str, Reader] = {
    "spec": Reader(_read_spec, lambda: [spec_text(spec()).encode()]),
    "records": Reader(_read_records, _records_seeds),
    "record": Reader(_read_record, _record_seeds),
    "centres": Reader(_read_centres, _centres_seeds),
    "card": Reader(_read_card, lambda: [ABOUT.model_dump_json().encode()]),
    "safetensors": Reader(_read_safetensors, _safetensors_seeds),
    "weights": Reader(_file("w.pt", read_weights), _weights_seeds),
    "model-file": Reader(_read_model_file, _model_file_seeds),
    "idx": Reader(_file("x", lambda path: read_idx(path, 3)), _idx_seeds),
    "idx-gz": Reader(_file("x.gz", lambda path: read_idx(path, 3)), lambda: [gzip.compress(_idx_seeds()[0], mtime=0)]),
    "cifar-python": Reader(
        _file("batch", read_python_batch),
        lambda: [pickle.dumps({b"data": np.zeros((1, 3072), np.uint8), b"labels": [3]}, p) for p in (2, 4)],
    ),
    "picture": Reader(_file("x.png", lambda path: read_images([path], None, "as found")), _picture_seeds),
    "classes": Reader(_file("classes.txt", read_classes), lambda: [b"cat\ndog\n"]),
    "annotations": Reader(_read_annotations, lambda: [b"a.png\tn1\t0\t0\t1\t1\n"]),
    "tsv": Reader(
        lambda content, folder: _file("x.tsv", lambda path: import_tsv(path, folder / "run"))(content, folder),
        lambda: [b"idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.5\t1\t0:00:01.5\n3\t1\t-1\t0.0\t0\t2.5\n"],
    ),
    "csv": Reader(
        lambda content, folder: _file("x.csv", lambda path: import_csv(path, folder / "run"))(content, folder),
        lambda: [export_text(_stored_sample(), "csv").encode()],
    ),
    "settings": Reader(
        _file("settings.json", read_settings), lambda: [preset("digits", "gaussian", 0.5).model_dump_json().encode()]
    ),
    "metrics": Reader(
        lambda content, folder: _file("metrics.jsonl", lambda path: keep_metrics(folder, 3))(content, folder),
        lambda: [b'{"epoch": 1, "loss": 0.5}\n{"epoch": 4}\n{"epo'],
    ),
}
