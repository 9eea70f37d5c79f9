"""Which program, at which micro-batch, runs a model fastest here? Found by trying them on noisy inputs.

A program whose logits differ from the model's own by more than rounding explains is not chosen, however fast it is.
The outcome depends on timing noise, so a run measures once and records what was chosen.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from doublebubble.errors import ModelError
from doublebubble.models.calling import ModelCode, logits_of
from doublebubble.models.fixed_batch import USUAL
from doublebubble.program import Program

PREPARED = tuple(Program(fold, last) for fold in (False, True) for last in (False, True))
COMPILED = tuple(Program(fold, compile=True) for fold in (False, True))
"""What is compiled chooses its layout itself."""
SIZES = (USUAL, 32, 64, 128, 512, 1024)
_MOST_VALUES = 1 << 25
"""Larger micro-batches are not tried: what a network keeps between two layers is many times its input."""
_BETTER = 0.97  # of the time of what is plainer, at most: nothing unusual is chosen for a hair
_ROUNDS = 3
_Rival = TypeVar("_Rival", Program, int)


@dataclass(frozen=True)
class Fastest:
    """What was found: the program, the micro-batch, and how many rows per second they run."""

    program: Program
    batch_size: int
    rate: float


def fastest(
    model: nn.Module,
    inputs: Tensor,
    sigma: float,
    programs: tuple[Program, ...] = PREPARED,
    sizes: tuple[int, ...] = (USUAL,),
) -> Fastest:
    """The fastest of these programs at the first of these micro-batches, then its fastest micro-batch.

    `inputs` are some rows of the data; noise of size sigma is put on them. What the model or the machine does not allow
    is left out; it is an error only if nothing is left.
    """
    program = fastest_program(model, _noisy(inputs, sigma, sizes[0]), programs)
    prepared = program.prepare(model)
    possible = [size for size in sizes if size == sizes[0] or size * inputs[0].numel() <= _MOST_VALUES]
    runs = {size: _run(program, prepared, _noisy(inputs, sigma, size)) for size in possible}
    seconds = {size: taken / size for size, taken in _times(runs).items()}
    size = _plainest(seconds)
    return Fastest(program, size, 1 / seconds[size])


def fastest_program(model: nn.Module, batch: Tensor, programs: tuple[Program, ...] = PREPARED) -> Program:
    """The program that runs `batch` fastest here, among those that the model allows and that give the same answers.

    Answers are the same if logits differ from those of the model as it is by no more than rounding explains. The first
    program is chosen if there is no other, whatever it answers.
    """
    if len(programs) == 1:
        return programs[0]
    wanted = _run(Program(), model, batch)()
    runs = {}
    for program in programs:
        try:
            with ModelCode("the model cannot be prepared"):
                prepared = program.prepare(model)
            run = _run(program, prepared, batch)
            if program == programs[0] or _agree(run(), wanted):
                runs[program] = run
        except ModelError:  # a way of preparing that this model or machine does not support
            continue
    return _plainest(_times(runs))


def _noisy(inputs: Tensor, sigma: float, size: int) -> Tensor:
    """So many rows: the inputs over and over, each row with noise of its own."""
    rows = inputs[torch.arange(size) % len(inputs)]
    noise = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    return rows + sigma * noise.to(rows)


def _run(program: Program, prepared: nn.Module, batch: Tensor) -> Callable[[], Tensor]:
    laid_out = program.layout(batch)
    doing = f"the program {program.name} failed on a batch of shape {tuple(batch.shape)}"

    def run() -> Tensor:
        with torch.inference_mode():
            return logits_of(prepared, laid_out, doing, "the model")

    return run


def _agree(found: Tensor, wanted: Tensor) -> bool:
    """Whether rounding explains the difference: half of the digits, on the scale of the largest logit."""
    allowed = math.sqrt(torch.finfo(wanted.dtype).eps) * float(wanted.abs().max())
    return found.shape == wanted.shape and float((found - wanted).abs().max()) <= allowed


def _times(runs: Mapping[_Rival, Callable[[], Tensor]]) -> dict[_Rival, float]:
    """The least seconds of each over some rounds in turns, after one that does not count; without those that fail."""
    least: dict[_Rival, float] = {}
    failed: ModelError | None = None
    for rival, run in runs.items():
        try:
            run()
            least[rival] = math.inf
        except ModelError as error:
            failed = error
    for _ in range(_ROUNDS):
        for rival in least:
            start = time.perf_counter()
            float(runs[rival]().sum())  # waits for a device that works on its own
            least[rival] = min(least[rival], time.perf_counter() - start)
    if failed is not None and not least:
        raise failed
    return least


def _plainest(seconds: Mapping[_Rival, float]) -> _Rival:
    """The fastest, in an order in which the plainer comes first and what follows must be better by more than a hair."""
    rivals = iter(seconds)
    best = next(rivals)
    for rival in rivals:
        if seconds[rival] < _BETTER * seconds[best]:
            best = rival
    return best
