"""Is the program a function of one row of its input? A certificate assumes so; here it is tried out on the run itself.

The first micro-batch of a shape is the reference: its logits are paid for. Before one of its votes counts, a few of its
rows are run again (`row_trials.py`): twelve rows, or two micro-batches if the model takes no fewer. More is tried as
the run is long enough to pay for it with half a percent of its rows, and every so many micro-batches the run is looked
at again for another half. Differences that rounding explains mean that inputs may not share a micro-batch; any larger
one is an error that says what was seen.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from doublebubble.errors import ModelError
from doublebubble.smoothing.forward import Forward
from doublebubble.smoothing.row_trials import FEW, Owed, RowTrials

EVERY = 200
"""Micro-batches from one look to the next: half a percent of the forward passes."""
FIRST = 0.005
"""The part of a run's rows that pays for what is tried beyond the first trials."""
_PLACES = 16  # one row in so many of the first micro-batch that inputs share is run in two places
_STEPS = 8  # of floating point within one sigma: fewer, and the noise is not normal


class RowsApartError(Exception):
    """Inputs shared a micro-batch that may not: what was drawn since is to be drawn again. Never seen by users."""


class Rows:
    """When the rows at one input shape are tried out, and what of a run's rows that has cost."""

    def __init__(self, forward: Forward, sigma: float, x: Tensor, index: int) -> None:
        self._forward = forward
        self._trials = RowTrials(forward, sigma, x, index)
        self._looks, self._until_look = 0, EVERY
        self._drawn = self._expected = self._spent = 0
        self._owed: Owed = []
        self._before = self._trials.known
        self._twice = 0
        self._settled = False

    @property
    def interchangeable(self) -> bool:
        """Whether inputs may share a micro-batch: no row's logits were seen to differ, be it in the last bit."""
        return self._trials.interchangeable

    @property
    def _open(self) -> bool:
        """Whether it is still to be seen in rows that would be padding if inputs may share a micro-batch."""
        return self._trials.interchangeable and not self._trials.places_known

    @property
    def begun(self) -> bool:
        """Whether rows of a micro-batch are known, with which others can be compared."""
        return self._trials.begun

    def settle(self) -> bool:
        """Whether inputs may share a micro-batch, tried once in a full one: known rows in other places and company."""
        if not self._settled:
            self._trials.try_places()
            self._settled = True
        return self.interchangeable

    def expect(self, draws: int) -> None:
        """Take note that so many draws are ahead: they pay for what is tried out first."""
        self._expected = max(self._expected, self._drawn + draws)

    def reserve(self, draws: Sequence[int], padded: bool) -> int:
        """How many rows are set aside to find out whether requests of so many draws may share micro-batches.

        None if they do not have to share; what would be padding if there is to be some, at most half a micro-batch.
        """
        size = self._forward.batch_size
        if size < FEW or len(draws) < 2 or all(number % size == 0 for number in draws):
            return 0
        free = -sum(draws) % size if padded else 0
        return min(free, size // 2) or max(1, size // _PLACES)

    def room(self, reserve: int) -> int:
        """How many rows of the next micro-batch are for draws: all, once it is known if inputs may share it."""
        return self._forward.batch_size - (reserve if self._open else 0)

    def prepare(self, inputs: Tensor, filled: int) -> None:
        """Before a micro-batch is run: what padding would be holds rows in two places, until they were compared."""
        size, first = len(inputs), not self._trials.begun
        self._twice = 0
        if self._open and filled < size:
            self._twice = size - max(filled, -(-size // 2)) if first else max(1, (size - filled) // 2)
            inputs[filled : size - self._twice] = self._trials.known[filled : size - self._twice]
            inputs[size - self._twice :] = inputs[: self._twice].flip(0)
        if first:
            self._before = inputs.clone()

    def count(self, inputs: Tensor, filled: int, logits: Tensor) -> None:
        """Take note of a micro-batch that was run, before its votes count; look, if it is time to."""
        shareable = self.interchangeable
        self._drawn += filled
        self._until_look -= 1
        try:
            self._look_at(inputs, filled, logits)
        except Exception:
            self._trials.forget()
            raise
        if shareable and not self.interchangeable:
            raise RowsApartError

    def _look_at(self, inputs: Tensor, filled: int, logits: Tensor) -> None:
        if not self._trials.begun:
            self._begin(inputs, logits)
        if self._twice:
            self._compare_places(filled, logits)
        if self._until_look == 0:
            self._looks, self._until_look = self._looks + 1, EVERY
            self._trials.look(self._looks, inputs, filled, logits.clone())
        while self._owed and self._spent + self._owed[0][0] <= FIRST * max(self._expected, self._drawn):
            cost, trial = self._owed.pop(0)
            self._spent += cost
            trial()

    def _begin(self, inputs: Tensor, logits: Tensor) -> None:
        """The first trials; where they took whole micro-batches, the next look is that much later."""
        self._trials.take(self._before, inputs, logits)
        self._before = self._trials.known
        self._spent, self._owed = self._trials.first()
        if not self._forward.takes_few:
            self._until_look += EVERY

    def _compare_places(self, filled: int, logits: Tensor) -> None:
        """Whether rows of one micro-batch, and known rows beside others, have the same logits to the bit."""
        end = len(logits) - self._twice
        for found, known, how in (
            (logits[end:], logits[: self._twice].flip(0), "in another place"),
            (logits[filled:end], self._trials.rows_known(range(filled, end)), "beside other rows"),
        ):
            self._trials.first_compare(found, known, how, to_the_bit=True)
        self._trials.places_known = True


def require_room_for_noise(x: Tensor, sigma: float, index: int) -> None:
    """An error if adding noise of this size to the input mostly rounds it away."""
    size = x.abs()
    step = float((torch.nextafter(size, torch.full_like(size, torch.inf)) - size).max()) if x.numel() else 0.0
    if sigma < _STEPS * step:
        raise ModelError(
            f"input {index}: noise of sigma {sigma:g} is too small for {str(x.dtype).removeprefix('torch.')}, whose "
            f"steps at the input's values are {step:.3g}: the sum would be rounded to the input or next to it"
        )
