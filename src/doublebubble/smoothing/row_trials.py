"""The trials: known rows are run again alone, in other company and in other places, and must have the same logits.

Every trial costs rows. `first` has those without which no vote counts, `owed` the others, which a run tries as it can
pay for them: `rows.py` keeps the accounts. A model that takes few rows at a time is shown small batches, one that takes
micro-batches alone whole ones. A difference that rounding explains parts inputs, any larger one is an error.
"""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from doublebubble.errors import FunctionError, ModelError
from doublebubble.models.calling import out_of_memory
from doublebubble.models.fixed_batch import fixed_batch
from doublebubble.smoothing.forward import Forward
from doublebubble.streams import NormalDraws, Stream

FEW = 4
"""Rows of the small batches."""
_COPIES = 3  # rows of a small batch in which one row stands beside copies of another
_KEPT = 8  # one row in so many is compared, beside company that fills the rest

Owed = list[tuple[int, Callable[[], None]]]
"""Trials that are still to be made, with the rows that each costs."""


class RowTrials:
    """Known rows at one input shape, their logits, and whether the program gives them to the bit in any company."""

    def __init__(self, forward: Forward, sigma: float, x: Tensor, index: int) -> None:
        self._forward, self._size, self._index = forward, forward.batch_size, index
        self.interchangeable = True
        self.places_known = False
        noise = torch.empty((self._size, *x.shape), dtype=x.dtype, device=x.device)
        NormalDraws(Stream(0, 0, "audit", "rows"), x).fill(noise)
        self.known = x + sigma * noise
        """The rows that are compared; before there are any, rows that may become known."""
        # One row copied many times says one class: with some far off, a vote of the batch is turned over.
        far = [sigma * scale * noise[-number % len(noise)] for number, scale in enumerate((100, 10, 3), start=1)]
        company = [*(x + sign * move for move in far for sign in (1, -1)), torch.zeros_like(x), x]
        self._company = forward.fed(torch.stack(company))
        self._logits: Tensor | None = None

    @property
    def begun(self) -> bool:
        """Whether there are known rows."""
        return self._logits is not None

    def take(self, before: Tensor, inputs: Tensor, logits: Tensor) -> None:
        """Make the rows of a micro-batch, as they went in and as they came out, the known ones."""
        self._forward.require_evaluation_mode()
        self._require_unchanged(before, inputs)
        self.known = self._forward.fed(before).clone()
        self._logits = logits.clone()

    def forget(self) -> None:
        """Whoever goes on all the same begins with the first trials."""
        self._logits = None

    # What is tried, and in which batches

    def first(self) -> tuple[int, Owed]:
        """Try what must be tried before a vote counts; the rows that it cost, and the trials that are owed."""
        self._forward.takes_few = fixed_batch(self._forward.model) is None and self._first_in_few()
        size, company = self._size, range(len(self._company))
        if self._forward.takes_few:
            few, copies = min(FEW, size), min(_COPIES, size)
            owed: Owed = [(copies, functools.partial(self._try_copies, number)) for number in company[2:]]
            return 2 + few + 2 * copies, [*owed, (2 * few, self._try_few), (size, self.try_places)]
        self._try_crowd(0)
        self._try_crowd(1)
        owed = [(size, functools.partial(self._try_many_copies, number)) for number in company]
        return 2 * size, [*owed, (size, self.try_places), (2 * size, self._try_again)]

    def _first_in_few(self) -> bool:
        """Twelve rows in five small batches; False if the model takes none."""
        last = len(self.known) - 1
        moved, zeros, far = self.known[[last, last // 2]], self._company[-2], self._company[0]
        among = torch.stack([moved[0], zeros, far, moved[1]])[: self._size]
        alone = self._tried(self.known[:1])
        again = None if alone is None else self._tried(self.known[:1])
        found = None if again is None else self._tried(among)
        if alone is None or again is None or found is None:
            return False
        self.first_compare(alone, self.rows_known([0]), "alone")
        self.first_compare(again, alone, "run twice in a row")
        places = [0, 3][: 1 + len(found) // FEW]
        known = self.rows_known([last, last // 2][: len(places)])
        self.first_compare(found[places], known, "beside other rows and in another place")
        self._try_copies(0)
        self._try_copies(1)
        return True

    def _try_crowd(self, number: int) -> None:
        """More than half of a micro-batch is one row far off, all others are known or other company.

        Known rows stand where they did not before, the first of them twice; at the other end for every other number.
        """
        size, others = self._size, max(1, (self._size - 1) // 2)
        places = torch.arange(others) + number % 2 * (size - others)
        batch = self._company[number].expand(size, *self.known.shape[1:]).clone()
        batch[places] = self._company[(torch.arange(others) // 4 - 2) % len(self._company)]
        shown = torch.arange(others) % 4 != 1
        rows = size - 1 - places[shown]
        rows[-1] = rows[0]
        batch[places[shown]] = self.known[rows]
        found = self._run(batch)[places[shown]]
        self.first_compare(found, self.rows_known(rows.tolist()), "beside copies of another row", to_the_bit=True)
        self.places_known = True

    def _try_copies(self, number: int) -> None:
        """One known row beside copies of another."""
        row = number % len(self.known)
        batch = torch.stack([self.known[row], *[self._company[number]] * (_COPIES - 1)])[: self._size]
        found = self._run(batch)
        self.first_compare(found[:1], self.rows_known([row]), "beside copies of another row")
        if len(found) == _COPIES:
            self.first_compare(found[1], found[2], "in another place")

    def _try_many_copies(self, number: int, rows: int | None = None) -> None:
        """Some known rows, and copies of another that fill the batch."""
        other = self._company[number]
        self._beside(other.expand(rows or self._size, *other.shape), number, "beside copies of another row")

    def _try_few(self) -> None:
        """The first few rows as they stand, twice in a row."""
        for how in ("in a smaller batch", "run twice in a row"):
            found = self._run(self.known[:FEW])
            self.first_compare(found, self.rows_known(range(len(found))), how)

    def _try_again(self) -> None:
        """The known rows as they stand, long after they were run, and at once again."""
        for how in ("run again after a few other batches", "run twice in a row"):
            self._compare(self._run(self.known), self.rows_known(range(self._size)), how)

    def try_places(self) -> None:
        """Every other row in another place of a full batch, all company between them."""
        company, size, moved = self._company, self._size, slice(1, None, 2)
        batch = company[torch.arange(size, device=company.device) // 2 % len(company)]
        batch[: size // 2 * 2 : 2] = self.known[moved].flip(0)
        found = self._run(batch)[: size // 2 * 2 : 2]
        self._compare(found, self.rows_known(range(size))[moved].flip(0), "beside other rows and in another place")
        self.places_known = True

    def _tell(self, small: bool) -> None:
        """Of what was seen to be wrong the most telling kind, whatever that costs: chance first, then company."""
        shown = self.known[:FEW] if small else self.known
        known = self.rows_known(range(len(shown)))
        first = self._run(shown) if small else known
        self._compare(self._run(shown), first, "run twice in a row", to_the_bit=not small)
        if small:
            self._compare(first, known, "in a smaller batch", to_the_bit=False)
        self.try_places()
        for number in range(len(self._company)):
            self._try_many_copies(number, len(shown))

    def look(self, number: int, inputs: Tensor, filled: int, real: Tensor) -> None:
        """Known rows beside those of a micro-batch that was just run, and these beside them."""
        found = self._beside(self._forward.fed(inputs), number, "run again later, beside other rows")
        first = len(self._part(number, len(inputs)))
        if filled > first:
            self._compare(found[first:filled], real[first:filled], "with some of its neighbours replaced")

    def _beside(self, company: Tensor, number: int, how: str) -> Tensor:
        part = self._part(number, len(company))
        batch = company.clone()
        batch[: len(part)] = self.known[part]
        found = self._run(batch)
        known = self.rows_known(part.tolist())
        self._compare(found[: len(part)], known, how, to_the_bit=len(batch) == len(self.known))
        return found

    def _part(self, number: int, size: int) -> Tensor:
        """Every so many rows of the known ones, others each time; as few as leave room for company in a batch."""
        step = min(_KEPT, len(self.known))
        rows = torch.arange(number % step, len(self.known), step, device=self.known.device)
        return rows[: max(1, size // _KEPT)]

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

    def rows_known(self, rows: Sequence[int]) -> Tensor:
        """The logits of some of the known rows."""
        assert self._logits is not None
        return self._logits[list(rows)]

    def first_compare(self, found: Tensor, known: Tensor, how: str, to_the_bit: bool = False) -> None:
        """Equal but for rounding; if not, an error that tells what kind of difference it is."""
        try:
            self._compare(found, known, how, to_the_bit)
        except FunctionError:
            self._tell(small=self._tried(self.known[:1]) is not None)
            raise

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
