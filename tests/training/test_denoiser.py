"""The denoiser's loss by hand, what it may and may not touch, and what it learns against the best linear estimate."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from doublebubble.data import Dataset, load_dataset
from doublebubble.errors import SettingError
from doublebubble.models import black_box, build, load_denoiser
from doublebubble.streams import Stream
from doublebubble.training import denoiser as module
from doublebubble.training import noise_left_on_test, preset, train
from doublebubble.training.denoiser import denoiser_step, frozen_classifier, joined
from doublebubble.training.gaussian import noisy
from tests.training.test_loop import Silent

SIGMA = 0.5


class Halve(nn.Module):
    """A denoiser of one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x


def case() -> tuple[Tensor, Tensor, nn.Module]:
    generator = torch.Generator().manual_seed(2)
    classifier = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    for parameter in classifier.parameters():
        nn.init.normal_(parameter, generator=generator)
    return torch.rand(6, 1, 4, 4, generator=generator), torch.tensor([0, 1, 2, 0, 1, 2]), classifier.eval()


def test_the_loss_is_squared_error_plus_cross_entropy_with_what_the_classifier_says_without_noise() -> None:
    x, labels, classifier = case()
    stream = Stream(0, 1, "train")
    result = denoiser_step(Halve(), x, labels, SIGMA, stream, classifier, 0.25)
    restored = noisy(x, SIGMA, stream).double() / 2
    weight, bias = (parameter.detach().double() for parameter in classifier.parameters())
    squares, entropies, right = 0.0, 0.0, 0
    for image, clean, label in zip(restored, x.double(), labels.tolist(), strict=True):
        squares += sum((a - b) ** 2 for a, b in zip(image.flatten().tolist(), clean.flatten().tolist(), strict=True))
        named = int((weight @ clean.flatten() + bias).argmax())
        scores = torch.softmax(weight @ image.flatten() + bias, 0)
        entropies -= float(scores[named].log())
        right += int(scores.argmax()) == label
    assert result.loss.item() == pytest.approx(squares / x.numel() + 0.25 * entropies / 6, rel=1e-5)
    assert result.accuracy == right / 6


@pytest.mark.parametrize("with_classifier", [False, True])
def test_without_stability_it_is_the_squared_error_alone(with_classifier: bool) -> None:
    x, labels, classifier = case()
    result = denoiser_step(Halve(), x, labels, SIGMA, Stream(0, 1, "train"), classifier if with_classifier else None, 0)
    expected = (noisy(x, SIGMA, Stream(0, 1, "train")) / 2 - x).square().mean()
    assert result.loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert result.accuracy is None


def test_labels_do_not_count() -> None:
    x, labels, classifier = case()
    losses = [
        denoiser_step(Halve(), x, given, SIGMA, Stream(0, 1, "train"), classifier, 1.0).loss.item()
        for given in (labels, (labels + 1) % 3)
    ]
    assert losses[0] == losses[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A classifier of digits that was trained for one epoch, without noise."""
    data = load_dataset("digits", "train")
    few = Dataset(data.info, data.split, data.pixels[:200], data.labels[:200])
    train(preset("digits", "gaussian", 0.0, epochs=1), few, tmp_path / "plain", Silent())
    return tmp_path


def test_training_leaves_the_classifier_as_it_was(folder: Path) -> None:
    data = load_dataset("digits", "train")
    few = Dataset(data.info, data.split, data.pixels[:200], data.labels[:200])
    settings = preset("digits", "denoiser", SIGMA, epochs=1, classifier=str(folder / "plain"))
    classifier = frozen_classifier(settings, data.info)
    assert classifier is not None
    assert not classifier.training
    assert not any(parameter.requires_grad for parameter in classifier.parameters())
    before = {path.name: path.read_bytes() for path in (folder / "plain").iterdir()}
    train(settings, few, folder / "denoiser", Silent())
    assert {path.name: path.read_bytes() for path in (folder / "plain").iterdir()} == before
    _, card = load_denoiser(folder / "denoiser")
    assert (card.method, card.arch, card.sigma) == ("denoiser", "unet", SIGMA)
    assert card.noisy_accuracy is not None  # that of the classifier behind it


def test_a_black_box_behind_it_has_no_stability(monkeypatch: pytest.MonkeyPatch) -> None:
    info = load_dataset("digits", "test").info
    box = black_box(lambda x: x.reshape(len(x), -1)[:, :10], 10)
    monkeypatch.setattr(module, "load_classifier", lambda *_: box)
    with pytest.raises(SettingError, match="stability: forest is a black box without gradients"):
        frozen_classifier(preset("digits", "denoiser", SIGMA, classifier="forest"), info)
    assert frozen_classifier(preset("digits", "denoiser", SIGMA, classifier="forest", stability=0.0), info) is box


def test_joined_they_are_one_model() -> None:
    x, _, classifier = case()
    pair = joined(Halve(), classifier)
    assert pair is not None
    assert torch.equal(pair(x), classifier(x / 2))
    assert joined(Halve(), None) is None


def test_it_learns_more_than_the_best_linear_estimate_of_each_pixel(tmp_path: Path) -> None:
    """Pixel by pixel the best is mean + v / (v + sigma^2) (x - mean), v the pixel's variance: its error is known."""
    data = load_dataset("digits", "train")
    train(preset("digits", "denoiser", SIGMA, epochs=10), data, tmp_path, Silent())
    x = data.inputs()
    variance = x.double().var(0, correction=0)
    best = (variance * SIGMA**2 / (variance + SIGMA**2)).mean().sqrt().item()
    assert noise_left_on_test(tmp_path) < 0.9 * best


def test_architectures_of_classifiers_are_none_of_denoisers(tmp_path: Path) -> None:
    data = load_dataset("digits", "train")
    with pytest.raises(SettingError, match="denoiser: expected one of unet, got 'cnn'"):
        train(preset("digits", "denoiser", SIGMA, arch="cnn"), data, tmp_path, Silent())
    with pytest.raises(SettingError, match="architecture: expected one of cnn"):
        build("unet", (1, 8, 8), 10, (0.0,), (1.0,))
