"""The probe sees what no digest of tensors can, and does not see threads."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import ModelError, RunError
from doublebubble.runs.digests import model_digest
from doublebubble.runs.probe import Probe, probe
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec

SHAPE = (1, 4, 4)


class PlainMean(nn.Module):
    """Normalises by a plain attribute."""

    def __init__(self, mean: tuple[float, ...]) -> None:
        super().__init__()
        self.mean = mean
        self.head = nn.Linear(16, 3)
        nn.init.orthogonal_(self.head.weight, generator=torch.Generator().manual_seed(0))
        nn.init.zeros_(self.head.bias)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head((x - torch.tensor(self.mean)[:, None, None]).flatten(1))
        return logits


class Elsewhere(nn.Module):
    """Its weights lie outside the module, as those of an ONNX session do."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.session = np.random.default_rng(seed).normal(size=(16, 3)).astype(np.float32)

    def forward(self, x: Tensor) -> Tensor:
        return torch.from_numpy(x.flatten(1).numpy() @ self.session)


@pytest.mark.parametrize(
    ("one", "other"), [(PlainMean((0.5,)), PlainMean((0.48,))), (Elsewhere(0), Elsewhere(1))], ids=["plain", "outside"]
)
def test_a_run_is_not_resumed_with_a_model_whose_tensors_are_the_same(
    one: nn.Module, other: nn.Module, tmp_path: Path
) -> None:
    assert model_digest(one) == model_digest(other), "or this tests nothing"
    first, second = (probe(model.eval(), SHAPE, 8) for model in (one, other))
    with RunStore(tmp_path / "run", spec(probe=first)) as store:
        store.append(certificate(0))
    with (
        pytest.raises(RunError, match="probe: the model gives other logits"),
        RunStore(tmp_path / "run", spec(probe=second)),
    ):
        pass
    with pytest.raises(RunError, match="probe"), RunStore(tmp_path / "run", spec()):
        pass


def test_last_bits_that_differ_do_not_stop_a_resumed_run(tmp_path: Path) -> None:
    made = probe(PlainMean((0.5,)).eval(), SHAPE, 8)
    nudged = Probe(logits=tuple(value * (1 + 1e-6) for value in made.logits), tolerance=made.tolerance)
    assert nudged != made
    with RunStore(tmp_path / "run", spec(probe=made)) as store:
        store.append(certificate(0))
    with RunStore(tmp_path / "run", spec(probe=nudged)) as store:
        store.append(certificate(1))
    found = read_run(tmp_path / "run")
    assert [record.index for record in found.records] == [0, 1]
    assert found.spec == spec(probe=made), "the run keeps the specification that its checksums cover"


def test_the_number_of_threads_is_not_seen() -> None:
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 32 * 32, 10)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.05, generator=generator)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = probe(model, (1, 32, 32), 64)
        torch.set_num_threads(2)
        assert one.agrees(probe(model, (1, 32, 32), 64))
    finally:
        torch.set_num_threads(before)


def test_the_probe_is_deterministic_and_leaves_global_randomness_alone() -> None:
    before, model = torch.get_rng_state(), PlainMean((0.5,)).eval()
    torch.set_rng_state(before)
    first = probe(model, SHAPE, 8)
    assert torch.equal(torch.get_rng_state(), before)
    assert len(first.logits) == 4 * 3
    assert first.agrees(probe(model, SHAPE, 32)), "the same inputs at every micro-batch shape"


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_tolerance_follows_the_narrowest_dtype(dtype: torch.dtype) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).to(dtype).eval()
    found = probe(model, SHAPE, 8)
    assert found.tolerance == pytest.approx(torch.finfo(dtype).eps ** 0.5 * max(map(abs, found.logits)))


def test_models_that_cannot_be_asked_are_refused() -> None:
    with pytest.raises(ModelError, match="evaluation mode"):
        probe(PlainMean((0.5,)).train(), SHAPE, 8)
    with pytest.raises(ModelError, match=r"failed on a batch of shape \(8, 1, 5, 5\)"):
        probe(PlainMean((0.5,)).eval(), (1, 5, 5), 8)
    with pytest.raises(ModelError, match="finite logits"):
        probe(PlainMean((float("nan"),)).eval(), SHAPE, 8)
    with pytest.raises(ModelError, match=r"one row of logits for each of 8 inputs, got \(8, 1, 4, 4\)"):
        probe(nn.Identity().eval(), SHAPE, 8)
