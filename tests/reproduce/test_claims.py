"""The page of claims: its numbers are those of the records, counted here again by hand; what is missing is not run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from docs import generate_reproduction
from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.claim_cells import NOT_RUN, mean_percent, points_added, share_improved, share_won, trend
from doublebubble.reproduce.claims import CLAIMS, average_gain, cheaper, growth, improved, macer
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.evidence import Evidence, Trained
from doublebubble.reproduce.interval_cost import IntervalCost, Timed
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import keep
from doublebubble.reproduce.order import planned
from doublebubble.reproduce.packed import SUFFIX, pack_run
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import invent

SCALE = replace(
    chosen_scale("smoke", inputs=12), studies=(replace(chosen_scale("smoke").studies[0], inputs=12, wide=20),)
)
STUDY = SCALE.studies[0]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for step in planned(SCALE):
        run = invent(folder / "made" / step.wanted.name, step.wanted, SCALE.alpha, False)
        pack_run(run.path, folder / "runs" / f"{step.wanted.name}{SUFFIX}")
    for kind, seconds in (("gaussian", 10.0), ("macer", 55.0)):
        note = Trained(arch="cnn", epochs=5, seconds=seconds, noisy_accuracy=0.5, weights_sha256="0")
        keep(folder / "models" / f"digits-{kind}-0.5.json", note)
    keep(
        folder / "simulations" / "interval-cost.json",
        IntervalCost(draws=100, times=(Timed(classes=10, interval="Goodman", merged=False, milliseconds=2.0),)),
    )
    return folder


def radii(made: Path, wanted: Wanted) -> tuple[list[float], list[float]]:
    """Cohen's and the reported radii of correctly predicted inputs that have the former."""
    table = load_run(made / "made" / wanted.name)
    columns = (table[name].tolist() for name in ("selected", "label", "radius_cohen", "radius"))
    rows = [
        (cohen, mine) for selected, label, cohen, mine in zip(*columns, strict=True) if selected == label and cohen > 0
    ]
    return [a for a, _ in rows], [b for _, b in rows]


def test_numbers_are_those_of_the_records(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    cohen, largest = radii(made, Wanted(STUDY, 0.5, "paper", "full"))
    table = evidence.published(STUDY, 0.5, "full")
    assert table is not None
    assert share_improved(table) == sum(b > a for a, b in zip(cohen, largest, strict=True)) / len(cohen)
    gain = float(np.mean([100 * (b / a - 1) for a, b in zip(cohen, largest, strict=True)]))
    assert mean_percent(table) == pytest.approx(gain)
    answer = average_gain(evidence)
    assert f"/ {gain:+.1f} % (12 inputs)" in answer.paper
    plan = radii(made, Wanted(STUDY, 0.5, "sound", "full", wide=True))
    sound = float(np.mean([100 * (b / a - 1) for a, b in zip(*plan, strict=True)]))
    assert answer.sound == f"digits: sigma 0.5: {sound:+.1f} % (20 inputs)"
    thrifty = radii(made, Wanted(STUDY, 0.5, "paper", "full", wide=True, thrifty=True))
    aside = float(np.mean([100 * (b / a - 1) for a, b in zip(*thrifty, strict=True)]))
    assert "thrifty form, sigma 0.5: " in answer.paper
    assert f"/ {aside:+.1f} % (20 inputs)" in answer.paper
    assert "was not run" in improved(evidence).sentence, "no coins were thrown"
    shares = [share_won(table, method) or 0.0 for method in ("cohen", "single", "boundary", "double")]
    assert sum(shares) == pytest.approx(1.0)


def test_macer_and_times(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    answer = macer(evidence)
    assert "An epoch of MACER took 5.5 times as long" in answer.sentence
    assert "against Gaussian of equal time not run" in answer.paper
    means = []
    for kind in ("macer", "gaussian"):
        table = load_run(made / "made" / Wanted(STUDY, 0.5, "paper", "full", kind).name)
        means.append(table.loc[table["selected"] == table["label"], "radius_cohen"].mean())
    assert f"sigma 0.5: Cohen's mean radius {100 * (means[0] / means[1] - 1):+.0f} % over" in answer.paper
    assert "digits: " in cheaper(evidence).paper
    assert NOT_RUN not in cheaper(evidence).paper


def test_points_that_the_search_adds(made: Path) -> None:
    table = load_run(made / "made" / Wanted(STUDY, 0.5, "paper", "full").name)
    assert points_added(table) >= 0
    assert points_added(table.assign(radius=table["radius_cohen"])) == pytest.approx(0.0)


def test_a_trend_is_what_the_values_do(made: Path) -> None:
    assert trend("It", [1.0, 2.0, 3.0]) == "It grows at every step."
    assert trend("It", [1.0, 2.0, 1.5]) == "It does not grow at every step (1, 2, 1.5)."
    assert growth(Evidence(made, SCALE)).sentence.startswith("The median under `paper`, full gradients ")


def test_the_page_says_not_run_where_nothing_is(tmp_path: Path, made: Path) -> None:
    empty = claims_page(Evidence(tmp_path, chosen_scale("cpu")))
    assert empty.count(f"\n{NOT_RUN.capitalize()}\n") == len(CLAIMS)
    assert "%" not in empty.split("## 1.")[1].split("|---|---|")[1].split("## 2.")[0]
    full = claims_page(Evidence(made, SCALE))
    for number in range(1, len(CLAIMS) + 1):
        assert f"\n## {number}. " in full
    assert full.count("`paper`: as published, not guaranteed") == len(CLAIMS)


def test_the_committed_page_is_what_the_command_gives() -> None:
    assert generate_reproduction.PAGE.read_text() == generate_reproduction.page(), "run docs/generate_reproduction.py"
    size = sum(path.stat().st_size for path in generate_reproduction.RESULTS.rglob("*") if path.is_file())
    assert size < generate_reproduction.MOST_BYTES
