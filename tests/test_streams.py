"""The noise of a named stream depends on its name alone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from doublebubble.errors import SettingError
from doublebubble.streams import STAGES, NormalDraws, Stream, twister_state

LIKE = torch.zeros(3, 4)
PIECES = st.lists(st.integers(1, 90), min_size=1, max_size=6)


class BlockDraws(NormalDraws):
    """The path that devices other than the CPU take, run on the CPU."""

    def __init__(self, stream: Stream, like: torch.Tensor) -> None:
        super().__init__(stream, like)
        self._numpy = self._grouped = None
        self._block = torch.empty((64, *like.shape), dtype=like.dtype)


def read(kind: type[NormalDraws], stream: Stream, pieces: list[int], like: torch.Tensor = LIKE) -> torch.Tensor:
    source = kind(stream, like)
    out = [torch.empty((size, *like.shape), dtype=like.dtype) for size in pieces]
    for piece in out:
        source.fill(piece)
    return torch.cat(out)


@pytest.mark.parametrize("kind", [NormalDraws, BlockDraws])
@given(pieces=PIECES)
@settings(max_examples=40, deadline=None)
def test_values_do_not_depend_on_the_pieces(kind: type[NormalDraws], pieces: list[int]) -> None:
    stream = Stream(3, 17, "certify", "boundary/2")
    assert torch.equal(read(kind, stream, pieces), read(kind, stream, [sum(pieces)]))


@pytest.mark.parametrize("kind", [NormalDraws, BlockDraws])
def test_every_name_has_numbers_of_its_own(kind: type[NormalDraws]) -> None:
    names = [
        Stream(seed, index, stage, part)
        for seed in (0, 1)
        for index in (0, 1, 10)
        for stage in STAGES
        for part in ("input", "boundary/2")
    ]
    names += [Stream(0, 0, "search").child("gumbel"), Stream(1, 1, "select", "11"), Stream(11, 1, "select", "1")]
    first = {read(kind, stream, [1]).numpy().tobytes() for stream in names}
    assert len(first) == len(names)


@pytest.mark.parametrize("kind", [NormalDraws, BlockDraws])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_are_standard_normal_and_uncorrelated(kind: type[NormalDraws], dtype: torch.dtype) -> None:
    values = read(kind, Stream(0, 0, "audit"), [20_000], torch.zeros(5, dtype=dtype)).double().numpy()
    assert stats.kstest(values.ravel(), "norm").pvalue > 1e-4
    flat = np.corrcoef(values.T)[np.triu_indices(5, 1)]
    assert np.abs(flat).max() < 5 / np.sqrt(len(values))
    assert abs(np.corrcoef(values[:-1, 0], values[1:, 0])[0, 1]) < 5 / np.sqrt(len(values))


def test_the_twister_is_seeded_with_all_of_its_state() -> None:
    """Torch continues numpy's generator, word for word: 624 words of state, not the 32 bits of a seed."""
    twister = np.random.MT19937(np.random.SeedSequence([1, 2, 3]))
    generator = torch.Generator()
    generator.set_state(twister_state(np.random.MT19937(np.random.SeedSequence([1, 2, 3]))))
    drawn = torch.rand(2000, generator=generator).double().numpy()
    words = twister.random_raw(2001)[1:]  # numpy hands out one word before its first round, torch does not
    assert drawn.tolist() == ((words & 0xFFFFFF) / 2**24).tolist()


def test_two_streams_are_uncorrelated() -> None:
    one, two = (
        read(NormalDraws, Stream(0, index, "certify"), [50_000], torch.zeros(1)).ravel().numpy() for index in (0, 1)
    )
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(len(one))


def test_global_state_is_neither_read_nor_changed() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = read(NormalDraws, Stream(0, 0, "select"), [5])
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    assert torch.equal(first, read(NormalDraws, Stream(0, 0, "select"), [5]))


def test_the_numbers_of_a_stream_never_change() -> None:
    """A change here breaks the resuming of every run made before."""
    assert Stream(0, 17, "certify").digest().hex().startswith("8b3ecfd1f47142a1")
    assert read(NormalDraws, Stream(0, 17, "certify"), [1], torch.zeros(3)).tolist()[0] == pytest.approx(
        [0.6841, -0.8000, 0.0483], abs=1e-4
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((-1, 0, "select"), "seed"),
        ((0, True, "select"), "index"),
        ((0, 0, "elsewhere"), "stage"),
        ((0, 0, "select", 2), "part"),
        ((0, 0, "select", ""), "part"),
        ((0, 0, "select", "two words"), "part"),
        ((0, 0, "select", "boundary//2"), "part"),
    ],
)
def test_a_malformed_name_is_refused(arguments: tuple[object, ...], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        Stream(*arguments)  # type: ignore[arg-type]
