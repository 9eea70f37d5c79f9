"""A prepared program computes what the model computes, and says what it is."""

import itertools
import os
import shutil
from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble import SmoothedClassifier
from doublebubble import program as program_module
from doublebubble.errors import ModelError, SettingError
from doublebubble.program import Program


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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own modules, when they are first imported
def test_a_compiled_program_takes_the_same_votes_and_gives_the_same_certificates() -> None:
    if shutil.which(os.environ.get("CXX", "g++")) is None:
        pytest.skip("no C++ compiler here")
    torch._dynamo.reset()
    weights = torch.tensor([[1.0, -1.0, 0.5, 0.0], [-1.0, 1.0, 0.0, 0.5], [0.0, 0.0, -1.0, -1.0]])
    linear = nn.Linear(4, 3, bias=False)
    linear.weight.data.copy_(weights)
    model = nn.Sequential(nn.Flatten(), linear, nn.ReLU()).eval()
    x = torch.tensor([[[[0.9, 0.2], [0.7, 0.4]]], [[[0.1, 0.8], [0.3, 0.6]]]])
    settings: dict[str, Any] = {"n": 6000, "n0": 100, "batch_size": 32, "methods": "all", "quiet": True}
    given, compiled, again = (
        db.certify(model, x, 0.5, program=name, **settings) for name in ("eager", "compiled", "compiled")
    )
    assert any(made.draws["search"] for made in compiled.certificates), "gradients are not compiled, and were asked for"
    assert [made.program for made in compiled.certificates] == ["compiled"] * 2
    for one, other in zip(given.records, compiled.records, strict=True):
        assert one.balls[0].counts == other.balls[0].counts, "logits differ in their last bits, votes in none of 6000"
    assert [made.radii for made in compiled.certificates] == [made.radii for made in again.certificates]


def test_what_is_compiled_is_the_votes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []

    def compiled(model: nn.Module, dynamic: bool | None) -> nn.Module:
        assert dynamic is False, "one shape's votes must not depend on which other shapes were met"
        return Seen(model, shapes)

    monkeypatch.setattr(torch, "compile", compiled)
    monkeypatch.setattr(program_module, "_require_compiler", lambda device: None)
    model = nn.Sequential(nn.Flatten(), nn.Linear(4, 3)).eval()
    run = db.certify(model, torch.rand(1, 1, 2, 2), 0.5, program="compiled", methods="all", batch_size=64, quiet=True)
    assert run.certificates[0].draws["search"]
    assert set(shapes) == {(64, 1, 2, 2)}
    assert len(shapes) >= run.certificates[0].draws["certify"] // 64


class Seen(nn.Module):
    """A model that notes the shapes that it is asked for, and whether a graph is built."""

    def __init__(self, model: nn.Module, shapes: list[tuple[int, ...]]) -> None:
        super().__init__()
        self.model, self.shapes = model, shapes

    def forward(self, x: Tensor) -> Tensor:
        assert not torch.is_grad_enabled()
        self.shapes.append(tuple(x.shape))
        return self.model(x)  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_without_a_compiler_the_error_says_so_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config, cpp_builder

    program_module._require_compiler.cache_clear()
    cpp_builder.cpp_compiler_search.cache_clear()
    monkeypatch.setattr(config.cpp, "cxx", ("no-such-compiler",))
    with pytest.raises(ModelError, match=r"compiled programs need a C\+\+ compiler, and none was found: install g\+\+"):
        SmoothedClassifier(nn.Sequential(nn.Flatten(), nn.Linear(4, 3)).eval(), 0.5, 3, program=Program(compile=True))
    program_module._require_compiler("cuda")
    program_module._require_compiler.cache_clear()
    cpp_builder.cpp_compiler_search.cache_clear()


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
