"""Is the program a function of one row of its input? A certificate assumes so; here it is tried out on the run itself.

The first micro-batch of a shape is the reference: its logits are paid for. Before one of its votes counts, a few of its
rows are run again: alone, twice in a row, among zeros and rows far off, in another place, beside copies of a row far
off. That takes twelve rows. More is tried as the run is long enough to pay for it with half a percent of its rows, and
every so many micro-batches the run is looked at again for another half. Differences that rounding explains mean that
inputs may not share a micro-batch; any larger one is an error that says what was seen.
"""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from doublebubble.errors import FunctionError, ModelError
from doublebubble.models.calling import out_of_memory
from doublebubble.smoothing.forward import Forward
from doublebubble.streams import NormalDraws, Stream

EVERY = 200
"""Micro-batches from one look to the next: half a percent of the forward passes."""
FEW = 4
"""Rows of the small batches."""
FIRST = 0.005
"""The part of a run's rows that pays for what is tried beyond the first twelve."""
_COPIES = 3  # rows of a batch in which one row stands beside copies of another
_KEPT = 8  # one row in so many is compared, beside company that fills the rest
_PLACES = 16  # one row in so many of the first micro-batch that inputs share is run in two places
_STEPS = 8  # of floating point within one sigma: fewer, and the noise is not normal


class RowsApartError(Exception):
    """Inputs shared a micro-batch that may not: what was drawn since is to be drawn again. Never seen by users."""


