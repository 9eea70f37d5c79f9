"""Training: the same weights for the same seed, killed or not; the best model kept; wrong runs refused."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from doublebubble.data import Dataset, load_dataset
from doublebubble.errors import ModelError, RunError
from doublebubble.models import accuracy, load_model
from doublebubble.streams import Stream
from doublebubble.training import EpochMetrics, TrainSettings, loop, preset, train
from doublebubble.training.gaussian import StepLoss, gaussian_step
from doublebubble.training.loop import SETTINGS
from doublebubble.training.metrics import METRICS, read_metrics
from doublebubble.training.state import STATE


class Silent:
    """Observes nothing; stops the run after `last` epochs, as an interruption would."""

    def __init__(self, last: int | None = None) -> None:
        self.last, self.steps = last, 0

    def started(self, epochs_done: int, steps_per_epoch: int) -> None:
        self.done, self.steps_per_epoch = epochs_done, steps_per_epoch

    def stepped(self, epoch: int, loss: float) -> None:
        self.steps += 1

    def finished_epoch(self, metrics: EpochMetrics) -> None:
        if metrics.epoch == self.last:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def digits() -> Dataset:
    data = load_dataset("digits", "train")
    return Dataset(data.info, data.split, data.pixels[:400], data.labels[:400])


def settings(**changes: object) -> TrainSettings:
    fields: dict[str, object] = {"epochs": 3, "holdout": 100, "batch_size": 50, "augment": "flip-crop", **changes}
    return preset("digits", str(fields.pop("method", "gaussian")), 0.25, **fields)


def final(folder: Path) -> dict[str, bytes]:
    """Every tensor of model and optimiser after the last epoch, bit by bit."""
    tensors = {
        **load_file(folder / STATE),
        **{f"best.{k}": v for k, v in load_file(folder / "model.safetensors").items()},
    }
    return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}


@pytest.mark.parametrize(
    "changes",
    [
        {"optimiser": "adam", "augment": "shift"},
        {"optimiser": "sgd", "momentum": 0.9, "weight_decay": 5e-4, "lr": 0.02, "schedule": "one-cycle"},
        {"arch": "resnet20", "batch_size": 100, "epochs": 2},
        {"method": "macer", "draws": 3, "lr": 0.01, "milestones": (1,)},
        {"method": "consistency", "eta": 0.2, "lr": 0.01, "milestones": (1,), "epochs": 2},
        {"method": "denoiser", "epochs": 2},
    ],
    ids=["adam", "sgd", "resnet", "macer", "consistency", "denoiser"],
)
def test_interrupted_after_any_epoch_the_result_is_the_same_bit_by_bit(
    tmp_path: Path, digits: Dataset, changes: dict[str, object]
) -> None:
    chosen = settings(**changes)
    train(chosen, digits, tmp_path / "whole", Silent())
    expected = final(tmp_path / "whole")
    for last in range(1, chosen.epochs):
        out = tmp_path / f"cut{last}"
        with pytest.raises(KeyboardInterrupt):
            train(chosen, digits, out, Silent(last))
        observer = Silent()
        train(chosen, digits, out, observer)
        assert observer.done == last
        assert final(out) == expected
        assert [m.loss for m in read_metrics(out)] == [m.loss for m in read_metrics(tmp_path / "whole")]


def test_another_seed_gives_other_weights_and_global_state_does_not_matter(tmp_path: Path, digits: Dataset) -> None:
    train(settings(), digits, tmp_path / "one", Silent())
    torch.manual_seed(99)
    torch.rand(5)
    train(settings(), digits, tmp_path / "two", Silent())
    train(settings(seed=1), digits, tmp_path / "other", Silent())
    assert final(tmp_path / "one") == final(tmp_path / "two")
    assert final(tmp_path / "one") != final(tmp_path / "other")


KILLER = """
import os, signal, sys, time
from pathlib import Path
import sklearn.datasets
import doublebubble.cli.progress_bars, doublebubble.data, doublebubble.training
from doublebubble.cli import main

