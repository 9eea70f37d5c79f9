"""Models that are no function of one row are refused: each of these would otherwise get a certificate."""

import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import ModelError
from doublebubble.smoothing import SmoothedClassifier, row_trials, rows
from tests.smoothing.strange_models import (
    Counting,
    Dropping,
    Growing,
    LateNeighbour,
    Later,
    Majority,
    Placed,
    Sized,
    Toggling,
    Wary,
    batch_norm,
    counted,
)
from tests.smoothing.subjects import image, small_net


@pytest.mark.parametrize("bias", [-50.0, -40.0, -36.0, -30.0, 0.0])
def test_the_majority_of_the_batch(bias: float) -> None:
    """Wherever the boundary lies: next to the input, or several sigmas away."""
    with pytest.raises(ModelError, match=r"input 7: .*(in a smaller batch|alone|beside)"):
        counted(Majority(bias), 2)


@pytest.mark.parametrize("batch_size", [2, 3, 16, 100])
def test_batch_norm_without_running_statistics(batch_size: int) -> None:
    with pytest.raises(ModelError, match=r"the same row, (in a smaller batch|alone|beside other rows)"):
        counted(batch_norm(), batch_size=batch_size)


# What each of the trials is for: models that only this one sees.


@pytest.mark.parametrize("batch_size", [16, 100])
def test_a_row_in_another_place(batch_size: int) -> None:
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Placed(), batch_size=batch_size)


def test_a_row_beside_padding() -> None:
    """A micro-batch that is not full is padded with zeros: a row must not care."""
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Wary(zeros=True))


def test_a_row_beside_one_that_is_far_off() -> None:
    with pytest.raises(ModelError, match=r"the same row, beside other rows and in another place, has"):
        counted(Wary(zeros=False))


@pytest.mark.parametrize("bias", [-30.0, 0.0])
def test_a_vote_of_the_batch_is_turned_over_by_copies_of_another_row(bias: float) -> None:
    """Company of all kinds in one batch leaves the majority as it was."""
    with pytest.raises(ModelError, match=r"the same row, beside copies of another row, has"):
        counted(Majority(bias), 2, batch_size=64)


def test_a_row_alone_and_a_few_rows() -> None:
    with pytest.raises(ModelError, match=r"the same row, alone, has"):
        counted(Sized(1))
    with pytest.raises(ModelError, match=r"the same row, in a smaller batch, has"):
        counted(Sized(row_trials.FEW))


def test_differences_of_small_batches_in_the_last_bit_do_not_part_inputs() -> None:
    """Whether inputs may share a micro-batch is a question about micro-batches."""

    class Last(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            return batch.flatten(1)[:, :4] * (1.0 if len(batch) == 16 else 1 + 2.0**-22)

    made = SmoothedClassifier(Last().eval(), 0.5, 4, batch_size=16)
    assert made.counts(image(), 50, seed=0, index=0).sum() == 50
    assert made._votes._rows[(tuple(image().shape), torch.float32)].interchangeable


def test_functional_dropout() -> None:
    with pytest.raises(ModelError, match=r"the same row, run twice in a row, .* on chance"):
        counted(Dropping())


@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_mode_that_is_toggled(at: int) -> None:
    with pytest.raises(ModelError, match=r"in training mode"):
        counted(Toggling(at))


@pytest.mark.parametrize("after", [0, 5])
def test_a_counter(after: int) -> None:
    with pytest.raises(ModelError, match=r"run twice in a row|beside (other|copies of)|after a few other batches"):
        counted(Counting(after), 2)


def test_an_input_changed_in_place() -> None:
    with pytest.raises(ModelError, match=r"changes its input in place"):
        counted(Growing())


def test_what_begins_during_a_run_is_seen_there() -> None:
    """State that shows only later, and rows that influence each other only later."""
    n = 16 * 3 * rows.EVERY
    with pytest.raises(ModelError, match=r"run again later, beside other rows"):
        counted(Later(rows.EVERY // 2), n=n)
    with pytest.raises(ModelError, match=r"run again later, beside other rows"):
        counted(Counting(50, 1e-4), 2, n=n)
    with pytest.raises(ModelError, match=r"with some of its neighbours replaced"):
        counted(LateNeighbour(50), n=n)


@pytest.mark.parametrize("sigma", [1e-9, 1e-7])
def test_noise_too_small_to_change_the_input(sigma: float) -> None:
    with pytest.raises(ModelError, match=rf"input 7: noise of sigma {sigma:g} is too small for float32"):
        counted(small_net(), sigma=sigma)


def test_noise_that_float64_holds_is_not_refused() -> None:
    model = SmoothedClassifier(small_net().double(), 1e-9, 4, batch_size=16)
    assert model.counts(image().double(), 20, seed=0, index=0).sum() == 20


def test_honest_models_are_not_refused() -> None:
    for program in ("eager", "folded", "channels_last"):
        model = SmoothedClassifier(small_net(), 0.5, 4, batch_size=16, program=db.Program.named(program))
        assert model.counts(image(), 100, seed=0, index=0).sum() == 100
