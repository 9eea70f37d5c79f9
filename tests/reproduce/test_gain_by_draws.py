"""One picture of the claims: every point is a ratio of sums over the same inputs, those of the published form."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from doublebubble.report.measures import Estimate
from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.coin_votes import coined
from doublebubble.reproduce.gain_by_draws import run
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.scales import SoundForm
from doublebubble.runs.record import Record
from tests.reproduce.invented import InventedLaboratory, Silent

FORMS = (
    SoundForm(1000, 0.001),
    SoundForm(5000, 0.001, ("cohen", "profile"), which="first"),
    SoundForm(5000, 0.001, ("profile",), which="first"),  # holds no Cohen radii, as auto
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> InventedLaboratory:
    out = tmp_path_factory.mktemp("out")
    scale = chosen_scale("smoke", inputs=9)
    study = replace(scale.studies[0], n=40, wide=14, sigmas=(0.5,), curves=(0.5,), sound_forms=FORMS)
    return InventedLaboratory(replace(scale, studies=(study,)), out, out / "models", Silent())


def right(records: Sequence[Record], indices: set[int]) -> list[Record]:
    """Those among the inputs whose class under test is the label: it has most of the invented select draws."""
    return [one for one in records if one.index in indices and one.counts["select"].get(one.label or 0) == 60]


def ratio(mine: list[float], cohen: list[float]) -> float:
    return 100 * (sum(mine) / sum(cohen) - 1)


def test_points_are_ratios_of_sums_over_the_inputs_of_the_published_form(lab: InventedLaboratory) -> None:
    (study,) = lab.scale.studies
    paper = lab.run(Wanted(study, 0.5, "paper", "approximate"))
    indices = {record.index for record in paper.records}
    points = {line.label: line.points for line in run(lab).figures[0].panels[0][0].lines}
    assert list(points) == ["on coins", "published", "sound"]
    kept = right(paper.records, indices)
    assert list(points["published"]) == list(points["on coins"]) == [40.0]
    said = points["published"][40.0]
    assert said.value == pytest.approx(ratio([r.radii["single"] for r in kept], [r.radii["cohen"] for r in kept]))
    assert said.n == len(kept)
    assert points["on coins"][40.0] == coined(lab, study, paper, 0.5).gain
    assert list(points["sound"]) == [40.0, 1000.0, 5000.0]
    for n, wanted in (
        (40.0, Wanted(study, 0.5, "sound", "full", which="all")),
        (1000.0, Wanted.of_form(study, 0.5, FORMS[0])),
        (5000.0, Wanted.of_form(study, 0.5, FORMS[1])),
    ):
        found = lab.run(wanted)
        assert (len(found.records) > len(indices)) == (wanted.which == "all")
        held = right(found.records, indices)
        gain = ratio([r.radius or 0.0 for r in held], [r.radii["cohen"] for r in held])
        assert points["sound"][n].value == pytest.approx(gain)
        assert points["sound"][n].n == len(held)


def test_a_run_without_cohen_stands_over_the_one_before_it(
    lab: InventedLaboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (study,) = lab.scale.studies
    beside, alone = (lab.run(Wanted.of_form(study, 0.5, form)) for form in FORMS[1:])
    same = tuple(one.model_copy(update={"radius": 2 * one.radii["cohen"], "radii": {}}) for one in beside.records)
    given = {Wanted.of_form(study, 0.5, FORMS[2]).name: replace(alone, records=same)}
    plain = lab.run
    monkeypatch.setattr(lab, "run", lambda wanted: given.get(wanted.name) or plain(wanted))
    point: Estimate = run(lab).figures[0].panels[0][0].lines[2].points[5000.0]
    assert point.value == pytest.approx(100.0)
