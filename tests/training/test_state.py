"""The state between epochs: what is loaded continues exactly like what was saved."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from doublebubble.errors import CheckpointError
from doublebubble.training.state import STATE, Progress, load_state, save_state


def begin(kind: str) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3))
    for number, parameter in enumerate(model.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(number))
    if kind == "adam":
        return model, torch.optim.Adam(model.parameters(), lr=0.1)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def step(model: nn.Module, optimiser: torch.optim.Optimizer, number: int) -> None:
    x = torch.rand(8, 1, 4, 4, generator=torch.Generator().manual_seed(number))
    optimiser.zero_grad()
    model(x).square().mean().backward()
    optimiser.step()


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_a_run_that_was_saved_and_loaded_goes_on_bit_by_bit(tmp_path: Path, kind: str) -> None:
    whole, optimiser = begin(kind)
    for number in range(3):
        step(whole, optimiser, number)
    save_state(tmp_path, whole, optimiser, Progress(3, 2, 0.5))
    other, its = begin(kind)
    assert load_state(tmp_path, other, its) == Progress(3, 2, 0.5)
    for number in range(3, 6):
        step(whole, optimiser, number)
        step(other, its, number)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def test_an_empty_folder_is_a_fresh_start(tmp_path: Path) -> None:
    model, optimiser = begin("adam")
    assert load_state(tmp_path, model, optimiser) == Progress()


def test_what_is_no_state_is_named(tmp_path: Path) -> None:
    model, optimiser = begin("sgd")
    (tmp_path / STATE).write_bytes(b"short")
    with pytest.raises(CheckpointError, match=r"state\.safetensors: cannot be read"):
        load_state(tmp_path, model, optimiser)
    save_state(tmp_path, model, optimiser, Progress())
    save_file(load_file(tmp_path / STATE), tmp_path / STATE, {"progress": "{}}"})
    with pytest.raises(CheckpointError, match="holds no progress of a training run"):
        load_state(tmp_path, model, optimiser)
