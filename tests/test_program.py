"""A prepared program computes what the model computes, and says what it is."""

import itertools
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from doublebubble import program as program_module
from doublebubble.errors import ModelError, SettingError
from doublebubble.program import Program, fastest_program


class Residual(nn.Module):
    """Batch norms after convolutions, one of them after a shared one, and a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(6)
        self.shared = nn.Conv2d(6, 6, 1)
        self.norm2 = nn.BatchNorm2d(6)
        self.lone = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.norm(self.conv(x)))
        once = self.shared(x)
        twice = self.norm2(self.shared(once))
        return self.head(self.lone(once + twice).mean((2, 3)))  # type: ignore[no-any-return]


@pytest.fixture
def net() -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    model = Residual()
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.is_floating_point():
            tensor.data.copy_(torch.rand(tensor.shape, generator=generator) + 0.1)
    return model.eval()


BATCH = torch.rand(8, 3, 5, 5, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_preparing_keeps_the_function_and_the_model(net: nn.Module, fold: bool, last: bool) -> None:
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    program = Program(fold_batch_norm=fold, channels_last=last)
    prepared = program.prepare(net)
    with torch.no_grad():
        torch.testing.assert_close(prepared(program.layout(BATCH)), net(BATCH), rtol=1e-4, atol=1e-4)
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_folding_removes_the_batch_norms_that_can_go(net: nn.Module) -> None:
    kinds = [type(module) for module in Program(fold_batch_norm=True).prepare(net).modules()]
    assert kinds.count(nn.BatchNorm2d) == 2, "one follows a convolution used twice, one follows a sum"


def test_a_program_is_found_by_its_name() -> None:
    assert Program().name == "eager"
    for fold, last, compiled in itertools.product((False, True), repeat=3):
        for precision in get_args(program_module.Precision):
            program = Program(fold, last, compiled, precision)
            assert Program.named(program.name) == program
    for name in ("", "channels_last+folded", "float32", "fast"):
        with pytest.raises(SettingError, match="program: expected eager, or parts of folded"):
            Program.named(name)


def test_a_model_that_cannot_be_traced_is_refused() -> None:
    class Branching(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(ModelError, match="cannot be traced"):
        Program(fold_batch_norm=True).prepare(Branching().eval())


def test_a_model_in_training_mode_cannot_be_folded(net: nn.Module) -> None:
    with pytest.raises(ModelError, match="evaluation mode"):
        Program(fold_batch_norm=True).prepare(net.train())


def test_the_fastest_program_is_one_that_works(net: nn.Module) -> None:
    program = fastest_program(net, BATCH, rounds=1)
    assert not program.compile
    assert program.prepare(net)(program.layout(BATCH)).shape == (8, 4)


def test_a_precision_that_kills_the_process_is_a_clear_error(net: nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    program_module._require_precision.cache_clear()
    monkeypatch.setattr(program_module, "_PROBE", "import os, signal; os.kill(os.getpid(), signal.SIGILL)  # {0}")
    with pytest.raises(ModelError, match=r"bfloat16 convolutions do not work on this CPU .*signal 4.*use float32"):
        Program(precision="bfloat16").prepare(net)
    program_module._require_precision.cache_clear()


def test_reduced_precision_returns_float32_logits(net: nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_module, "_require_precision", lambda precision, device: None)
    cast = Program(precision="bfloat16").prepare(nn.Sequential(nn.Flatten(), nn.Linear(75, 4)).eval())
    assert cast(BATCH).dtype == torch.float32
