"""What does `auto` mean in a run? What the run has recorded or, if it is not begun, what is measured fastest here."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from torch import Tensor, nn

from doublebubble.errors import SettingError
from doublebubble.measuring import COMPILED, PREPARED, SIZES, Fastest, fastest
from doublebubble.models.black_box import is_black_box
from doublebubble.models.fixed_batch import chosen_batch, fixed_batch
from doublebubble.program import Program
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import begun, read_spec

Auto = Literal["auto"]
AUTO: Auto = "auto"
_LONG = 1200.0
"""Seconds of work from which on compiled programs are tried: each takes up to a minute to make, in every process."""


def named_program(program: Program | str | None) -> Program | Auto | None:
    """A program by its name; `auto` stays what it is."""
    if program == AUTO:
        return AUTO
    return Program.named(program) if isinstance(program, str) else program


def chosen_program(
    model: nn.Module,
    inputs: Callable[[], Tensor],
    sigma: float,
    program: Program | Auto | None,
    batch_size: int | str | None,
    out: Path | None = None,
    draws: int = 0,
) -> tuple[Program, int]:
    """The program and the micro-batch of a run: those asked for, and in place of `auto` what is recorded or fastest.

    `out` is the run's folder; once it has records, what its specification names is not measured again. `inputs` gives
    some of the data, where the model lies, and `draws` is how many forward passes are ahead: programs that must be
    compiled are tried only where there are many. A black box runs as it is, at the usual micro-batch: each of its calls
    may be dear.
    """
    if isinstance(batch_size, str) and batch_size != AUTO:
        raise SettingError(f"batch_size: expected a whole number of at least 2, or auto, got {batch_size!r}")
    size = chosen_batch(model, None if isinstance(batch_size, str) else batch_size)
    plain = program if isinstance(program, Program) else Program()
    if AUTO not in (program, batch_size):
        return plain, size
    if out is not None and begun(out) and isinstance(spec := read_spec(out), RunSpec):
        recorded = Fastest(Program.named(spec.program), spec.batch_size, 0.0)
    elif is_black_box(model):
        return plain, size
    else:
        programs = PREPARED if program == AUTO else (plain,)
        sizes = SIZES if batch_size == AUTO and fixed_batch(model) is None else (size,)
        recorded = _measured(model, inputs(), sigma, programs, sizes, draws)
    return recorded.program if program == AUTO else plain, recorded.batch_size if batch_size == AUTO else size


def _measured(
    model: nn.Module, inputs: Tensor, sigma: float, programs: tuple[Program, ...], sizes: tuple[int, ...], draws: int
) -> Fastest:
    found = fastest(model, inputs, sigma, programs, sizes)
    if programs != PREPARED or draws < _LONG * found.rate:
        return found
    return fastest(model, inputs, sigma, (found.program, *COMPILED), (found.batch_size,))
