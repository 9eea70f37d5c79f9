"""The first look: silent on a good model, one sentence on each of the commonest mistakes."""

import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import ModelError
from doublebubble.models import first_look
from doublebubble.streams import Stream
from tests.models.subjects import K, Reads, one_hot


def test_a_good_model_raises_no_warning() -> None:
    inputs, labels = one_hot()
    look = first_look(Reads(), inputs, labels, sigma=0.25, num_classes=K)
    assert look.clean_accuracy == 1.0
    assert 0.9 < look.noisy_accuracy < 1.0
    assert look.warnings == ()


def test_permuted_labels_are_noticed() -> None:
    inputs, labels = one_hot()
    (warning,) = first_look(Reads((1, 2, 3, 4, 0)), inputs, labels, sigma=0.25, num_classes=K).warnings
    assert "numbered in another order" in warning
    assert "renumbered 100" in warning


def test_a_wrong_model_that_no_renumbering_helps_is_called_guessing() -> None:
    inputs, labels = one_hot()
    shuffled = labels[torch.from_numpy(Stream(1, 0, "audit").generator().permutation(len(labels)))]
    (warning,) = first_look(Reads(), inputs, shuffled, sigma=0.25, num_classes=K).warnings
    assert "no better than guessing: is it trained" in warning


def test_an_undefended_model_is_noticed() -> None:
    inputs, labels = one_hot()
    warnings = first_look(Reads(), inputs, labels, sigma=50.0, num_classes=K).warnings
    assert len(warnings) == 1
    assert "200 of 200 clean images correctly but only" in warnings[0]
    assert "put a denoiser before it" in warnings[0]


@pytest.mark.parametrize(("count", "wrong"), [(1, 0), (2, 1), (4, 1), (6, 2)])
def test_a_good_part_of_few_images_is_not_called_guessing(count: int, wrong: int) -> None:
    """Guessing does as well now and then, but so few images cannot show that this is guessing."""
    inputs, labels = one_hot(count)
    labels[:wrong] = (labels[:wrong] + 1) % K
    assert first_look(Reads(), inputs, labels, sigma=0.01, num_classes=K).warnings == ()


def test_few_images_of_which_none_is_right_are_called_guessing() -> None:
    inputs, labels = one_hot(6)
    twisted = (labels + torch.tensor([1, 2, 3, 4, 1, 2])) % K
    (warning,) = first_look(Reads(), inputs, twisted, sigma=0.01, num_classes=K).warnings
    assert "names 0 of 6 clean images correctly, no better than guessing" in warning


class ExpectsMeanZero(nn.Module):
    """Names the first pixel above 1, else class 0: right where each channel has mean 0 and variance 1."""

    def __init__(self, inside: bool = False, picky: bool = False) -> None:
        super().__init__()
        self.inside, self.picky = inside, picky

    def forward(self, x: Tensor) -> Tensor:
        if self.picky and float(x.min()) < -0.1:
            raise ValueError("values below 0")
        x = (x - 0.52) / 0.04 if self.inside else x
        return (x.flatten(1) > 1).to(x.dtype) * 2 + torch.eye(K)[0]


def test_a_normalisation_that_is_left_out_is_noticed() -> None:
    """Half of the labels are 0, which is what it says of anything: far better than guessing, and yet wrong."""
    labels = torch.arange(64) % K * (torch.arange(64) % 2)
    inputs = 0.5 + 0.1 * torch.eye(K)[labels].reshape(64, 1, 1, K)
    look = first_look(ExpectsMeanZero(), inputs, labels, sigma=0.01, num_classes=K)
    assert 0.4 < look.clean_accuracy < 0.7
    assert len(look.warnings) == 1
    assert "64 if each channel is brought to mean 0 and variance 1: its normalisation seems to be" in look.warnings[0]
    for good in (ExpectsMeanZero(inside=True), ExpectsMeanZero(picky=True)):
        assert first_look(good, inputs, labels, sigma=0.001, num_classes=K).warnings == ()


@pytest.mark.parametrize("seed", range(20))
def test_guessing_hardly_ever_looks_like_a_permutation(seed: int) -> None:
    generator = Stream(seed, 0, "audit").generator()
    labels = torch.from_numpy(generator.integers(0, 200, size=500))
    named = torch.from_numpy(generator.integers(0, 200, size=500))
    inputs = torch.eye(200)[named].reshape(500, 1, 1, 200)

    class Guesses(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)

    warnings = first_look(Guesses(), inputs, labels, sigma=0.1, num_classes=200).warnings
    assert not any("another order" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (nn.Linear(3, K), r"does not take inputs of shape \(1, 1, 5\)"),
        (nn.Sequential(nn.Flatten(), nn.Linear(K, 7)), r"expected logits of shape \(2, 5\), got \(2, 7\)"),
        (nn.Sequential(nn.Flatten(), nn.Threshold(2.0, float("nan"))), "expected finite logits, got"),
    ],
)
def test_models_that_cannot_be_run_are_errors(model: nn.Module, message: str) -> None:
    inputs, labels = one_hot(10)
    with pytest.raises(ModelError, match=message):
        first_look(model, inputs, labels, sigma=0.25, num_classes=K)


def test_a_model_of_more_classes_than_the_data_says_how_they_were_numbered() -> None:
    inputs, labels = one_hot(10)
    model = nn.Sequential(nn.Flatten(), nn.Linear(K, 7))
    with pytest.raises(
        ModelError, match=r"got \(2, 7\); the labels are 0 = cat; for a folder of images that lacks .*--classes FILE"
    ):
        first_look(model, inputs, labels, sigma=0.25, num_classes=K, numbering="the labels are 0 = cat")