whole, killed = Path(sys.argv[1]), Path(sys.argv[2])

def begin(out):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main(["train", "--sigma", "0.25", "--epochs", "4", "--out", str(out)])
    return child

def lines():
    return (killed / "metrics.jsonl").read_text().count("epoch") if (killed / "metrics.jsonl").exists() else 0

codes = [os.waitpid(begin(whole), 0)[1]]
for epochs in (1, 2, 3):
    child = begin(killed)
    while lines() < epochs:
        time.sleep(0.001)
    time.sleep(0.02 * (epochs - 1))
    os.kill(child, signal.SIGKILL)
    codes.append(os.waitpid(child, 0)[1])
codes.append(os.waitpid(begin(killed), 0)[1])
print(*codes)
"""


def test_killed_without_warning_the_same_command_ends_bit_equal(tmp_path: Path) -> None:
    """The real command, killed after each epoch in turn and in the middle of one, then left to finish."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    arguments = [sys.executable, "-c", KILLER, str(whole), str(killed)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, env=environment)
    first, *kills, last = map(int, done.stdout.split())
    assert (first, last) == (0, 0)
    assert kills.count(signal.SIGKILL) >= 2
    assert final(killed) == final(whole)
    assert [m.epoch for m in read_metrics(killed)] == [1, 2, 3, 4]


def test_training_learns_and_the_folder_holds_the_best_epoch(tmp_path: Path) -> None:
    data = load_dataset("digits", "train")
    train(preset("digits", "gaussian", 0.25, epochs=8), data, tmp_path, Silent())
    metrics = read_metrics(tmp_path)
    held = [m.noisy_accuracy for m in metrics]
    model, card = load_model(tmp_path)
    assert card.noisy_accuracy == max(h for h in held if h is not None)
    assert card.epoch == held.index(card.noisy_accuracy) + 1
    assert metrics[-1].loss < metrics[0].loss / 2
    test = load_dataset("digits", "test")
    stream = Stream(0, 0, "audit")
    assert accuracy(model, test.inputs(), test.labels, 0.25, stream) > 0.85


def test_early_interruption_leaves_the_best_so_far(tmp_path: Path, digits: Dataset) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(settings(), digits, tmp_path, Silent(last=1))
    model, card = load_model(tmp_path)
    assert card.epoch == 1
    assert not model.training


def test_the_images_held_out_are_not_trained_on(tmp_path: Path, digits: Dataset) -> None:
    observer = Silent()
    train(settings(epochs=1, holdout=30, batch_size=37), digits, tmp_path, observer)
    assert observer.steps == observer.steps_per_epoch == 10  # 370 images in batches of 37
    train(settings(epochs=1, holdout=1000, batch_size=36), digits, tmp_path / "tenth", observer := Silent())
    assert observer.steps == 10  # a tenth at most is held out: 360 images in batches of 36
    train(settings(epochs=1, holdout=0), digits, tmp_path / "all", observer := Silent())
    assert observer.steps == 8
    assert read_metrics(tmp_path / "all")[0].noisy_accuracy is None


