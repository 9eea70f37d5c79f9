"""What an input is, and which inputs are refused before a model sees them. Runs no model."""

import hashlib
import operator
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from doublebubble.errors import InputError


@dataclass(frozen=True)
class Input:
    """One input as it travels from the data to the record: the number that names its randomness, itself, its label.

    numpy integers and arrays become Python integers and tensors. Two inputs of one run need two numbers.
    """

    index: int
    x: Tensor
    label: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", _integer("index", self.index))
        object.__setattr__(self, "x", as_tensor(self.x, self.index))
        if self.label is not None:
            object.__setattr__(self, "label", _integer(f"input {self.index}: label", self.label))
        if self.index < 0:
            raise InputError(f"index: expected an integer >= 0, got {self.index}")

    @classmethod
    def named_by_bytes(cls, x: Tensor | npt.NDArray[Any], label: int | None = None) -> "Input":
        """An input without a number of its own: its bytes, shape and dtype name its randomness.

        The number is 63 bits of a SHA-256, so equal inputs have equal numbers on every machine, and no two different
        inputs that anyone will meet share one.
        """
        tensor = as_tensor(x, None)
        total = hashlib.sha256(f"doublebubble/input|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        total.update(flat.view(torch.uint8).numpy().data)
        return cls(int.from_bytes(total.digest()[:8], "big") >> 1, tensor, label)


def as_tensor(x: Tensor | npt.NDArray[Any], index: int | None) -> Tensor:
    """A tensor as it is, an array as a tensor of its own; anything else is refused."""
    where = "" if index is None else f"input {index}: "
    if isinstance(x, Tensor):
        return x
    if not isinstance(x, np.ndarray):
        raise InputError(f"{where}expected a tensor or an array of floating-point numbers, got {type(x).__name__}")
    try:
        return torch.from_numpy(np.array(x, dtype=x.dtype.newbyteorder("="), order="C"))
    except TypeError as error:
        raise InputError(f"{where}expected an array of floating-point numbers, got one of {x.dtype}") from error


def draw_dtype(x: Tensor) -> torch.dtype:
    """The dtype in which draws at x are made: float64 stays, anything narrower is widened to float32."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def held_domain(domain: tuple[float, float]) -> tuple[float, float]:
    """The domain, widened to hold its own ends as float32 rounds them: 0.3 is 0.30000001 there.

    An input clamped to the domain in float32 lies in it, and so does any centre that is rounded to float32 after it was
    confined to it, since rounding is monotone. What is certified for it holds for the domain asked for, a part of it.
    """
    with np.errstate(over="ignore"):
        low, high = (float(np.float32(end)) for end in domain)
    return (
        min(domain[0], low) if np.isfinite(low) else domain[0],
        max(domain[1], high) if np.isfinite(high) else domain[1],
    )


def checked_input(
    x: Tensor,
    index: int,
    shape: tuple[int, ...],
    domain: tuple[float, float] | None,
    device: torch.device,
    dtype: torch.dtype,
) -> Tensor:
    """x on the device in the dtype of the draws, or an error that says what was expected and what came."""
    if not x.is_floating_point():
        raise InputError(f"input {index}: expected a tensor of floating-point numbers, got {x.dtype}")
    if tuple(x.shape) != shape:
        if tuple(x.shape[1:]) == shape and x.dim() == len(shape) + 1:
            raise InputError(
                f"input {index}: expected one input of shape {shape}, got a batch of {len(x)}: "
                "pass one input, or certify_many"
            )
        raise InputError(f"input {index}: expected shape {shape}, got {tuple(x.shape)}")
    x = x.detach().to(device, dtype).contiguous()
    bad = int((~x.isfinite()).sum())
    if bad:
        raise InputError(f"input {index}: expected finite values, got {bad} that are NaN or infinite")
    if domain is not None:
        low, high = domain
        least, most = float(x.min()), float(x.max())
        if least < low or most > high:
            raise InputError(f"input {index}: expected values in [{low}, {high}], got [{least}, {most}]")
    return x


def _integer(name: str, value: object) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name}: expected an integer, got {value!r}") from None
