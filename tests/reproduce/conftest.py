"""Results of an invented laboratory at a small scale, packed as those under results/ are."""

from pathlib import Path

import pytest

from doublebubble.reproduce.coin_votes import Coined, kept_as, predicted_correctly, voted
from doublebubble.reproduce.evidence import Evidence, Trained
from doublebubble.reproduce.interval_cost import IntervalCost, Timed
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported, keep
from doublebubble.reproduce.order import planned
from doublebubble.reproduce.packed import pack_runs
from doublebubble.runs.store import read_run
from doublebubble.training import preset
from doublebubble.types import TrainMethod
from tests.reproduce.invented import COSTS, SCALE, STUDY, TOSSED, invent


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    wishes = [step.wanted for step in planned(SCALE)]
    runs = [invent(folder / "made" / wanted.name, wanted, SCALE.alpha, False) for wanted in wishes]
    pack_runs([run.path for run in runs], folder / "runs")
    trained: tuple[tuple[TrainMethod, float], ...] = (("gaussian", 10.0), ("macer", 55.0))
    for kind, seconds in trained:
        epochs = preset(STUDY.dataset, kind, 0.5, **SCALE.recipe(STUDY, kind)).epochs
        note = Trained(arch="cnn", epochs=epochs, seconds=seconds, noisy_accuracy=0.5, weights_sha256="0")
        keep(folder / "models" / f"digits-{kind}-0.5.json", note)
    keep(folder / "simulations" / "training-cost.json", COSTS)
    keep(
        folder / "simulations" / "interval-cost.json",
        IntervalCost(draws=100, times=(Timed(classes=10, interval="Goodman", merged=False, milliseconds=2.0),)),
    )
    return folder


@pytest.fixture
def tossed(tmp_path: Path, made: Path) -> Evidence:
    """The invented results, with coins for two inputs that the network predicts correctly, the later one first."""
    wanted = Wanted(STUDY, TOSSED, "paper", "approximate")
    run = made / "made" / wanted.name
    pack_runs([run], tmp_path / "runs")
    right = [record.index for record in read_run(run).records if predicted_correctly(record)]
    coins = Coined(
        name=voted(STUDY, TOSSED).name,
        sigma=TOSSED,
        n=400,
        alpha=0.05,
        shares={right[3]: (0.9, 0.1), right[0]: (0.7, 0.3)},
        throws=(
            Reported(cohen=(0.5, 0.25), largest=(0.55, 0.25), looks=(10, 0)),
            Reported(cohen=(0.5, 0.25), largest=(0.5, 0.25), looks=(2, 0)),
            Reported(cohen=(0.5, 0.25), largest=(0.6, 0.3), looks=(5, 7)),
        ),
    )
    keep(tmp_path / "simulations" / f"{kept_as(voted(STUDY, TOSSED), len(coins.throws))}.json", coins)
    return Evidence(tmp_path, SCALE)
