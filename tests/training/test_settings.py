"""Presets are the published recipes; settings that cannot be meant are refused."""

import pytest

from doublebubble.errors import SettingError
from doublebubble.training import preset
from doublebubble.training.schedule import learning_rate


@pytest.mark.parametrize("dataset", ["mnist", "cifar10"])
def test_the_papers_recipe_for_mnist_and_cifar10(dataset: str) -> None:
    chosen = preset(dataset, "gaussian", 0.5)
    assert (chosen.arch, chosen.optimiser, chosen.lr, chosen.batch_size, chosen.epochs) == (
        "resnet18",
        "adam",
        1e-3,
        128,
        50,
    )
    assert (chosen.schedule, chosen.augment, chosen.weight_decay) == ("constant", "none", 0.0)


def test_the_papers_recipe_for_tiny_imagenet() -> None:
    chosen = preset("tiny-imagenet", "gaussian", 0.5)
    assert (chosen.arch, chosen.optimiser, chosen.lr, chosen.momentum, chosen.epochs) == (
        "resnet18-tiny",
        "sgd",
        0.1,
        0.9,
        80,
    )
    rates = [learning_rate(chosen, epoch * 7, 7) for epoch in range(80)]
    assert rates == pytest.approx([0.1] * 30 + [0.01] * 30 + [0.001] * 20)


@pytest.mark.parametrize("dataset", ["mnist", "cifar10", "folder:somewhere"])
def test_macers_recipe(dataset: str) -> None:
    chosen = preset(dataset, "macer", 0.25)
    assert (chosen.draws, chosen.lam, chosen.gamma, chosen.beta) == (16, 12.0, 8.0, 16.0)
    assert (chosen.optimiser, chosen.lr, chosen.momentum, chosen.weight_decay) == ("sgd", 0.01, 0.9, 5e-4)
    assert (chosen.batch_size, chosen.epochs) == (64, 440)
    rates = [learning_rate(chosen, epoch, 1) for epoch in (0, 199, 200, 399, 400, 439)]
    assert rates == pytest.approx([0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001])


@pytest.mark.parametrize(("sigma", "lam"), [(0.25, 10.0), (0.5, 5.0), (1.0, 5.0)])
def test_the_recipe_of_consistency(sigma: float, lam: float) -> None:
    grey, coloured = preset("mnist", "consistency", sigma), preset("cifar10", "consistency", sigma)
    assert (grey.lam, coloured.lam) == (lam, 2 * lam)
    assert (grey.lr, grey.epochs, grey.milestones) == (0.01, 90, (30, 60))
    assert (coloured.lr, coloured.epochs, coloured.milestones) == (0.1, 150, (50, 100))
    for chosen in (grey, coloured):
        assert (chosen.draws, chosen.copies, chosen.eta, chosen.batch_size) == (2, 2, 0.5, 256)
        assert (chosen.optimiser, chosen.momentum, chosen.weight_decay) == ("sgd", 0.9, 1e-4)


def test_the_recipe_of_a_denoiser_is_short_and_holds_images_out_only_to_judge_a_classifier_by() -> None:
    alone, with_one = preset("mnist", "denoiser", 0.5), preset("mnist", "denoiser", 0.5, classifier="plain")
    assert (alone.arch, alone.epochs, alone.schedule, alone.copies) == ("unet", 5, "one-cycle", 1)
    assert (alone.holdout, alone.stability) == (0, 0.0)
    assert (with_one.holdout, with_one.stability) == (1000, 0.1)
    assert preset("mnist", "denoiser", 0.5, classifier="plain", stability=0.0).stability == 0.0
    assert preset("tiny-imagenet", "denoiser", 0.5).milestones == ()


def test_every_field_can_be_overridden_and_none_means_as_published() -> None:
    chosen = preset("mnist", "gaussian", 0.5, arch="lenet", epochs=3, lr=None)
    assert (chosen.arch, chosen.epochs, chosen.lr) == ("lenet", 3, 1e-3)


@pytest.mark.parametrize(
    ("dataset", "method", "changes", "message"),
    [
        ("imagenet", "gaussian", {}, "expected one of digits, mnist"),
        ("mnist", "adversarial", {}, "method: Input should be 'gaussian', 'macer', .* got 'adversarial'"),
        ("mnist", "gaussian", {"classifier": "x"}, "classifier: .*only method denoiser takes a classifier, got 'x'"),
        ("mnist", "denoiser", {"stability": 1.0}, "stability: .*is that of a classifier .* which is not given, got 1"),
        ("mnist", "gaussian", {"epochs": 0}, "epochs: Input should be greater than or equal to 1, got 0"),
        ("mnist", "gaussian", {"lr": float("nan")}, "lr: Input should be a finite number"),
        ("mnist", "gaussian", {"momentun": 0.9}, "momentun: Extra inputs are not permitted"),
        ("mnist", "gaussian", {"milestones": ["30", "x"]}, r"milestones\.1: Input should be a valid integer"),
    ],
)
def test_settings_that_cannot_be_meant_are_one_sentence(
    dataset: str, method: str, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        preset(dataset, method, 0.5, **changes)
    assert "\n" not in str(caught.value)
