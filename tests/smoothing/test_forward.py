"""Logits are checked and never repaired; memory does not grow."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import ModelError
from doublebubble.program import Program
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream
from tests.smoothing.subjects import image, small_net, smoothed


class Broken(nn.Module):
    """Returns what it is told to."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, batch: Tensor) -> Tensor:
        return self.logits


def nan_logits(bad: int) -> Tensor:
    logits = torch.zeros(8, 3)
    logits[torch.arange(bad), 1] = float("nan") if bad % 2 else float("inf")
    return logits


@pytest.mark.parametrize("bad", [1, 2, 5])
def test_non_finite_logits_name_the_input_and_the_number_of_draws(bad: int) -> None:
    classifier = SmoothedClassifier(Broken(nan_logits(bad)).eval(), 0.5, 3, batch_size=8)
    with pytest.raises(ModelError, match=rf"input 17: .*{bad} of 8 draws"):
        classifier.counts(image(), 8, seed=0, index=17)


def test_non_finite_logits_in_the_padding_are_nobodys() -> None:
    logits = torch.zeros(8, 3)
    logits[7, 0] = float("nan")
    assert (
        SmoothedClassifier(Broken(logits).eval(), 0.5, 3, batch_size=8).counts(image(), 7, seed=0, index=0).sum() == 7
    )


def test_a_wrong_number_of_classes_is_refused() -> None:
    with pytest.raises(ModelError, match=r"expected logits of shape \(64, 5\), got \(64, 4\)"):
        SmoothedClassifier(small_net(), 0.5, 5, batch_size=64).counts(image(), 10, seed=0, index=0)


def test_the_input_is_left_alone_and_memory_does_not_grow_with_n() -> None:
    x = image()
    before = x.clone()
    classifier = smoothed()
    classifier.counts(x, 10, seed=0, index=0)
    own = classifier._forward._buffers
    held = {id(tensor) for pair in own.values() for tensor in (pair.noise, pair.inputs)}
    classifier.counts(x, 5000, seed=0, index=0)
    assert held == {
        id(tensor) for pair in classifier._forward._buffers.values() for tensor in (pair.noise, pair.inputs)
    }
    assert torch.equal(x, before)


def test_training_mode_is_refused_even_in_a_submodule() -> None:
    with pytest.raises(ModelError, match="training mode"):
        SmoothedClassifier(small_net().train(), 0.5, 4)
    net = small_net()
    classifier = SmoothedClassifier(net, 0.5, 4)
    net[1].train()  # type: ignore[index]
    for call in (
        lambda: classifier.counts(image(), 10, seed=0, index=0),
        lambda: classifier.predict(image(), 10, seed=0, index=0),
        lambda: classifier.soft_scores(image(), 10, Stream(0, 0, "search"), torch.eye(4)),
    ):
        with pytest.raises(ModelError, match="1 is in training mode"):
            call()


@pytest.mark.parametrize("program", [Program(), Program(fold_batch_norm=True, channels_last=True)])
def test_a_prepared_program_votes_like_the_model_up_to_near_ties(program: Program) -> None:
    counts = smoothed(program=program).counts(image(), 2000, seed=0, index=0)
    assert np.abs(counts - smoothed().counts(image(), 2000, seed=0, index=0)).max() <= 2