def test_the_accuracy_held_out_is_on_images_never_trained_on_and_under_noise(
    tmp_path: Path, digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[bytes] = []
    judged: list[tuple[list[bytes], float, float]] = []

    def step(model: nn.Module, x: Tensor, labels: Tensor, sigma: float, stream: Stream) -> StepLoss:
        trained.extend(image.numpy().tobytes() for image in x)
        return gaussian_step(model, x, labels, sigma, stream)

    def judge(model: nn.Module, inputs: Tensor, labels: Tensor, sigma: float, stream: Stream) -> float:
        found = accuracy(model, inputs, labels, sigma, stream)
        judged.append(([image.numpy().tobytes() for image in inputs], sigma, found))
        return found

    monkeypatch.setattr(loop, "gaussian_step", step)
    monkeypatch.setattr(loop, "accuracy", judge)
    train(settings(epochs=2, holdout=40, augment="none"), digits, tmp_path, Silent())
    every = {image.numpy().tobytes() for image in digits.inputs()}
    assert len(every) == 400  # all different, so that bytes tell them apart
    assert len(judged) == 2
    for (held, sigma, found), metrics in zip(judged, read_metrics(tmp_path), strict=True):
        assert len(set(held)) == 40
        assert set(held).isdisjoint(trained)
        assert set(held) | set(trained) == every
        assert sigma == 0.25
        assert metrics.noisy_accuracy == found


def test_another_runs_folder_is_refused_with_what_differs(tmp_path: Path, digits: Dataset) -> None:
    train(settings(epochs=1), digits, tmp_path, Silent())
    with pytest.raises(RunError, match=r"holds another training run: epochs was 1, now 2; lr was 0\.001, now 0\.01"):
        train(settings(epochs=2, lr=0.01), digits, tmp_path, Silent())
    train(settings(epochs=2), digits, tmp_path, Silent(), resume=False)
    assert [m.epoch for m in read_metrics(tmp_path)] == [1, 2]
    assert json.loads((tmp_path / SETTINGS).read_text())["epochs"] == 2


def test_a_torn_line_of_metrics_is_dropped_on_resume(tmp_path: Path, digits: Dataset) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(settings(), digits, tmp_path, Silent(last=2))
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"epoch": 3, "lo')
    train(settings(), digits, tmp_path, Silent())
    assert [m.epoch for m in read_metrics(tmp_path)] == [1, 2, 3]


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path: Path, digits: Dataset) -> None:
    with pytest.raises(ModelError, match=r"epoch 1, step \d+: the loss is (nan|inf); a smaller learning rate"):
        train(settings(optimiser="sgd", lr=1e30), digits, tmp_path, Silent())


def test_the_published_recipe_starts_on_a_folder_in_tiny_imagenets_layout(tmp_path: Path) -> None:
    root = tmp_path / "tiny-imagenet-200"
    generator = np.random.default_rng(3)
    wnids = [f"n{number:08d}" for number in range(4)]
    (root / "val" / "images").mkdir(parents=True)
    (root / "wnids.txt").write_text("\n".join(wnids))
    (root / "words.txt").write_text("\n".join(f"{wnid}\tthing {wnid}" for wnid in wnids))
    lines = []
    for label, wnid in enumerate(wnids):
        folder = root / "train" / wnid / "images"
        folder.mkdir(parents=True)
        for i in range(5):
            pixels = generator.integers(0, 256, size=(64, 64, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"{wnid}_{i}.JPEG")
        Image.fromarray(pixels).save(root / "val" / "images" / f"val_{label}.JPEG")
        lines.append(f"val_{label}.JPEG\t{wnid}\t0\t0\t62\t62")
    (root / "val" / "val_annotations.txt").write_text("\n".join(lines))
    data = load_dataset("tiny-imagenet", "train", tmp_path)
    train(preset("tiny-imagenet", "gaussian", 0.25, epochs=1), data, tmp_path / "out", Silent())
    model, card = load_model(tmp_path / "out")
    assert card.arch == "resnet18-tiny"
    assert card.shape == (3, 64, 64)
    assert model(load_dataset("tiny-imagenet", "test", tmp_path).inputs()).shape == (4, 4)


class WithoutFloat64(TorchFunctionMode):
    """A device that, like Apple's, has no float64."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float64:
                raise AssertionError(f"{func}: float64 is not there")
        return result


@pytest.mark.parametrize("method", ["gaussian", "consistency", "denoiser"])
def test_training_needs_no_float64(tmp_path: Path, digits: Dataset, method: str) -> None:
    with WithoutFloat64():
        train(settings(method=method, epochs=1), digits, tmp_path, Silent())
