"""The three scales of the experiments: the published one, and consistent with one another."""

from dataclasses import replace

import pytest

from docs import generate_reproduction
from doublebubble.errors import SettingError
from doublebubble.reproduce import SCALES, chosen_scale
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.scales import Study
from doublebubble.training import preset


def test_paper_scale_is_the_published_configuration() -> None:
    scale = chosen_scale("paper")
    assert {study.dataset: study.n for study in scale.studies} == {
        "mnist": 1500,
        "cifar10": 1500,
        "tiny-imagenet": 1000,
    }
    for study in scale.studies:
        assert study.sigmas == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
        assert (study.curves, study.inputs) == ((0.5, 1.0), 500)
        trained = preset(study.dataset, "gaussian", 0.5, **study.training)
        assert trained.arch.startswith("resnet18")
        assert trained.epochs == (80 if study.dataset == "tiny-imagenet" else 50)
    assert (scale.macer, scale.stepped) == ("cifar10", ("cifar10", "tiny-imagenet"))
    assert (min(scale.steps), max(scale.steps), scale.timing_n, scale.alpha) == (0.001, 0.5, 1000, 0.05)


@pytest.mark.parametrize("name", SCALES)
def test_every_scale_is_consistent(name: str) -> None:
    scale = chosen_scale(name, inputs=1, epochs=1)
    assert {scale.macer, *scale.stepped, *scale.timed} <= set(scale.names)
    assert len(set(scale.names)) == len(scale.names)
    assert 0.01 in scale.steps
    assert scale.timing_inputs == 1
    for study in scale.studies:
        assert study.inputs == 1
        assert {scale.step_sigma, scale.timing_sigma} <= set(study.sigmas)
        assert preset(study.dataset, "gaussian", 0.5, **study.training).epochs == 1
    assert scale.no_gain.n in scale.no_gain.draws
    assert scale.alpha in scale.no_gain.alphas
    changes = {**scale.study(scale.macer).training, **scale.macer_training}
    assert preset(scale.study(scale.macer).dataset, "macer", 0.5, **changes).epochs == 1


def test_an_unknown_scale_is_an_error() -> None:
    with pytest.raises(SettingError, match="scale: expected one of smoke, cpu, paper, got 'huge'"):
        chosen_scale("huge")


def test_what_is_left_without_the_published_form() -> None:
    study = Study("mnist", 100, 40, (0.5,), (0.5,), wide=200)
    some, every = study, replace(study, published_on_all=True)
    assert (some.published_parts, some.has_more) == (("first",), True)
    assert (every.published_parts, every.has_more) == (("first", "other"), False)
    for wide in (0, 40):
        for one in (some, every):
            alone = replace(one, wide=wide)
            assert (alone.published_parts, alone.has_more) == (("first",), False), "there are no others"


def test_cpu_scale_is_what_the_page_of_claims_is_made_of() -> None:
    scale = chosen_scale("cpu")
    assert {study.name: (study.sigmas, study.n, study.inputs, study.wide) for study in scale.studies} == {
        "mnist-lenet": ((0.25, 0.5, 0.75, 1.0), 1500, 40, 200),
        "mnist-resnet18": ((0.5, 1.0), 1500, 12, 40),
        "cifar10-resnet18": ((0.5, 1.0), 1500, 15, 40),
    }
    assert all(study.published_on_all for study in scale.studies)
    for study in scale.studies:
        assert [(form.n, form.methods, form.which) for form in study.sound_forms] == [
            (10_000, None, "all"),
            (100_000, ("cohen", "first_order", "profile"), "first"),
            (100_000, ("auto",), "first"),
            (100_000, ("cohen", "first_order", "profile"), "other"),
            (100_000, ("auto",), "other"),
        ]
        trained = preset(study.dataset, "gaussian", 0.5, **study.training)
        assert trained.arch == study.name.split("-")[1]
        assert study.dataset != "cifar10" or trained.epochs >= 12
    assert len(scale.steps) == 6
    assert (scale.macer, scale.stepped, scale.timed) == (
        "mnist-lenet",
        ("mnist-lenet",),
        ("mnist-lenet", "cifar10-resnet18"),
    )
    macer = preset("mnist", "macer", 0.5, **{**scale.study("mnist-lenet").training, **scale.macer_training})
    assert macer.epochs == preset("mnist", "gaussian", 0.5, **scale.study("mnist-lenet").training).epochs


def test_equal_time_is_as_long_as_was_measured() -> None:
    scale = chosen_scale("cpu")
    macer = preset("mnist", "macer", 0.5, **scale.recipe(scale.study(scale.macer), "macer"))
    cost = Evidence(generate_reproduction.RESULTS, scale).training_cost()
    assert cost is not None
    assert scale.equal_time_epochs == pytest.approx(macer.epochs * cost.ratio, rel=0.02)
