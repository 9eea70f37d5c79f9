"""The metrics of a training run: one JSON line for each epoch, appended and flushed. May import only errors."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from doublebubble.files import open_plain, read_plain, write_whole
from doublebubble.json_text import parse_json

METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class EpochMetrics:
    """One epoch: mean loss and accuracy under noise while training, accuracy under noise on the images held out.

    A denoiser that is trained for no classifier has no accuracy.
    """

    epoch: int
    loss: float
    train_accuracy: float | None
    noisy_accuracy: float | None
    lr: float
    seconds: float


def append_metrics(folder: Path, metrics: EpochMetrics) -> None:
    """Add one line."""
    with os.fdopen(open_plain(folder / METRICS, os.O_WRONLY | os.O_APPEND), "w") as file:
        file.write(json.dumps(asdict(metrics)) + "\n")


def keep_metrics(folder: Path, epochs_done: int) -> None:
    """Drop what a crash left behind of epochs that will be run again: later lines, and a torn last one."""
    path = folder / METRICS
    if not path.exists():
        return
    kept = []
    for line in read_plain(path).decode("utf-8", "replace").splitlines():
        try:
            content = parse_json(line)
        except ValueError:
            continue
        epoch = content.get("epoch") if isinstance(content, dict) else None
        if isinstance(epoch, int) and epoch <= epochs_done:
            kept.append(line + "\n")
    write_whole(path, "".join(kept).encode())


def read_metrics(folder: Path) -> list[EpochMetrics]:
    """All lines."""
    path = folder / METRICS
    if not path.exists():
        return []
    return [EpochMetrics(**json.loads(line)) for line in path.read_text().splitlines()]
