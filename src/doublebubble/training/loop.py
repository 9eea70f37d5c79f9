"""Trains a model epoch by epoch, deterministic for a seed, resuming exactly. May import models, data and streams.

Every random number comes from a stream named by seed, epoch and step, so an epoch depends on the state before it and on
nothing else. After each epoch the state is written whole; a run killed anywhere continues as if it had not been.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from doublebubble.data import Dataset, to_unit
from doublebubble.errors import ModelError, RunError
from doublebubble.files import write_whole
from doublebubble.models import ModelCard, accuracy, build, build_denoiser, save_model
from doublebubble.streams import Stream
from doublebubble.training.batches import AUGMENTATIONS, enumerate_batches
from doublebubble.training.consistency import consistency_step
from doublebubble.training.denoiser import denoiser_step, frozen_classifier, joined
from doublebubble.training.gaussian import StepLoss, gaussian_step
from doublebubble.training.macer import macer_step
from doublebubble.training.metrics import METRICS, EpochMetrics, append_metrics, keep_metrics
from doublebubble.training.one_pixel import skip_padding
from doublebubble.training.schedule import learning_rate
from doublebubble.training.settings import TrainSettings, differences, read_settings
from doublebubble.training.state import STATE, Progress, load_state, save_state

SETTINGS = "settings.json"


class Observer(Protocol):
    """What a training run reports while it goes on."""

    def started(self, epochs_done: int, steps_per_epoch: int) -> None:
        """The run begins, or goes on after `epochs_done` epochs."""

    def stepped(self, epoch: int, loss: float) -> None:
        """One step is done."""

    def finished_epoch(self, metrics: EpochMetrics) -> None:
        """One epoch is done and on disk."""


def train(settings: TrainSettings, data: Dataset, out: Path, observer: Observer, resume: bool = True) -> Progress:
    """Train until all epochs are done; `out` then holds the best model, and holds the best so far at any moment before.

    "Best" is by accuracy under noise on the images held out of training (`holdout`, at most a tenth), the same draws
    each epoch; that of a denoiser is the accuracy of the classifier behind it. With no images held out, or no
    classifier, it is the latest. With `resume` a run that was interrupted goes on; settings other than its own are
    refused.
    """
    run = _Run(settings, data)  # before anything is written: what cannot be trained leaves nothing behind
    _prepare(settings, out, resume)
    progress = load_state(out, run.model, run.optimiser)
    keep_metrics(out, progress.epochs_done)
    observer.started(progress.epochs_done, run.steps_per_epoch)
    for epoch in range(progress.epochs_done + 1, settings.epochs + 1):
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True):
            metrics = run.epoch(epoch, observer)
        progress = replace(progress, epochs_done=epoch)
        if metrics.noisy_accuracy is None or metrics.noisy_accuracy > progress.best_accuracy:
            progress = Progress(epoch, epoch, -1.0 if metrics.noisy_accuracy is None else metrics.noisy_accuracy)
            save_model(out, run.model, run.card(metrics))
        append_metrics(out, metrics)
        save_state(out, run.model, run.optimiser, progress)
        observer.finished_epoch(metrics)
    return progress


def _prepare(settings: TrainSettings, out: Path, resume: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if not resume:
        for name in (STATE, METRICS, SETTINGS):
            (out / name).unlink(missing_ok=True)
    path = out / SETTINGS
    if path.exists():
        if changed := differences(read_settings(path), settings):
            raise RunError(f"{out}: holds another training run: {'; '.join(changed)}")
    else:
        write_whole(path, settings.model_dump_json(indent=2).encode())


class _Run:
    """Model, optimiser and images of one training run."""

    def __init__(self, settings: TrainSettings, data: Dataset) -> None:
        info = data.info
        self.settings, self.info = settings, info
        self.model, self.judged = self._models()
        self.optimiser = _optimiser(settings, self.model)
        order = Stream(settings.seed, 0, "train", "holdout").generator().permutation(len(data))
        kept = min(settings.holdout, len(data) // 10)
        held, used = torch.from_numpy(order[:kept]), torch.from_numpy(order[kept:])
        self.held_inputs = data.inputs(held).to(settings.device)
        self.held_labels = data.labels[held].to(settings.device)
        self.pixels, self.labels = data.pixels[used], data.labels[used]
        self.steps_per_epoch = sum(1 for _ in enumerate_batches(len(used), settings.batch_size, settings.seed, 1))

    def _models(self) -> tuple[nn.Module, nn.Module | None]:
        """The model to be trained, and the classifier whose accuracy tells how good it is, if there is one."""
        settings, info = self.settings, self.info
        self.classifier = frozen_classifier(settings, info)
        model: nn.Module
        if settings.method == "denoiser":
            model = build_denoiser(settings.arch, info.shape, settings.seed)
        else:
            model = build(settings.arch, info.shape, info.num_classes, info.mean, info.std, settings.seed)
        model = model.to(settings.device)
        _channels_last(model)
        if torch.device(settings.device).type == "cpu":
            skip_padding(model)
        return model, joined(model, self.classifier) if settings.method == "denoiser" else model

    def epoch(self, epoch: int, observer: Observer) -> EpochMetrics:
        """One pass over the training images, then a look at those held out."""
        began = time.monotonic()
        self.model.train()
        losses: list[float] = []
        accuracies: list[float] = []
        rate = self.settings.lr
        for step, chosen in enumerate_batches(len(self.labels), self.settings.batch_size, self.settings.seed, epoch):
            rate = learning_rate(self.settings, (epoch - 1) * self.steps_per_epoch + step, self.steps_per_epoch)
            result = self._step(chosen, rate, Stream(self.settings.seed, epoch, "train", f"step/{step}"))
            loss = result.loss.item()
            if not torch.isfinite(result.loss):
                raise ModelError(f"epoch {epoch}, step {step}: the loss is {loss}; a smaller learning rate may help")
            losses.append(loss)
            accuracies += [] if result.accuracy is None else [result.accuracy]
            observer.stepped(epoch, loss)
        mean_loss = sum(losses) / len(losses)
        mean_accuracy = sum(accuracies) / len(accuracies) if accuracies else None
        return EpochMetrics(epoch, mean_loss, mean_accuracy, self._held_out(), rate, time.monotonic() - began)

    def _step(self, chosen: Tensor, rate: float, stream: Stream) -> StepLoss:
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        pixels = self.pixels[chosen]
        if self.settings.augment != "none":
            pixels = AUGMENTATIONS[self.settings.augment](pixels, stream.child("augment"))
        x = to_unit(pixels, self.info.top).to(self.settings.device)
        result = self._loss(x, self.labels[chosen].to(self.settings.device), stream)
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(result.loss)
        self.optimiser.step()
        return result

    def _loss(self, x: Tensor, labels: Tensor, stream: Stream) -> StepLoss:
        settings = self.settings
        given = (self.model, x, labels, settings.sigma, stream)
        if settings.method == "macer":
            return macer_step(*given, settings.draws, settings.lam, settings.gamma, settings.beta)
        if settings.method == "consistency":
            return consistency_step(*given, settings.draws, settings.lam, settings.eta)
        if settings.method == "denoiser":
            return denoiser_step(*given, self.classifier, settings.stability)
        return gaussian_step(*given)

    def _held_out(self) -> float | None:
        if self.judged is None or not len(self.held_labels):
            return None
        self.judged.eval()
        stream = Stream(self.settings.seed, 0, "train", "monitor")
        return accuracy(self.judged, self.held_inputs, self.held_labels, self.settings.sigma, stream)

    def card(self, metrics: EpochMetrics) -> ModelCard:
        """What the model is after this epoch."""
        return ModelCard(
            arch=self.settings.arch,
            dataset=self.settings.dataset,
            shape=self.info.shape,
            classes=self.info.classes,
            mean=self.info.mean,
            std=self.info.std,
            sigma=self.settings.sigma,
            method=self.settings.method,
            epoch=metrics.epoch,
            noisy_accuracy=metrics.noisy_accuracy,
        )


def _channels_last(model: nn.Module) -> None:
    """Lay out convolutions the way that CPUs, and GPUs with tensor cores, run fastest."""
    for parameter in model.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)


def _optimiser(settings: TrainSettings, model: nn.Module) -> torch.optim.Optimizer:
    if settings.optimiser == "adam":
        return torch.optim.Adam(model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
    return torch.optim.SGD(
        model.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
