"""Results of an invented laboratory at a small scale, packed as those under results/ are."""

from pathlib import Path

import pytest

from doublebubble.reproduce.evidence import Trained
from doublebubble.reproduce.interval_cost import IntervalCost, Timed
from doublebubble.reproduce.looking import keep
from doublebubble.reproduce.order import planned
from doublebubble.reproduce.packed import SUFFIX, pack_run
from tests.reproduce.invented import SCALE, invent


@pytest.fixture(scope="session")
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
