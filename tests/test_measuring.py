"""The fastest of programs and micro-batches, on a clock that the model itself moves."""

import time
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from doublebubble import measuring
from doublebubble.errors import ModelError
from doublebubble.measuring import PREPARED, SIZES, fastest, fastest_program
from doublebubble.models import build
from doublebubble.program import Program

LAST = Program(channels_last=True)
IMAGES = torch.rand(3, 2, 4, 4, generator=torch.Generator().manual_seed(0))


class Clock:
    """Time that passes only while the model runs; a function of it is shared by copies of the model."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Timed(nn.Module):
    """Takes `cost(rows, channels_last)` seconds; what it says of images in that layout is `off` by so much.

    Its branch on the layout cannot be traced, so it cannot be folded.
    """

    def __init__(self, clock: Clock, cost: Callable[[int, bool], float], off: float = 0.0) -> None:
        super().__init__()
        # a function is not copied with the model
        self.take: Callable[[int, bool], None] = lambda rows, last: clock.pass_by(cost(rows, last))
        self.off = off

    def forward(self, x: Tensor) -> Tensor:
        last = bool(x.is_contiguous(memory_format=torch.channels_last))
        self.take(len(x), last)
        return x.mean((2, 3)) + (self.off if last else 0.0)


@pytest.mark.parametrize(("factor", "chosen"), [(0.5, LAST), (0.96, LAST), (0.98, Program()), (1.5, Program())])
def test_the_fastest_is_chosen_and_the_plainer_if_it_is_faster_by_a_hair(
    monkeypatch: pytest.MonkeyPatch, factor: float, chosen: Program
) -> None:
    model = Timed(Clock(monkeypatch), lambda rows, last: factor if last else 1.0).eval()
    assert fastest_program(model, IMAGES) == chosen


@pytest.mark.parametrize(("off", "chosen"), [(1e-6, LAST), (1e-2, Program()), (float("nan"), Program())])
def test_a_program_with_other_answers_is_not_chosen_however_fast(
    monkeypatch: pytest.MonkeyPatch, off: float, chosen: Program
) -> None:
    model = Timed(Clock(monkeypatch), lambda rows, last: 0.1 if last else 1.0, off).eval()
    assert fastest_program(model, IMAGES) == chosen


def test_what_the_model_does_not_allow_is_left_out() -> None:
    class Viewing(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.view(len(x), -1)[:, :3]  # fails where channels are innermost

    assert fastest_program(Viewing().eval(), IMAGES).channels_last is False
    uncopied = Viewing().eval()
    uncopied.held = (number for number in range(3))  # type: ignore[assignment]
    assert fastest_program(uncopied, IMAGES) == Program()


def test_a_model_that_cannot_be_run_at_all_is_an_error() -> None:
    class Broken(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            raise ValueError("broken")

    with pytest.raises(ModelError, match=r"the program eager failed on a batch of shape \(3, 2, 4, 4\): .*broken"):
        fastest_program(Broken().eval(), IMAGES)


@pytest.mark.parametrize(
    ("cost", "size"),
    [
        (lambda rows, last: 1.0 + rows, 256),  # larger batches save less than a hair
        (lambda rows, last: 100.0 + rows, 1024),
        (lambda rows, last: rows * (0.9 if rows == 64 else 1.0), 64),
        (lambda rows, last: rows * (2.0 if rows > 128 else 1.0), 32),  # the smaller of two as fast
    ],
)
def test_the_micro_batch_is_the_fastest_for_each_row(
    monkeypatch: pytest.MonkeyPatch, cost: Callable[[int, bool], float], size: int
) -> None:
    found = fastest(Timed(Clock(monkeypatch), cost).eval(), IMAGES, 0.5, (Program(),), SIZES)
    assert found.batch_size == size
    assert found.rate == pytest.approx(size / cost(size, False))


def test_sizes_that_fail_or_would_take_much_memory_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def cost(rows: int, last: bool) -> float:
        seen.append(rows)
        if rows == 128:
            raise MemoryError
        return float(rows) if rows > 64 else 1e-9

    model = Timed(Clock(monkeypatch), cost).eval()
    assert fastest(model, IMAGES, 0.5, (Program(),), (256, 128, 512)).batch_size == 256
    assert set(seen) == {256, 128, 512}
    seen.clear()
    monkeypatch.setattr(measuring, "_MOST_VALUES", 128 * IMAGES[0].numel())
    fastest(model, IMAGES, 0.5, (Program(),), SIZES)
    assert set(seen) == {256, 32, 64, 128}, "the first is the one that would be used otherwise"


def test_rows_are_the_inputs_with_noise_each_of_its_own() -> None:
    rows = measuring._noisy(IMAGES, 0.5, 5)
    assert torch.equal(measuring._noisy(IMAGES, 0.0, 5), IMAGES[[0, 1, 2, 0, 1]])
    noise = (rows - IMAGES[[0, 1, 2, 0, 1]]) / 0.5
    assert 0.8 < float(noise.std()) < 1.2
    assert not torch.allclose(noise[0], noise[3])


def test_of_a_real_network_a_program_is_found_that_gives_its_logits() -> None:
    model = build("cnn", (1, 8, 8), 10, (0.5,), (0.5,)).eval()
    found = fastest(model, torch.rand(2, 1, 8, 8), 0.5, PREPARED, (16, 32))
    assert found.program in PREPARED
    assert found.batch_size in (16, 32)
    assert found.rate > 0
