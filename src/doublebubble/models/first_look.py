"""A first look at a model before a run: the commonest mistakes, found in seconds and said in one sentence each.

May import only errors and streams.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom
from torch import Tensor, nn

from doublebubble.errors import ModelError
from doublebubble.models.accuracy import predictions
from doublebubble.models.calling import ModelCode, logits_of, out_of_memory
from doublebubble.streams import Stream

_CHANCE = 0.001
"""How unlikely a number of right answers must be under guessing before it counts as more than guessing."""

_HARDLY = 0.05
"""How unlikely a number of right answers must be of a fair model before a warning says that it guesses."""


@dataclass(frozen=True)
class FirstLook:
    """Accuracy on the images shown, without noise and under one draw each, and what seems wrong, in sentences."""

    clean_accuracy: float
    noisy_accuracy: float
    warnings: tuple[str, ...]


def first_look(
    model: nn.Module,
    inputs: Tensor,
    labels: Tensor,
    sigma: float,
    num_classes: int,
    seed: int = 0,
    numbering: str = "",
) -> FirstLook:
    """Run the model on some inputs of the domain, clean and noisy; a model that cannot be run is an error.

    Warns if the model does no better than guessing with or without noise, if it seems to lack its normalisation, and if
    its classes seem to be numbered in another order than the labels; then, and if it has another number of classes,
    `numbering` is said as well.
    """
    aside = f"; {numbering}" if numbering else ""
    check_logits(model, inputs, num_classes, numbering)
    stream = Stream(seed, 0, "select", "first_look")
    try:
        with ModelCode("the model fails on some of the first inputs"):
            clean = predictions(model, inputs, 0.0, stream).cpu()
            noisy = predictions(model, inputs, sigma, stream).cpu()
        normalised = _normalised(model, inputs, int((clean != labels).sum()), stream)
    except ModelError as error:
        if out_of_memory(error):
            raise
        return FirstLook(math.nan, math.nan, (f"{error}; what it fails on is recorded as failed",))
    clean_right, noisy_right = int((clean == labels).sum()), int((noisy == labels).sum())
    warnings = []
    if moved := _permutation(clean.numpy(), labels.numpy(), num_classes):
        warnings.append(moved + aside)
    elif normalised is not None and _far_better(normalised == labels, clean == labels):
        warnings.append(
            f"the model names {clean_right} of {len(labels)} clean images correctly as they are, but "
            f"{int((normalised == labels).sum())} if each channel is brought to mean 0 and variance 1: its "
            "normalisation seems to be left out, and belongs inside the model"
        )
    elif _only_guessing(clean_right, len(labels), num_classes):
        warnings.append(
            f"the model names {clean_right} of {len(labels)} clean images correctly, no better than guessing: "
            "is it trained, on this data, for inputs in [0, 1]?"
        )
    elif _only_guessing(noisy_right, len(labels), num_classes):
        warnings.append(
            f"the model names {clean_right} of {len(labels)} clean images correctly but only {noisy_right} under noise "
            f"of sigma {sigma}, no better than guessing: train it with noise, or put a denoiser before it"
        )
    return FirstLook(clean_right / len(labels), noisy_right / len(labels), tuple(warnings))


def output_size(model: nn.Module, inputs: Tensor) -> int:
    """How many logits the model gives for each input."""
    logits, rows = _logits(model, inputs)
    if logits.dim() != 2 or len(logits) != rows:
        raise ModelError(f"the model: expected one row of logits for each input, got shape {tuple(logits.shape)}")
    return logits.shape[1]


def check_logits(model: nn.Module, inputs: Tensor, num_classes: int, numbering: str = "") -> None:
    """An error unless the model takes some of these inputs and gives finite logits of the shape expected.

    If it has more classes than the data, `numbering` is said as well.
    """
    logits, rows = _logits(model, inputs)
    if logits.shape != (rows, num_classes):
        expected, got, hint = (rows, num_classes), tuple(logits.shape), ""
        if logits.dim() == 2 and logits.shape[1] > num_classes:
            hint = (f"; {numbering}" if numbering else "") + (
                "; for a folder of images that lacks some of the model's classes, give all of them in the model's "
                "order: --classes FILE, from Python classes="
            )
        raise ModelError(f"the model: expected logits of shape {expected}, got {got}{hint}")
    if not torch.isfinite(logits).all():
        raise ModelError(f"the model: expected finite logits, got {logits.flatten().tolist()[:3]} ...")


@torch.no_grad()
def _logits(model: nn.Module, inputs: Tensor) -> tuple[Tensor, int]:
    """Logits of the first two inputs, or of the first one that the model takes by itself; and of how many they are.

    An input that the model fails on says nothing of the others; an error if it takes none, or memory runs out.
    """
    doing, failed = f"the model does not take inputs of shape {tuple(inputs.shape[1:])}", None
    for given in (inputs[:2], *(inputs[row : row + 1] for row in range(len(inputs)))):
        try:
            return logits_of(model, given, doing, "the model"), len(given)
        except ModelError as error:
            failed = failed or error
            if error.__cause__ is None or out_of_memory(error):
                break
    raise failed or ModelError("the model: expected inputs to look at, got none")


def _like_guessing(right: int, count: int, num_classes: int) -> bool:
    """Whether guessing would be right as often with probability above one in a thousand: an exact binomial test."""
    return float(binom.sf(right - 1, count, 1 / num_classes)) > _CHANCE


def _only_guessing(right: int, count: int, num_classes: int) -> bool:
    """Whether it looks like guessing, and a model halfway to perfect would hardly do so badly on so few images."""
    halfway = (1 + 1 / num_classes) / 2
    return _like_guessing(right, count, num_classes) and float(binom.cdf(right, count, halfway)) < _HARDLY


def _normalised(model: nn.Module, inputs: Tensor, wrong: int, stream: Stream) -> Tensor | None:
    """What the model names once each channel has mean 0 and variance 1; None if too few are wrong, or it takes none."""
    if 0.5**wrong > _CHANCE:
        return None
    others = [dim for dim in range(inputs.dim()) if dim != 1 or inputs.dim() < 4]
    spread, mean = torch.std_mean(inputs, dim=others, keepdim=True)
    try:
        with ModelCode("the model fails on normalised inputs"):
            return predictions(model, (inputs - mean) / spread.where(spread > 0, 1.0), 0.0, stream).cpu()
    except ModelError as error:
        if out_of_memory(error):
            raise
        return None


def _far_better(right: Tensor, before: Tensor) -> bool:
    """Whether at most half as many are wrong as before, and more so than chance explains: a sign test."""
    gained, lost = int((right & ~before).sum()), int((before & ~right).sum())
    halved = 2 * int((~right).sum()) <= int((~before).sum())
    return halved and float(binom.sf(gained - 1, gained + lost, 0.5)) <= _CHANCE


def _permutation(named: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], num_classes: int) -> str | None:
    """A sentence if renumbering the model's classes makes it far better: fitted on one half, judged on the other."""
    half = len(labels) // 2
    table = np.zeros((num_classes, num_classes), np.int64)
    np.add.at(table, (named[:half], labels[:half]), 1)
    _, renumbered = linear_sum_assignment(table, maximize=True)
    other = labels[half:]
    direct = int((named[half:] == other).sum())
    matched = int((renumbered[named[half:]] == other).sum())
    if _like_guessing(matched, len(other), num_classes) or matched < 2 * direct:
        return None
    if float(binom.sf(matched - 1, len(other), max(direct, 1) / len(other))) > _CHANCE:
        return None
    return (
        f"the model's classes seem to be numbered in another order than the labels: as they are {direct} of "
        f"{len(other)} images are named correctly, renumbered {matched}"
    )
