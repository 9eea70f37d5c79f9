"""A network's coins: their shares are those of the votes, and what is reported on them is what was thrown."""

from dataclasses import replace

import pytest

from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.coin_votes import (
    Coined,
    coined,
    kept_as,
    predicted_correctly,
    reported_by,
    run,
    shares_of,
    voted,
)
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported, read_simulation
from doublebubble.reproduce.selection import two_class_law
from tests.reproduce.invented import InventedLaboratory, Silent


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> InventedLaboratory:
    out = tmp_path_factory.mktemp("out")
    scale = chosen_scale("smoke", inputs=5)
    study = replace(scale.studies[0], n=40, sigmas=(0.5,), curves=(0.5,))
    return InventedLaboratory(replace(scale, studies=(study,)), out, out / "models", Silent())


def test_coins_have_the_shares_of_the_votes_and_are_thrown_once(lab: InventedLaboratory) -> None:
    (study,) = lab.scale.studies
    paper = lab.run(Wanted(study, 0.5, "paper", "approximate"))
    found = coined(lab, study, paper, 0.5)
    votes = {record.index: record.counts["select"] for record in lab.run(Wanted(study, 0.5, "sound", "full")).records}
    right = {record.index for record in paper.records if predicted_correctly(record)}
    assert set(found.shares) == right
    for index, shares in found.shares.items():
        assert sum(shares) == pytest.approx(1.0)
        assert all(shares[k] == count / 100 for k, count in votes[index].items())
    assert len(found.throws) == lab.scale.no_gain.throws == len(set(found.throws)), "each throw is another"
    for throw in found.throws:
        assert len(throw.cohen) == len(right)
        assert all(a <= b for a, b in zip(throw.cohen, throw.largest, strict=True))
    (kept,) = (lab.out / "simulations").glob("coins-of-*.json")
    stamp = kept.stat().st_mtime_ns
    assert coined(lab, study, paper, 0.5) == read_simulation(kept, Coined)
    assert kept.stat().st_mtime_ns == stamp


def test_coins_of_more_inputs_are_another_file() -> None:
    some = replace(chosen_scale("cpu").study("cifar10-resnet18"), published_on_all=False)
    study = replace(some, published_on_all=True)
    every, few = (kept_as(voted(one, 0.5), 39) for one in (study, some))
    assert every == "coins-of-cifar10-resnet18-gaussian-0.5-sound-full-n10000-40inputs-alpha0.001-on40-times39"
    assert few == every.replace("on40", "on15")


def test_the_figure_shows_the_network_its_coins_and_the_law(lab: InventedLaboratory) -> None:
    results = run(lab)
    lines = {line.label: line for line in results.figures[0].panels[0][0].lines}
    assert list(lines) == ["network", "its coins", "predicted"]
    paper = lab.run(Wanted(lab.scale.studies[0], 0.5, "paper", "approximate"))
    kept = [record for record in paper.records if predicted_correctly(record)]
    cohen, single = (sum(record.radii[name] for record in kept) for name in ("cohen", "single"))
    assert lines["network"].points[0.5].value == pytest.approx(100 * (single / cohen - 1))
    assert reported_by(kept, 40).gain == pytest.approx(single / cohen - 1)
    throws = coined(lab, lab.scale.studies[0], paper, 0.5).throws
    gains = [100 * (sum(throw.largest) / sum(throw.cohen) - 1) for throw in throws if sum(throw.cohen) > 0]
    bars = lines["its coins"].points[0.5]
    assert (bars.value, bars.low, bars.high) == pytest.approx((sum(gains) / len(gains), min(gains), max(gains)))
    assert "3 throws of all coins; a gain that is luck alone lies beyond it with probability 0.5." in (
        results.figures[0].caption
    )


def test_the_prediction_is_the_law_of_the_largest_look() -> None:
    found = Coined(
        name="x",
        sigma=0.5,
        n=400,
        alpha=0.05,
        shares={0: (0.9, 0.1), 1: (0.7, 0.3)},
        throws=(throw_of(0, 0),),
    )
    assert found.predicted == pytest.approx(0.0, abs=1e-9)
    laws = [two_class_law(p, 400, 0.05, 0.5) for p in (0.9, 0.7)]
    several = found.model_copy(update={"throws": (throw_of(10, 20), throw_of(10, 2))})
    largest = laws[0].largest(11) + (laws[1].largest(21) + laws[1].largest(3)) / 2
    assert several.predicted == pytest.approx(100 * (largest / sum(law.mean for law in laws) - 1), rel=0.03)


def test_a_throw_in_which_no_input_has_a_cohen_radius_has_no_gain() -> None:
    none = Reported(cohen=(0.0, 0.0), largest=(0.1, 0.0), looks=(5, 5))
    shares = {0: (0.9, 0.1), 1: (0.7, 0.3)}
    found = Coined(name="x", sigma=0.5, n=40, alpha=0.05, shares=shares, throws=(none, throw_of(3, 3)))
    assert found.gains == pytest.approx([100 * (0.9 / 0.7 - 1)])
    assert found.gain.n == 1
    assert found.model_copy(update={"throws": (none,)}).gains == []


def throw_of(*looks: int) -> Reported:
    return Reported(cohen=(0.5, 0.2), largest=(0.6, 0.3), looks=looks)


def test_shares_are_of_the_inputs_asked_for(lab: InventedLaboratory) -> None:
    sound = lab.run(Wanted(lab.scale.studies[0], 0.5, "sound", "full"))
    assert set(shares_of(sound, {0, 2})) == {0, 2}
