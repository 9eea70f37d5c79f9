"""Protocol `paper` on several inputs: each as if alone, in fewer micro-batches, handed out as searches end."""

import math
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor, nn

from doublebubble import Certifier, SmoothedClassifier
from doublebubble.certificate import Certificate, Status
from doublebubble.config import CertifyConfig, PaperSearch
from doublebubble.errors import InputError
from doublebubble.protocols import paper
from doublebubble.protocols.rounds import in_order
from doublebubble.smoothing import Input
from doublebubble.types import GradientKind
from tests.digits import digits, digits_model
from tests.protocols.published import KINDS, SHORT, certify, same, settings

SOME = range(1500, 1506)
WRONG = 1501
"""An input whose label is changed, so that nothing is searched around it."""


class Counted(nn.Module):
    """The digits' network, and how many rows it was run on."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.rows = digits_model(), 0

    def forward(self, batch: Tensor) -> Tensor:
        self.rows += len(batch)
        logits: Tensor = self.inner(batch)
        return logits


def inputs() -> list[Input]:
    images, labels = digits()
    return [Input(i, images[i], (int(labels[i]) + (i == WRONG)) % 10) for i in SOME]


def noted(taken: list[int]) -> Iterator[Input]:
    """The inputs, each noted when it is taken."""
    for given in inputs():
        taken.append(given.index)
        yield given


def many(smoothed: SmoothedClassifier, config: CertifyConfig, given: Sequence[Input]) -> list[Certificate]:
    return in_order(paper.decided(smoothed, config, given))


@pytest.mark.parametrize("gradient", KINDS)
@pytest.mark.parametrize("form", [SHORT, PaperSearch(draws=40, fixed_draws=True, iterations=4, line_iterations=3)])
def test_each_is_as_if_alone_and_fewer_rows_are_run(gradient: GradientKind, form: PaperSearch) -> None:
    config = settings(gradient, 70, paper=form)
    models = [Counted().eval() for _ in range(2)]
    classifiers = [SmoothedClassifier(model, 0.25, 10, batch_size=64) for model in models]
    for classifier, model in zip(classifiers, models, strict=True):
        many(classifier, config, inputs()[:2])  # what is tried out of the rows is tried once
        model.rows = 0
    together = many(classifiers[0], config, inputs())
    alone = [certify(classifiers[1], config, given.x, given.index, given.label) for given in inputs()]
    assert all(same(one, other) for one, other in zip(together, alone, strict=True))
    assert {one.status for one in together} == {Status.CERTIFIED, Status.WRONG_CLASS}
    assert max(len(one.balls) for one in together) == 3
    assert models[0].rows < 0.9 * models[1].rows


def test_they_are_handed_out_as_their_searches_end() -> None:
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=64)
    found: list[Certificate] = list(Certifier(smoothed, settings(n=70, paper=SHORT)).certify_stream(inputs()))
    assert found[0].index == WRONG
    assert sorted(one.index for one in found) == list(SOME)
    assert [one.index for one in many(smoothed, settings(n=70, paper=SHORT), inputs())] == list(SOME)


def test_the_seconds_of_a_round_are_divided_among_its_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that ticks once for each reading: what all searches say they took is no more than passed."""
    ticks = iter(range(1_000_000))
    monkeypatch.setattr("doublebubble.protocols.paper.time.perf_counter", lambda: float(next(ticks)))
    monkeypatch.setattr(paper, "_QUICK", 2.0)
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=64)
    found = many(smoothed, settings(n=70, paper=SHORT), inputs())
    said = sum(sum(one.seconds.values()) for one in found)
    passed = next(ticks)
    assert 0.3 * passed < said <= passed
    assert all(one.seconds["select"] > 0 for one in found)
    assert all((one.seconds["line"] > 0) == (one.draws["line"] > 0) for one in found)


@pytest.mark.parametrize(
    ("draws", "together"),
    [(256, 1), (512, 1), (100_000, 1), (1000, 11), (1500, 8), (300, 11), (100, 5), (1, 16)],
)
def test_as_many_inputs_as_nearly_fill_their_micro_batches(draws: int, together: int) -> None:
    assert paper.inputs_together(draws, 256) == together
    empty = [-count * draws % 256 / (count * draws) for count in range(1, 17)]
    assert empty[together - 1] <= 0.005 or empty[together - 1] == min(empty)


def test_no_more_are_at_work_than_that() -> None:
    taken: list[int] = []
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=128)
    next(paper.decided(smoothed, settings(n=128, paper=SHORT), noted(taken)))
    assert taken == [SOME[0]], "looks that fill whole micro-batches share none"


def test_looks_that_take_long_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the first certificate does not wait for the others, and a kill loses one input."""
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=64)
    first = {}
    for quick in (math.inf, 0.0):
        monkeypatch.setattr(paper, "_QUICK", quick)
        taken: list[int] = []
        next(paper.decided(smoothed, settings(n=70, paper=SHORT), noted(taken)))
        first[quick] = len(taken)
    assert first == {math.inf: 6, 0.0: 1}


def test_an_input_that_is_none_is_an_error_of_the_group() -> None:
    given = inputs()
    given[3] = Input(given[3].index, torch.full_like(given[3].x, 2.0), given[3].label)
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=64)
    with pytest.raises(InputError, match=f"input {given[3].index}: expected values in"):
        many(smoothed, settings(n=70, paper=SHORT), given)
