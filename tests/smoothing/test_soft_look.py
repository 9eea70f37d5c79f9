"""Soft scores against autograd, and against sums of themselves."""

import contextlib
import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from doublebubble.errors import ModelError, SettingError
from doublebubble.smoothing import SmoothedClassifier, soft_look
from doublebubble.streams import NormalDraws, Stream
from doublebubble.types import Counts
from tests.smoothing.subjects import SHAPE, image, small_net, smoothed


def test_soft_scores_equal_autograd_on_all_draws_at_once() -> None:
    net, x, stream = small_net(), image(2), Stream(0, 0, "search", "look/4")
    scores = smoothed(batch_size=50).soft_scores(x, 120, stream, torch.eye(4)[[1, 2]])
    noise, normals = torch.empty((120, *SHAPE)), torch.empty((120, 4))
    NormalDraws(stream, x).fill(noise)
    NormalDraws(Stream(0, 0, "search", "look/4/gumbel"), normals[0]).fill(normals)
    gumbel = torch.from_numpy(-np.log(-stats.norm.logcdf(normals.double().numpy()))).float()
    leaf = x.clone().requires_grad_(True)
    perturbed = 100 * net(leaf + 0.5 * noise) + gumbel
    for number, label in enumerate((1, 2)):
        (gradient,) = torch.autograd.grad(perturbed.softmax(1)[:, label].mean(), leaf, retain_graph=True)
        torch.testing.assert_close(scores.gradients[number], gradient, rtol=1e-3, atol=1e-5)
    assert scores.counts.tolist() == torch.bincount(perturbed.argmax(1), minlength=4).tolist()


def test_soft_scores_of_sums_are_sums_and_without_sums_only_votes_are_counted() -> None:
    stream, weights = Stream(0, 0, "search"), torch.tensor([[1.0, -2.0, 0.0, 0.5]])
    singly = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4))
    summed = smoothed(batch_size=50).soft_scores(image(2), 120, stream, weights)
    torch.testing.assert_close(summed.gradients, torch.einsum("jk,k...->j...", weights, singly.gradients))
    counted = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.empty(0, 4))
    assert counted.gradients.shape == (0, *SHAPE)
    assert counted.counts.tolist() == singly.counts.tolist()
    for wrong in (torch.eye(3), torch.ones(4)):
        with pytest.raises(SettingError, match=r"directions: expected shape \(rows, 4\)"):
            smoothed().soft_scores(image(), 10, stream, wrong)


WEIGHTS = torch.tensor([[1.0, -2.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0]])


