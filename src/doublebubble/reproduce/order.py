"""In which order the runs of a scale are made, the most valuable first, and about how long each will take.

`reproduce all` follows it, so that whenever it is stopped the best of what could be had by then is there. Estimates are
draws times the measured time of one draw; nothing is claimed of them but their order of magnitude.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from doublebubble.data.registry import dataset_info
from doublebubble.models import build
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted, model_name
from doublebubble.reproduce.macer import equal_time_study
from doublebubble.reproduce.scales import Scale, Study
from doublebubble.reproduce.timing import timing_wishes
from doublebubble.training import TrainSettings, preset
from doublebubble.types import TrainMethod

_LOOKS = {"approximate": 20.0, "full": 20.0}  # looks that the published stopping rule leaves of 50, about
_LINE_LOOKS = 10.0
_BACKWARDS = 3.0  # a draw that is run forwards and backwards, in draws that are run forwards
_SEARCHES = 3.0  # what the searches before sound certificates cost, in certify budgets, all methods
_TRIED = 64  # draws whose time is measured


@dataclass(frozen=True)
class Step:
    """A run that is wanted, what it is for, and how many draws of its network it takes, as if run forwards."""

    purpose: str
    wanted: Wanted
    draws: float


def planned(scale: Scale) -> list[Step]:
    """Every run of a scale, each once, the most valuable first."""
    steps: dict[str, Step] = {}
    for purpose, wanted in _ordered(scale):
        steps.setdefault(wanted.name, Step(purpose, wanted, forward_draws(wanted)))
    return list(steps.values())


def _ordered(scale: Scale) -> Iterator[tuple[str, Wanted]]:
    """The published form beside `sound` at its draws first; then what it is compared with; the longest runs last."""
    for study in scale.studies:
        for sigma in sorted(study.sigmas, key=lambda sigma: (sigma not in study.curves, sigma)):
            for gradient in GRADIENTS:
                yield "published form", Wanted(study, sigma, "paper", gradient)
            for gradient in GRADIENTS:
                yield "sound, same draws", Wanted(study, sigma, "sound", gradient, which="all")
            for form in study.sound_forms[:1]:
                yield "sound, more draws", Wanted.of_form(study, sigma, form)
    for study in map(scale.study, scale.stepped):
        for step in scale.steps:
            for gradient in GRADIENTS:
                yield "step sizes", Wanted(study, scale.step_sigma, "paper", gradient, first_step=step)
    for study in map(scale.study, scale.timed or scale.names):
        for wanted in timing_wishes(scale, study):
            yield "times", wanted
    macer = scale.study(scale.macer)
    trained: list[tuple[Study, TrainMethod]] = [(macer, "macer")]
    if scale.equal_time_epochs:
        trained.append((equal_time_study(scale, macer), "gaussian"))
    for study, training in trained:
        for sigma in study.curves:
            for gradient in GRADIENTS:
                yield "MACER", Wanted(study, sigma, "paper", gradient, training)
                yield "MACER", Wanted(study, sigma, "sound", gradient, training, which="all")
    for study in scale.studies:
        for sigma in study.sigmas if study.wide else ():
            for gradient in GRADIENTS:
                yield "thrifty form", Wanted(study, sigma, "paper", gradient, which="all", thrifty=True)
    for study in scale.studies:
        for sigma in study.sigmas if "other" in study.published_parts else ():
            for gradient in GRADIENTS:
                yield "published form, other inputs", Wanted(study, sigma, "paper", gradient, which="other")
    for study in scale.studies:
        for form in study.sound_forms[1:]:
            for wanted in (Wanted.of_form(study, sigma, form) for sigma in study.sigmas):
                if wanted.inputs:  # none are left where all are given the published form
                    yield "sound, most draws", wanted


def forward_draws(wanted: Wanted) -> float:
    """About how many draws the run takes, a draw that is also run backwards counting as three."""
    n, price = wanted.draws, _BACKWARDS if wanted.gradient == "full" else 1.0
    if wanted.protocol == "sound":
        return wanted.inputs * n * (1 + _SEARCHES if wanted.methods is None else 2.0)
    if wanted.thrifty:
        return wanted.inputs * (3 * n + 256 * (12 * price + 10 * _BACKWARDS))
    return wanted.inputs * n * (1 + _LOOKS[wanted.gradient] * price + _LINE_LOOKS * _BACKWARDS)


def trainings(steps: list[Step], scale: Scale) -> dict[str, tuple[Study, TrainSettings, int]]:
    """The models that the runs need: by name the study, its settings, and the images of the training split."""
    found = {}
    for step in steps:
        study, method = step.wanted.study, step.wanted.training
        changes = scale.recipe(study, method)
        settings = preset(study.dataset, method, step.wanted.sigma, **changes)
        found[model_name(study, method, step.wanted.sigma)] = (study, settings, dataset_info(study.dataset).sizes[0])
    return found


def training_draws(settings: TrainSettings, images: int) -> float:
    """What training costs, in draws that are run forwards."""
    return _BACKWARDS * images * settings.epochs * settings.copies


def speed_of(study: Study) -> float:
    """Seconds of one draw run forwards through the study's network, untrained, on this machine now."""
    info = dataset_info(study.dataset)
    settings = preset(study.dataset, "gaussian", 0.5, **study.training)
    model = build(settings.arch, info.shape, info.num_classes, info.mean, info.std).eval()
    batch = torch.zeros((_TRIED, *info.shape))
    with torch.no_grad():
        model(batch[:2])
        begin = time.perf_counter()
        model(batch)
    return (time.perf_counter() - begin) / _TRIED
