"""Is the program a function of one row of its input? A certificate assumes so; here it is tried out.

Before the first draws of a shape, and from time to time after, known rows are run again: twice in a row, alone, in
another place, beside padding, beside copies of rows far off. Most of it is done in batches of a few rows, if the model
takes them, so that it costs little. Differences that rounding explains mean that inputs may not share a micro-batch;
any larger one is an error that says what was seen.
"""

import torch
from torch import Tensor

from doublebubble.errors import FunctionError, ModelError
from doublebubble.models.calling import out_of_memory
from doublebubble.smoothing.forward import Forward
from doublebubble.streams import NormalDraws, Stream

EVERY = 200
"""Micro-batches from one look to the next: half a percent of the forward passes."""
FEW = 8
"""Rows of the small batches."""
_KEPT = 8  # one row in so many is compared, beside company that fills the rest
_STEPS = 8  # of floating point within one sigma: fewer, and the noise is not normal


class Rows:
    """Known rows at one input shape, their logits, and whether the program gives them to the bit in any company."""

    def __init__(self, forward: Forward, sigma: float, x: Tensor, index: int) -> None:
        self._forward = forward
        self._index = index
        self.interchangeable = True
        self._run_since = 0
        noise = torch.empty((forward.batch_size, *x.shape), dtype=x.dtype, device=x.device)
        NormalDraws(Stream(0, 0, "audit", "rows"), x).fill(noise)
        self._known = forward.fed(x + sigma * noise)
        before = self._known.clone()
        self._logits = self._run(self._known)
        if not torch.equal(before, self._known):
            raise FunctionError(
                f"input {index}: the model changes its input in place: its rows must come out as they went in"
            )
        self._try_small_batches()
        # One row copied many times says one class: with some far off, a vote of the batch is turned over.
        far = [sigma * scale * noise[-number % len(noise)] for number, scale in enumerate((3, 10, 30), start=1)]
        company = [torch.zeros_like(x), x, *(x + sign * move for move in far for sign in (1, -1))]
        self._try_company(forward.fed(torch.stack(company)))
        again = self._run(self._known[: len(self._small)])
        self._compare(again, self._small, "run again after a few other batches")

    def _try_small_batches(self) -> None:
        """A row alone, a few rows, and these twice in a row; all rows twice if the model takes no small batch."""
        few = self._tried(self._known[:FEW])
        self._forward.takes_few = few is not None
        self._small = self._logits if few is None else few
        self._compare(self._run(self._known[: len(self._small)]), self._small, "run twice in a row")
        for found, how in ((few, "in a smaller batch"), (self._tried(self._known[:1]), "alone")):
            if found is not None:
                self._compare(found, self._logits[: len(found)], how, to_the_bit=False)

    def _try_company(self, company: Tensor) -> None:
        """Every other row in another place of a full batch, all company between them; then one beside each alone."""
        size, moved = self._forward.batch_size, slice(1, None, 2)
        batch = company[torch.arange(size, device=company.device) // 2 % len(company)]
        batch[: size // 2 * 2 : 2] = self._known[moved].flip(0)
        found = self._run(batch)[: size // 2 * 2 : 2]
        self._compare(found, self._logits[moved].flip(0), "beside other rows and in another place")
        for number, other in enumerate(company):
            others = other.expand(len(self._small), *other.shape)
            self._beside(others, number, "beside copies of another row")

    def count(self, inputs: Tensor, filled: int, logits: Tensor) -> None:
        """Take note of a micro-batch that was run; after every so many look once more.

        Known rows are run beside real ones, and the real ones beside them.
        """
        self._run_since += 1
        if self._run_since % EVERY:
            return
        number, real = self._run_since // EVERY, logits.clone()
        found = self._beside(self._forward.fed(inputs), number, "run again later, beside other rows")
        first = len(self._part(number, len(inputs)))
        if filled > first:
            self._compare(found[first:filled], real[first:filled], "with some of its neighbours replaced")

    def _part(self, number: int, size: int) -> Tensor:
        """Every so many rows of the known ones, others each time; as few as leave room for company in a batch."""
        step = min(_KEPT, len(self._known))
        rows = torch.arange(number % step, len(self._known), step, device=self._known.device)
        return rows[: max(1, size // _KEPT)]

    def _beside(self, company: Tensor, number: int, how: str) -> Tensor:
        part = self._part(number, len(company))
        batch = company.clone()
        batch[: len(part)] = self._known[part]
        found = self._run(batch)
        self._compare(found[: len(part)], self._logits[part], how, to_the_bit=len(batch) == len(self._known))
        return found

    def _tried(self, batch: Tensor) -> Tensor | None:
        """The logits of a batch that is smaller than a micro-batch; None if the model takes none, or not at once."""
        if self._forward.program.compile and len(batch) < len(self._known):
            return None  # it would be compiled anew for every shape
        try:
            logits = self._raw(batch)
        except ModelError as error:
            if out_of_memory(error):
                raise
            logits = None
        self._forward.require_evaluation_mode()
        return logits

    def _run(self, batch: Tensor) -> Tensor:
        logits = self._raw(batch)
        self._forward.require_evaluation_mode()
        return logits

    def _raw(self, batch: Tensor) -> Tensor:
        """The logits of a batch of which no row is a draw: what is not finite is an error when a draw shows it."""
        return self._forward.logits(self._forward.program.layout(batch), 0, [self._index]).clone()

    def _compare(self, found: Tensor, known: Tensor, how: str, to_the_bit: bool = True) -> None:
        """Equal to the bit, or within what rounding explains, or an error."""
        if torch.equal(found, known):
            return
        found, known, whole = (logits.double().nan_to_num(0.0, 0.0, 0.0) for logits in (found, known, self._logits))
        if torch.equal(found, known):
            return
        self.interchangeable = self.interchangeable and not to_the_bit
        apart = float((found - known).abs().max())
        allowed = self._forward.rounding * float(whole.abs().max())
        if not apart <= allowed:
            raise FunctionError(
                f"input {self._index}: the model is not a function of one row of its input: the same row, {how}, has "
                f"logits that differ by {apart:.3g}, where rounding explains {allowed:.3g}; a certificate needs rows "
                "that do not depend on each other, on chance or on earlier batches"
            )


def require_room_for_noise(x: Tensor, sigma: float, index: int) -> None:
    """An error if adding noise of this size to the input mostly rounds it away."""
    size = x.abs()
    step = float((torch.nextafter(size, torch.full_like(size, torch.inf)) - size).max()) if x.numel() else 0.0
    if sigma < _STEPS * step:
        raise ModelError(
            f"input {index}: noise of sigma {sigma:g} is too small for {str(x.dtype).removeprefix('torch.')}, whose "
            f"steps at the input's values are {step:.3g}: the sum would be rounded to the input or next to it"
        )
