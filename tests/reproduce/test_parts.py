"""Where all inputs are given the published form, in two runs, every figure is of the inputs of both."""

from dataclasses import replace

import pytest

from doublebubble.report.measures import REPORTED, gain_in_sum
from doublebubble.reproduce import EXPERIMENTS, chosen_scale, coin_votes, gain_by_draws
from doublebubble.reproduce.curves import PROTOCOLS, gather
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted
from doublebubble.reproduce.scales import SoundForm
from doublebubble.runs.tables import frame
from tests.reproduce.invented import InventedLaboratory, Silent

FORM = SoundForm(5000, 0.001, ("cohen", "profile"), which="first")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> InventedLaboratory:
    out = tmp_path_factory.mktemp("out")
    scale = chosen_scale("smoke", inputs=9)
    study = replace(scale.studies[0], n=40, wide=14, published_on_all=True, sigmas=(0.5,), curves=(0.5,))
    study = replace(study, sound_forms=(SoundForm(1000, 0.001), FORM, replace(FORM, which="other")))
    return InventedLaboratory(replace(scale, studies=(study,)), out, out / "models", Silent())


def test_curves_are_of_all_inputs_under_both_protocols(lab: InventedLaboratory) -> None:
    found = gather(lab, lab.scale.studies[0], (0.5,))
    lengths = {len(found.frames[protocol][0.5, gradient]) for protocol in PROTOCOLS for gradient in GRADIENTS}
    assert lengths == {len(run.records) for run in found.runs} == {14}


def test_coins_and_gains_by_draws_are_of_all_inputs(lab: InventedLaboratory) -> None:
    (study,) = lab.scale.studies
    paper = lab.joined(Wanted(study, 0.5, "paper", "approximate"))
    right = [record for record in paper.records if coin_votes.predicted_correctly(record)]
    assert {record.index >= 9 for record in right} == {False, True}, "some of either part are right"
    network, coins, _ = coin_votes.run(lab).figures[0].panels[0][0].lines
    assert network.points[0.5].n == len(right)
    assert coins.points[0.5] == coin_votes.coined(lab, study, paper, 0.5).gain
    lines = {line.label: line.points for line in gain_by_draws.run(lab).figures[0].panels[0][0].lines}
    for label, wanted, method in (
        ("published", Wanted(study, 0.5, "paper", "approximate"), "single"),
        ("sound", Wanted.of_form(study, 0.5, FORM), REPORTED),
    ):
        table = frame(lab.joined(wanted))
        assert len(table) == 14
        gain = gain_in_sum(table, method, table)
        assert gain is not None
        assert lines[label][float(wanted.draws)] == gain


def test_trainings_are_compared_on_the_first_inputs(lab: InventedLaboratory) -> None:
    caption = EXPERIMENTS["macer"](lab).figures[0].caption
    assert "; 9 inputs in each run; " in caption
