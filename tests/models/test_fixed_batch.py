"""Programs of one batch size: rows come out as they went in, and the run takes their size."""

import pytest
import torch
from torch import Tensor, nn

from doublebubble.errors import SettingError
from doublebubble.models.fixed_batch import chosen_batch, fixed_batch, in_batches


class Takes(nn.Module):
    def __init__(self, size: int | None) -> None:
        super().__init__()
        self.fixed_batch = size


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("rows", [1, 6, 7])
def test_rows_keep_their_order_and_every_batch_has_the_size(rows: int, size: int) -> None:
    seen = []

    def run(batch: Tensor) -> Tensor:
        seen.append(len(batch))
        return 10 * batch + 1

    x = torch.arange(1.0, rows * 2 + 1).reshape(rows, 2)
    assert torch.equal(in_batches(run, x, size), 10 * x + 1)
    assert set(seen) == {size}
    assert len(seen) == -(-rows // size)


def test_the_batch_is_the_one_asked_for_else_the_models_else_the_usual() -> None:
    assert fixed_batch(nn.Sequential(nn.Identity(), Takes(8))) == 8
    assert [fixed_batch(Takes(size)) for size in (None, 1)] == [None, None]
    assert [chosen_batch(Takes(None), asked) for asked in (None, 32)] == [256, 32]
    assert [chosen_batch(Takes(8), asked) for asked in (None, 8)] == [8, 8]
    assert chosen_batch(Takes(1), None) == 256
    with pytest.raises(SettingError, match="exported for batches of 8 and takes no other, got 16"):
        chosen_batch(Takes(8), 16)
    with pytest.raises(SettingError, match="batch_size: expected at least 2, got 1"):
        chosen_batch(Takes(None), 1)