@pytest.mark.parametrize("gumbel", [True, False])
@pytest.mark.parametrize("room", [1 << 28, 0])
def test_directions_chosen_by_the_votes_give_the_gradients_of_known_ones(
    gumbel: bool, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether only the draws with a slope are run again or, for want of room or because all have one, every draw."""
    monkeypatch.setattr(soft_look, "KEPT_BYTES", room)
    stream, seen = Stream(0, 0, "search"), list[list[int]]()
    known = smoothed(batch_size=50).soft_scores(image(2), 120, stream, WEIGHTS, gumbel=gumbel)

    def choose(counts: Counts) -> Tensor:
        seen.append(counts.tolist())
        return WEIGHTS

    chosen = smoothed(batch_size=50).soft_scores(image(2), 120, stream, choose, gumbel=gumbel)
    assert seen == [known.counts.tolist()] == [chosen.counts.tolist()]
    assert float(known.gradients.abs().max()) > 0.01
    torch.testing.assert_close(chosen.gradients, known.gradients, rtol=1e-4, atol=1e-6)
    assert (known.forwards, known.backwards) == (120, 240)
    if room == 0 or not gumbel:
        assert (chosen.forwards, chosen.backwards) == (240, 240)
    nothing = smoothed(batch_size=50).soft_scores(image(2), 120, stream, lambda counts: WEIGHTS[:0])
    assert (nothing.forwards, nothing.backwards, len(nothing.gradients)) == (120, 0, 0)


class Steep(nn.Module):
    """Two classes whose logits differ by a multiple of the first value: steep, so that few draws are in doubt."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, :1]
        return torch.cat([5 * first, -5 * first], 1)


def test_only_draws_in_doubt_are_run_backwards() -> None:
    """Scores 1000 z apart, Gumbel noise aside: |z| < 0.017 or so has a slope, one draw in forty at sigma 0.5."""
    steep = SmoothedClassifier(Steep().eval(), 0.5, 2, domain=None, batch_size=500)
    x, stream = torch.zeros(3), Stream(0, 0, "search")
    known = steep.soft_scores(x, 4000, stream, torch.eye(2)[:1])
    chosen = steep.soft_scores(x, 4000, stream, lambda counts: torch.eye(2)[:1])
    torch.testing.assert_close(chosen.gradients, known.gradients, rtol=1e-4, atol=1e-6)
    assert 0 < chosen.backwards == chosen.forwards - 4000 <= 400
    # P = Phi(z / 0.5) has the slope phi(0) / 0.5 at 0: a softened vote has it too, but for noise
    assert float(chosen.gradients[0, 0]) == pytest.approx(stats.norm.pdf(0) / 0.5, rel=0.4)


@pytest.mark.parametrize("fails", [False, True])
def test_weights_want_no_gradient_meanwhile_and_are_left_as_they_were(fails: bool) -> None:
    class Watched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.wanted = small_net(), list[bool]()

        def forward(self, batch: Tensor) -> Tensor:
            self.wanted += [parameter.requires_grad for parameter in self.parameters()]
            if fails:
                raise ValueError("no")
            logits: Tensor = self.inner(batch)
            return logits

    net = Watched().eval()
    frozen = next(net.parameters()).requires_grad_(False)
    before = [parameter.requires_grad for parameter in net.parameters()]
    classifier = SmoothedClassifier(net, 0.5, 4, batch_size=50)
    with pytest.raises(ModelError, match="ValueError: no") if fails else contextlib.nullcontext():
        classifier.soft_scores(image(2), 120, Stream(0, 0, "search"), lambda counts: torch.eye(4)[:1])
    assert net.wanted
    assert not any(net.wanted)
    assert [parameter.requires_grad for parameter in net.parameters()] == before
    assert not frozen.requires_grad
    assert sum(before) == len(before) - 1
    assert torch.is_grad_enabled()


def test_plain_votes_are_those_of_the_logits() -> None:
    stream = Stream(0, 0, "search")
    plain = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4), plain_votes=True)
    gumbel = smoothed(batch_size=50).soft_scores(image(2), 120, stream, torch.eye(4))
    counted = smoothed(batch_size=50).counts(image(2), 120, seed=0, index=0, stage="search")
    assert plain.counts.tolist() == counted.tolist()
    assert torch.equal(plain.gradients, gumbel.gradients)


def test_gumbel_votes_follow_the_softmax_of_the_scaled_logits() -> None:
    class Constant(nn.Module):
        def forward(self, batch: Tensor) -> Tensor:
            return torch.tensor([0.0, 0.01]).expand(len(batch), 2) + 0 * batch.flatten(1)[:, :1]

    counts = (
        SmoothedClassifier(Constant().eval(), 1.0, 2)
        .soft_scores(image(), 4000, Stream(0, 0, "search"), torch.eye(2))
        .counts
    )
    assert stats.binomtest(int(counts[1]), 4000, math.e / (1 + math.e)).pvalue > 1e-4


class Watched(nn.Module):
    """The small network, the sizes of the batches that it was given, and the only one that it takes if there is one."""

    def __init__(self, only: int | None = None) -> None:
        super().__init__()
        self.net, self.only = small_net(), only
        self.sizes: list[int] = []

    def forward(self, x: Tensor) -> Tensor:
        if self.only not in (None, len(x)):
            raise ValueError("another size")
        self.sizes.append(len(x))
        logits: Tensor = self.net(x)
        return logits


def test_few_draws_with_gradients_take_few_rows_where_the_model_takes_them() -> None:
    stream, weights = Stream(0, 0, "search"), torch.eye(4)[[1]]
    rows, found = {}, {}
    for only in (None, 128):
        model = Watched(only).eval()
        own = SmoothedClassifier(model, 0.5, 4, batch_size=128)
        own.counts(image(2), 1, seed=0, index=0)
        model.sizes.clear()
        found[only] = own.soft_scores(image(2), 150, stream, weights)
        rows[only] = list(model.sizes)
    assert rows == {None: [128, 32], 128: [128, 128]}
    torch.testing.assert_close(found[None].gradients, found[128].gradients)
    assert found[None].counts.tolist() == found[128].counts.tolist()


def test_votes_that_count_run_at_the_recorded_shape() -> None:
    model = Watched().eval()
    own = SmoothedClassifier(model, 0.5, 4, batch_size=128)
    own.counts(image(2), 1, seed=0, index=0)
    model.sizes.clear()
    own.soft_scores(image(2), 150, Stream(0, 0, "search"), torch.empty(0, 4))
    own.soft_scores(image(2), 150, Stream(0, 0, "search"), lambda counts: torch.empty(0, 4))
    assert set(model.sizes) == {128}
