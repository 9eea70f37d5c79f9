"""Soft scores of several requests: each as if alone, and in fewer micro-batches where rows may share them."""

import pytest
import torch
from torch import Tensor, nn

from doublebubble.smoothing import SmoothedClassifier, SoftRequest, SoftScores, soft_look
from doublebubble.smoothing.soft_look import Directions
from doublebubble.streams import Stream
from doublebubble.types import Counts
from tests.smoothing.subjects import image, small_net

ROWS = torch.tensor([[1.0, -2.0, 0.0, 0.5]])
SIZES = (70, 33, 128, 20, 5)


class Counted(nn.Module):
    """The small network, and how many rows it was run on; with `company`, the last bit of a row depends on others."""

    def __init__(self, company: bool = False) -> None:
        super().__init__()
        self.net, self.company, self.rows = small_net(), company, 0

    def forward(self, batch: Tensor) -> Tensor:
        self.rows += len(batch)
        logits: Tensor = self.net(batch)
        return logits * (1 + 1e-5 * batch.mean()) if self.company else logits


def requests(directions: Directions, gumbel: bool = True) -> list[SoftRequest]:
    return [
        SoftRequest(image(number), n, Stream(0, number, "search"), directions, gumbel, plain_votes=number == 2)
        for number, n in enumerate(SIZES)
    ]


def equal(one: SoftScores, other: SoftScores) -> bool:
    counted = one.counts.tolist() == other.counts.tolist()
    return (
        counted
        and torch.equal(one.gradients, other.gradients)
        and (
            one.forwards,
            one.backwards,
        )
        == (other.forwards, other.backwards)
    )


@pytest.mark.parametrize("company", [False, True])
@pytest.mark.parametrize("gumbel", [True, False])
@pytest.mark.parametrize("known", [False, True])
def test_each_is_as_if_alone(known: bool, gumbel: bool, company: bool) -> None:
    asked = requests(ROWS if known else lambda counts: ROWS, gumbel)
    made = [SmoothedClassifier(Counted(company).eval(), 0.5, 4, batch_size=64) for _ in range(2)]
    for classifier in made:
        classifier.counts(image(), 1, seed=0, index=0)  # whether the model takes few rows is known to both
    together = made[0].soft_scores_of(asked)
    alone = [made[1].soft_scores_of([one])[0] for one in asked]
    assert all(equal(one, other) for one, other in zip(together, alone, strict=True))
    assert [int(one.counts.sum()) for one in together] == list(SIZES)


def test_votes_share_micro_batches_where_rows_do_not_depend_on_company() -> None:
    nothing = requests(lambda counts: ROWS[:0])
    whole = sum(-(-n // 64) for n in SIZES)
    for company, expected in ((False, -(-sum(SIZES) // 64)), (True, whole)):
        model = Counted(company).eval()
        classifier = SmoothedClassifier(model, 0.5, 4, batch_size=64)
        classifier.soft_scores_of(nothing)
        model.rows = 0
        classifier.soft_scores_of(nothing)
        assert model.rows == 64 * expected


def test_no_more_looks_share_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look alone keeps what it may; together they keep no more."""
    monkeypatch.setattr(soft_look, "KEPT_BYTES", 110 * image().numel() * 4)  # 70 and 33 draws, then 128, then 20 and 5
    model = Counted().eval()
    classifier = SmoothedClassifier(model, 0.5, 4, batch_size=64)
    counted: list[int] = []

    def choose(counts: Counts) -> Tensor:
        counted.append(model.rows)
        return ROWS[:0]

    classifier.soft_scores_of(requests(choose))
    model.rows = 0
    counted.clear()
    classifier.soft_scores_of(requests(choose))
    assert counted == [128, 128, 256, 320, 320]


def test_the_nearest_draw_shows_the_way_where_none_is_in_doubt() -> None:
    """Logits so steep that no draw has a slope to speak of: one draw is run again, whatever the pieces."""

    class Steep(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            first = batch.flatten(1)[:, :1]
            return 1e4 * torch.cat([first, -first], 1)

    asked = [
        SoftRequest(torch.full((2,), 0.01), n, Stream(0, number, "search"), lambda counts: torch.eye(2)[:1])
        for number, n in enumerate((40, 30, 30))
    ]
    made = [SmoothedClassifier(Steep().eval(), 0.5, 2, domain=None, batch_size=32) for _ in range(2)]
    together = made[0].soft_scores_of(asked)
    alone = [made[1].soft_scores_of([one])[0] for one in asked]
    assert all(equal(one, other) for one, other in zip(together, alone, strict=True))
    assert [one.backwards for one in together] == [32, 32, 32]  # with its padding
