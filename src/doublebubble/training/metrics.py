"""The metrics of a training run: one JSON line for each epoch, appended and flushed. May import only errors."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

METRICS = "metrics.jsonl"


@dataclass(frozen=True)
class EpochMetrics:
    """One epoch: mean loss and accuracy under noise while training, accuracy under noise on the images held out."""

    epoch: int
    loss: float
    train_accuracy: float
    noisy_accuracy: float | None
    lr: float
    seconds: float


def append_metrics(folder: Path, metrics: EpochMetrics) -> None:
    """Add one line."""
    with (folder / METRICS).open("a") as file:
        file.write(json.dumps(asdict(metrics)) + "\n")


def keep_metrics(folder: Path, epochs_done: int) -> None:
    """Drop what a crash left behind of epochs that will be run again: later lines, and a torn last one."""
    path = folder / METRICS
    if not path.exists():
        return
    kept = []
    for line in path.read_text().splitlines():
        try:
            epoch = json.loads(line)["epoch"]
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
        if epoch <= epochs_done:
            kept.append(line + "\n")
    path.write_text("".join(kept))


def read_metrics(folder: Path) -> list[EpochMetrics]:
    """All lines."""
    path = folder / METRICS
    if not path.exists():
        return []
    return [EpochMetrics(**json.loads(line)) for line in path.read_text().splitlines()]
