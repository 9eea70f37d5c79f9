"""The plan holds every run that the experiments ask for, each once, the published form first."""

from dataclasses import replace
from pathlib import Path

from doublebubble.reproduce import EXPERIMENTS, chosen_scale
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.order import forward_draws, planned, training_draws, trainings
from doublebubble.reproduce.scales import SoundForm
from doublebubble.runs.store import StoredRun
from doublebubble.training import preset
from tests.reproduce.invented import InventedLaboratory, Silent


class Listening(InventedLaboratory):
    """Remembers which runs were asked for."""

    def run(self, wanted: Wanted) -> StoredRun:
        self.left_out[wanted.name] = ""  # a dictionary that the laboratory has anyway
        return super().run(wanted)


def test_every_run_that_an_experiment_asks_for_is_planned(tmp_path: Path) -> None:
    scale = chosen_scale("smoke")
    forms = (SoundForm(200, 0.001), SoundForm(400, 0.001, ("cohen", "first_order", "profile")))
    scale = replace(scale, studies=(replace(scale.studies[0], wide=12, sound_forms=forms),), equal_time_epochs=9)
    lab = Listening(scale, tmp_path, tmp_path / "models", Silent())
    for name, experiment in EXPERIMENTS.items():
        if name not in ("interval-cost", "no-gain", "coin-votes"):
            experiment(lab)
    names = [step.wanted.name for step in planned(scale)]
    assert len(names) == len(set(names))
    assert set(lab.left_out) <= set(names)


def test_the_published_form_comes_first_and_the_longest_runs_last() -> None:
    steps = planned(chosen_scale("cpu"))
    purposes = [step.purpose for step in steps]
    assert purposes[:2] == ["published form"] * 2
    assert all("0.5" in step.wanted.name for step in steps[:2]), "sigma 0.5 is what most claims are of"
    assert purposes[-1] == "sound, most draws"
    rest = [step.wanted for step in steps if step.purpose == "published form, other inputs"]
    tail = (("mnist-resnet18", 28, (0.5, 1.0)), ("cifar10-resnet18", 25, (0.5, 1.0)))
    assert {(one.study.name, one.inputs, one.sigma, one.gradient, one.protocol) for one in rest} == {
        (name, inputs, sigma, gradient, "paper")
        for name, inputs, sigmas in (("mnist-lenet", 160, (0.25, 0.5, 0.75, 1.0)), *tail)
        for sigma in sigmas
        for gradient in ("approximate", "full")
    }
    assert {one.training for one in rest} == {"gaussian"}
    assert {step.wanted.inputs for step in steps if step.purpose == "MACER"} == {40, 200}
    assert purposes.index("published form, other inputs") > purposes.index("thrifty form")
    assert purposes.index("thrifty form") > max(k for k, purpose in enumerate(purposes) if purpose == "published form")
    longest = {(step.wanted.study.name, step.wanted.inputs) for step in steps if step.purpose == "sound, most draws"}
    first, other = (40, 12, 15), (160, 28, 25)
    names = ("mnist-lenet", "mnist-resnet18", "cifar10-resnet18")
    assert longest == {*zip(names, first, strict=True), *zip(names, other, strict=True)}
    last = [step.wanted.which for step in steps if step.purpose == "sound, most draws" and "lenet" in step.wanted.name]
    assert last == ["first"] * 8 + ["other"] * 8
    thrifty = [step.wanted for step in steps if step.purpose == "thrifty form"]
    assert {(wanted.study.name, wanted.inputs) for wanted in thrifty} == {
        ("mnist-lenet", 200),
        ("mnist-resnet18", 40),
        ("cifar10-resnet18", 40),
    }


def test_other_inputs_have_runs_of_other_names_even_if_they_are_as_many() -> None:
    study = replace(chosen_scale("cpu").studies[0], inputs=40, wide=80)
    first, other = (Wanted(study, 0.5, "sound", "full", which=which) for which in ("first", "other"))
    assert first.inputs == other.inputs == 40
    assert first.name != other.name


def test_estimates_grow_with_what_is_asked_for() -> None:
    study = chosen_scale("cpu").studies[0]
    plain = Wanted(study, 0.5, "paper", "approximate")
    assert forward_draws(replace(plain, gradient="full")) > forward_draws(plain)
    assert forward_draws(replace(plain, n=3000)) == 2 * forward_draws(plain)
    assert forward_draws(replace(plain, thrifty=True)) < forward_draws(plain) / 2
    macer = preset("mnist", "macer", 0.5, draws=4, epochs=2)
    assert training_draws(macer, 100) == 4 * training_draws(preset("mnist", "gaussian", 0.5, epochs=2), 100)
    scale = chosen_scale("smoke")
    assert set(trainings(planned(scale), scale)) == {
        *(f"digits-gaussian-{sigma}" for sigma in ("0.25", "0.5", "1")),
        *(f"digits-macer-{sigma}" for sigma in ("0.5", "1")),
    }
