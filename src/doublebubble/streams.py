"""Randomness by name: a stream is (seed, input index, stage, part), and its numbers depend on nothing else.

A part is a path of words that says what the numbers are for, `boundary/2` or `input/gumbel`, so that two uses meet only
if somebody gave them one name.

Draw i of a stream is the same whatever the batch size, the order of inputs, the number of workers or a crash between.
Nothing here, and nothing built on it, touches global random state. May import only types and errors.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from doublebubble.errors import SettingError

Stage = Literal["select", "search", "certify", "train", "attack", "picture", "audit"]
STAGES: tuple[Stage, ...] = get_args(Stage)
INPUT = "input"
"""The part of the draws at the input itself."""

_PATH = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")
_BLOCK = 64  # draws generated at once where a generator's output depends on how much is asked of it
_GROUP = 16  # values that torch's CPU generator turns into normal ones together
_STATE_BYTES, _KEY_AT = 5056, 24  # of torch's CPU generator: seed, counters, 624 words of 8 bytes, leftovers


@dataclass(frozen=True)
class Stream:
    """The name of a sequence of random numbers; two different names never share numbers.

    `part` says whose numbers they are within a stage: `input` for draws at the input itself, else a path of words that
    names the centre or the iteration.
    """

    seed: int
    index: int
    stage: Stage
    part: str = INPUT

    def __post_init__(self) -> None:
        if self.stage not in STAGES:
            raise SettingError(f"stream stage: expected one of {', '.join(STAGES)}, got {self.stage!r}")
        for name in ("seed", "index"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise SettingError(f"stream {name}: expected an integer >= 0, got {value!r}")
        if not isinstance(self.part, str) or not _PATH.fullmatch(self.part):
            raise SettingError(f"stream part: expected a path of words such as boundary/2, got {self.part!r}")

    def named(self, *words: str | int) -> "Stream":
        """The stream of another part at the same seed, index and stage."""
        return replace(self, part="/".join(map(str, words)))

    def child(self, *words: str | int) -> "Stream":
        """The stream of a part below this one's."""
        return self.named(self.part, *words)

    def digest(self) -> bytes:
        """32 bytes that stand for the name: what every generator is seeded from."""
        name = f"doublebubble/2|{self.seed}|{self.index}|{self.stage}|{self.part}"
        return hashlib.sha256(name.encode()).digest()

    def generator(self) -> np.random.Generator:
        """A numpy generator at the start of the stream."""
        words = np.frombuffer(self.digest(), np.uint32)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words.tolist())))

    def torch_seed(self, block: int) -> int:
        """A 63-bit seed for generators that live on a device, one for each block of draws."""
        return int.from_bytes(hashlib.sha256(self.digest() + block.to_bytes(8, "big")).digest()[:8], "big") >> 1


class NormalDraws:
    """Standard normal vectors of one stream, read in order, in pieces of any size.

    The values of draw i do not depend on the sizes of the pieces. On the CPU torch generates float32 in groups of 16
    values, which are kept whole here, and numpy generates float64 one by one; elsewhere the device's generator fills
    blocks of 64 draws that are handed out piecewise.
    """

    def __init__(self, stream: Stream, like: Tensor) -> None:
        """Draws shaped and typed as `like`, on its device."""
        if like.dtype not in (torch.float32, torch.float64):
            raise SettingError(f"noise is drawn in float32 or float64, got {like.dtype}")
        self._stream = stream
        self._numpy: np.random.Generator | None = None
        self._grouped: _GroupedNormals | None = None
        self._block: Tensor | None = None
        if like.device.type != "cpu":
            self._block = torch.empty((_BLOCK, *like.shape), dtype=like.dtype, device=like.device)
        elif like.dtype == torch.float64:
            self._numpy = stream.generator()
        else:
            self._grouped = _GroupedNormals(stream)
        self._next_block = 0
        self._left = 0

    def fill(self, out: Tensor) -> None:
        """Write the next len(out) draws into `out`, which must be contiguous."""
        if self._grouped is not None:
            self._grouped.fill(out.view(-1))
            return
        if self._numpy is not None:
            self._numpy.standard_normal(out=out.numpy().reshape(-1))
            return
        done = 0
        while done < len(out):
            if self._left == 0:
                self._refill()
            assert self._block is not None
            take = min(self._left, len(out) - done)
            start = _BLOCK - self._left
            out[done : done + take] = self._block[start : start + take]
            self._left -= take
            done += take

    def _refill(self) -> None:
        assert self._block is not None
        generator = torch.Generator(device=self._block.device)
        generator.manual_seed(self._stream.torch_seed(self._next_block))
        self._block.normal_(generator=generator)
        self._next_block += 1
        self._left = _BLOCK


class _GroupedNormals:
    """float32 normals of torch's CPU generator, the fastest at hand, at any number at a time.

    The generator is a Mersenne twister whose 624 words of state come from the stream's name: its own seeding would keep
    only 32 bits of it. It turns uniform numbers into normal ones in groups of 16; values left over of a group are kept
    for the next call, so the sequence does not depend on the calls.
    """

    def __init__(self, stream: Stream) -> None:
        self._generator = torch.Generator()
        words = np.frombuffer(stream.digest(), np.uint32).tolist()
        self._generator.set_state(twister_state(np.random.MT19937(np.random.SeedSequence(words))))
        self._spare = torch.empty(_GROUP)
        self._spares = 0

    def fill(self, out: Tensor) -> None:
        """Write the next values into a flat tensor."""
        size = out.numel()
        if self._spares == 0 and size % _GROUP == 0:
            out.normal_(generator=self._generator)
            return
        kept = min(self._spares, size)
        if kept:
            out[:kept] = self._spare[_GROUP - self._spares : _GROUP - self._spares + kept]
            self._spares -= kept
        whole = (size - kept) // _GROUP * _GROUP
        if whole:
            out[kept : kept + whole].normal_(generator=self._generator)
        rest = size - kept - whole
        if rest:
            self._spare.normal_(generator=self._generator)
            out[kept + whole :] = self._spare[:rest]
            self._spares = _GROUP - rest


def twister_state(twister: np.random.MT19937) -> Tensor:
    """The state of a torch CPU generator that goes on from the 624 words of numpy's, before their first round."""
    state = torch.Generator().manual_seed(0).get_state().clone()
    if len(state) != _STATE_BYTES:
        raise RuntimeError(f"torch's generator state has {len(state)} bytes, {_STATE_BYTES} are known")
    key = np.asarray(twister.state["state"]["key"], np.uint64)
    state[_KEY_AT : _KEY_AT + 8 * len(key)] = torch.from_numpy(key.view(np.uint8).copy())
    return state
