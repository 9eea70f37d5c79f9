"""Whatever a model raises or returns, the answer is logits or a ModelError; only Ctrl-C stays what it is."""

import types
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import DataError, ModelError
from doublebubble.models.calling import ModelCode, bare_logits, logits_of, out_of_memory, reason


class Unnatural(BaseException):
    """Not even an Exception."""


class Speechless(Exception):
    def __str__(self) -> str:
        raise ValueError("none of your business")


class Does(nn.Module):
    def __init__(self, what: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: Tensor) -> object:
        return self.what(x)


def raising(error: BaseException) -> nn.Module:
    def fail(_: Tensor) -> Tensor:
        raise error

    return Does(fail)


KINDS = [
    KeyError("k"),
    AssertionError(),
    MemoryError(),
    ZeroDivisionError("by zero"),
    OSError("gone"),
    RecursionError("too deep"),
    StopIteration(),
    SystemExit(3),
    Unnatural("odd"),
    Speechless(),
]


@pytest.mark.parametrize("error", KINDS, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_is_a_model_error_that_names_it(error: BaseException) -> None:
    with pytest.raises(ModelError, match=rf"^input 3: it failed: {type(error).__name__}") as caught:
        logits_of(raising(error), torch.zeros(2, 3), "input 3: it failed", "input 3")
    assert caught.value.__cause__ is error


def test_an_interruption_stays_one_and_errors_of_ours_stay_as_they_are() -> None:
    with pytest.raises(KeyboardInterrupt):
        logits_of(raising(KeyboardInterrupt()), torch.zeros(2, 3), "doing", "where")
    with pytest.raises(DataError, match=r"^ours$"), ModelCode("doing"):
        raise DataError("ours")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: x.to(torch.complex64), "complex64"),
        (lambda x: x > 0, "bool"),
        (lambda x: x.long(), "int64"),
        (lambda x: x.to(torch.float8_e4m3fn), "float8"),
        (lambda x: x.to_sparse(), "sparse"),
        (lambda x: x.to("meta"), "meta"),
        (lambda x: torch.nested.nested_tensor([x[0], x[1]]), "nested"),
        (lambda x: [x], "got list"),
        (lambda x: None, "got NoneType"),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_what_is_no_plain_tensor_of_floats_is_refused(answer: Callable[[Tensor], object], said: str) -> None:
    with pytest.raises(ModelError, match=rf"^input 3: expected logits as a .*{said}"):
        logits_of(Does(answer), torch.rand(2, 3), "doing", "input 3")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_logits_in_any_precision_come_as_they_are(dtype: torch.dtype) -> None:
    x = torch.rand(2, 3)
    assert torch.equal(logits_of(Does(lambda x: x.to(dtype)), x, "", ""), x.to(dtype))


def test_memory_that_runs_out_is_known_by_what_python_and_torch_say() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60)
    assert out_of_memory(caught.value)
    assert out_of_memory(MemoryError())
    assert out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(ModelError, match="memory ran out: a smaller batch size needs less") as wrapped:
        logits_of(Does(lambda _: torch.empty(2**60)), torch.zeros(2, 3), "doing", "where")
    assert out_of_memory(wrapped.value)
    assert not out_of_memory(RuntimeError("shapes do not fit"))
    assert not out_of_memory(ModelError("the model said: out of memory"))


def test_a_reason_is_one_line() -> None:
    assert reason(ValueError("first\nsecond")) == "ValueError: first"
    assert reason(AssertionError()) == "AssertionError"
    assert reason(Speechless()) == "Speechless: its message cannot be made (ValueError)"


def test_logits_inside_an_output_are_taken_out_of_it() -> None:
    """As Hugging Face's models return them."""
    inside = types.SimpleNamespace(logits=torch.ones(2, 3))
    assert bare_logits(inside) is inside.logits
    assert bare_logits(inside.logits) is inside.logits
    assert bare_logits([1]) == [1]

    class Wraps(nn.Module):
        def forward(self, x: Tensor) -> object:
            return inside

    assert logits_of(Wraps(), torch.ones(2, 1), "failed", "the model") is inside.logits