class Rows:
    """Known rows at one input shape, their logits, and whether the program gives them to the bit in any company."""

    def __init__(self, forward: Forward, sigma: float, x: Tensor, index: int) -> None:
        self._forward = forward
        self._index = index
        self.interchangeable = True
        self._run_since = 0
        self._drawn = self._expected = self._spent = 0
        noise = torch.empty((forward.batch_size, *x.shape), dtype=x.dtype, device=x.device)
        NormalDraws(Stream(0, 0, "audit", "rows"), x).fill(noise)
        self._others = x + sigma * noise
        # One row copied many times says one class: with some far off, a vote of the batch is turned over.
        far = [sigma * scale * noise[-number % len(noise)] for number, scale in enumerate((100, 10, 3), start=1)]
        company = [*(x + sign * move for move in far for sign in (1, -1)), torch.zeros_like(x), x]
        self._company = forward.fed(torch.stack(company))
        self._logits: Tensor | None = None
        self._known = self._before = self._others
        self._twice = 0
        self._places_known = False
        self._owed: list[tuple[int, Callable[[], None]]] = []

    # What is asked of a run

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
        unknown = self.interchangeable and not self._places_known
        return self._forward.batch_size - (reserve if unknown else 0)

    def prepare(self, inputs: Tensor, filled: int) -> None:
        """Before a micro-batch is run: what padding would be holds rows in two places, until they were compared."""
        size = len(inputs)
        self._twice = 0
        if self.interchangeable and not self._places_known and filled < size:
            first = self._logits is None
            self._twice = size - max(filled, -(-size // 2)) if first else max(1, (size - filled) // 2)
            inputs[filled : size - self._twice] = self._others[filled : size - self._twice]
            inputs[size - self._twice :] = inputs[: self._twice].flip(0)
        if self._logits is None:
            self._before = inputs.clone()

    def count(self, inputs: Tensor, filled: int, logits: Tensor) -> None:
        """Take note of a micro-batch that was run, before its votes count; look, if it is time to.

        Known rows are run beside real ones, and the real ones beside them.
        """
        shareable = self.interchangeable
        self._run_since += 1
        self._drawn += filled
        try:
            self._look_at(inputs, filled, logits)
        except Exception:
            self._logits = None  # whoever goes on all the same begins with a first look
            raise
        if shareable and not self.interchangeable:
            raise RowsApartError

    def _look_at(self, inputs: Tensor, filled: int, logits: Tensor) -> None:
        if self._logits is None:
            self._take(inputs, logits)
            self._first_look()
        if self._twice:
            self._compare_places(filled, logits)
        if self._run_since % EVERY == 0:
            self._look(self._run_since // EVERY, inputs, filled, logits.clone())
        while self._owed and self._spent + self._owed[0][0] <= FIRST * max(self._expected, self._drawn):
            cost, trial = self._owed.pop(0)
            self._spent += cost
            trial()

    def _compare_places(self, filled: int, logits: Tensor) -> None:
        """Whether rows of one micro-batch, and known rows beside others, have the same logits to the bit."""
        end = len(logits) - self._twice
        for found, known, how in (
            (logits[end:], logits[: self._twice].flip(0), "in another place"),
            (logits[filled:end], self._rows_known(range(filled, end)), "beside other rows"),
        ):
            self._first_compare(found, known, how, to_the_bit=True)
        self._places_known = True

    # The first look

    def _take(self, inputs: Tensor, logits: Tensor) -> None:
        """Make the rows of this micro-batch the known ones."""
        self._forward.require_evaluation_mode()
        self._require_unchanged(self._before, inputs)
        self._known = self._forward.fed(self._before).clone()
        self._logits = logits.clone()
        self._before = self._others = self._known

    def _first_look(self) -> None:
        """Twelve rows in five small batches; all trials in full ones if the model takes no others."""
        last = len(self._known) - 1
        moved, zeros, far = self._known[[last, last // 2]], self._company[-2], self._company[0]
        among = torch.stack([moved[0], zeros, far, moved[1]])[: self._forward.batch_size]
        alone, again, found = (self._tried(batch) for batch in (self._known[:1], self._known[:1], among))
        self._forward.takes_few = not (alone is None or again is None or found is None)
        if alone is None or again is None or found is None:
            self._try_all(small=False)
            return
        self._first_compare(alone, self._rows_known([0]), "alone")
        self._first_compare(again, alone, "run twice in a row")
        places = [0, 3][: 1 + len(found) // FEW]
        known = self._rows_known([last, last // 2][: len(places)])
        self._first_compare(found[places], known, "beside other rows and in another place")
        self._try_copies(0)
        self._try_copies(1)
        size = self._forward.batch_size
        few, copies = min(FEW, size), min(_COPIES, size)
        self._spent = 2 + few + 2 * copies
        self._owed = [(copies, functools.partial(self._try_copies, number)) for number in range(2, len(self._company))]
        self._owed += [(2 * few, self._try_few), (size, self._try_places)]

    def _try_copies(self, number: int) -> None:
        """One known row beside copies of another."""
        row = number % len(self._known)
        batch = torch.stack([self._known[row], *[self._company[number]] * (_COPIES - 1)])[: self._forward.batch_size]
        found = self._run(batch)
        self._first_compare(found[:1], self._rows_known([row]), "beside copies of another row")
        if len(found) == _COPIES:
            self._first_compare(found[1], found[2], "in another place")

    def _try_few(self) -> None:
        """The first few rows as they stand, twice in a row."""
        for how in ("in a smaller batch", "run twice in a row"):
            found = self._run(self._known[:FEW])
            self._first_compare(found, self._rows_known(range(len(found))), how)

    def _first_compare(self, found: Tensor, known: Tensor, how: str, to_the_bit: bool = False) -> None:
        """Equal but for rounding; if not, all that can be tried says what is seen, whatever it costs."""
        try:
            self._compare(found, known, how, to_the_bit)
        except FunctionError:
            self._try_all(small=self._tried(self._known[:1]) is not None)
            raise

    def _try_all(self, small: bool) -> None:
        """Every trial, with as many rows as there are."""
        shown = self._known[:FEW] if small else self._known
        known = self._rows_known(range(len(shown)))
        first = self._run(shown) if small else known
        self._compare(self._run(shown), first, "run twice in a row", to_the_bit=not small)
        if small:
            self._compare(first, known, "in a smaller batch", to_the_bit=False)
        self._try_places()
        for number, other in enumerate(self._company):
            self._beside(other.expand(len(shown), *other.shape), number, "beside copies of another row")
        if small:
            self._compare(self._run(self._known[:1]), known[:1], "alone", to_the_bit=False)
        self._compare(self._run(shown), first, "run again after a few other batches", to_the_bit=not small)

    def _try_places(self) -> None:
        """Every other row in another place of a full batch, all company between them."""
        company, size, moved = self._company, self._forward.batch_size, slice(1, None, 2)
        batch = company[torch.arange(size, device=company.device) // 2 % len(company)]
        batch[: size // 2 * 2 : 2] = self._known[moved].flip(0)
        found = self._run(batch)[: size // 2 * 2 : 2]
        self._compare(found, self._rows_known(range(size))[moved].flip(0), "beside other rows and in another place")
        self._places_known = True

    # Later looks

    def _look(self, number: int, inputs: Tensor, filled: int, real: Tensor) -> None:
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
        known = self._rows_known(part.tolist())
        self._compare(found[: len(part)], known, how, to_the_bit=len(batch) == len(self._known))
        return found

    # Running and comparing

    def _tried(self, batch: Tensor) -> Tensor | None:
        """The logits of a batch that is smaller than a micro-batch; None if the model takes none."""
        try:
            return self._run(batch)
        except FunctionError:
            raise
        except ModelError as error:
            if out_of_memory(error):
                raise
            self._forward.require_evaluation_mode()
            return None

    def _run(self, batch: Tensor) -> Tensor:
        """The logits of a batch of which no row is a draw: what is not finite is an error when a draw shows it."""
        fed = self._forward.program.layout(batch)
        before = fed.clone()
        logits = self._forward.logits(fed, 0, [self._index]).clone()
        self._forward.require_evaluation_mode()
        self._require_unchanged(before, fed)
        return logits

    def _require_unchanged(self, before: Tensor, after: Tensor) -> None:
        if not torch.equal(before, after):
            raise FunctionError(
                f"input {self._index}: the model changes its input in place: its rows must come out as they went in"
            )

    def _rows_known(self, rows: Sequence[int]) -> Tensor:
        assert self._logits is not None
        return self._logits[list(rows)]

    def _compare(self, found: Tensor, known: Tensor, how: str, to_the_bit: bool = True) -> None:
        """Equal to the bit, or within what rounding explains, or an error."""
        if torch.equal(found, known):
            return
        assert self._logits is not None
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
