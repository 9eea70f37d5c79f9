"""Votes: reproducible, independent of company, refused rather than repaired."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import DoubleBubbleError, InputError, ModelError, SettingError
from doublebubble.program import Program
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import NormalDraws, Stream
from doublebubble.tally import Request

SHAPE = (2, 6, 6)


def small_net(classes: int = 4) -> nn.Module:
    generator = torch.Generator().manual_seed(5)
    net = nn.Sequential(
        nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, classes)
    )
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / math.sqrt(max(parameter.shape)))
    return net.eval()


class Recorder(nn.Module):
    """Votes by the sign of the first coordinate, and keeps what it was fed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def forward(self, batch: Tensor) -> Tensor:
        self.seen.append(batch.clone())
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, -first], 1)


def image(seed: int = 0) -> Tensor:
    return torch.rand(SHAPE, generator=torch.Generator().manual_seed(seed))


def smoothed(batch_size: int = 64, **settings: object) -> SmoothedClassifier:
    return SmoothedClassifier(small_net(), 0.5, 4, batch_size=batch_size, **settings)  # type: ignore[arg-type]


def slow_tally(net: nn.Module, x: Tensor, n: int, stream: Stream, sigma: float) -> tuple[Tensor, Tensor]:
    """The obvious computation: all the noise at once, one forward pass, votes by argmax."""
    noise = torch.empty((n, *x.shape), dtype=x.dtype)
    NormalDraws(stream, x).fill(noise)
    with torch.no_grad():
        return net(x + sigma * noise).argmax(1), noise


def test_counts_equal_the_obvious_computation() -> None:
    stream = Stream(0, 3, "certify", 1)
    votes, _ = slow_tally(small_net(), image(), 1000, stream, 0.5)
    counts = smoothed().counts(image(), 1000, seed=0, index=3, part=1)
    assert counts.tolist() == torch.bincount(votes, minlength=4).tolist()
    assert (counts > 0).sum() > 1, "a network that always says the same tests nothing"


@pytest.mark.parametrize("batch_size", [2, 7, 64, 1000])
def test_the_same_noise_at_every_batch_size(batch_size: int) -> None:
    recorder = Recorder().eval()
    SmoothedClassifier(recorder, 0.25, 2, batch_size=batch_size).counts(image(), 130, seed=1, index=2)
    fed = torch.cat(recorder.seen)[:130]
    noise = torch.empty((130, *SHAPE))
    NormalDraws(Stream(1, 2, "certify"), image()).fill(noise)
    assert torch.equal(fed, torch.add(image(), noise, alpha=0.25))
    assert {len(batch) for batch in recorder.seen} == {batch_size}, "the forward pass always runs at the recorded shape"


def test_the_same_votes_in_any_order_and_after_a_restart() -> None:
    inputs = [image(seed) for seed in range(5)]
    forwards = smoothed()
    votes = [forwards.counts(x, 300, seed=0, index=i).tolist() for i, x in enumerate(inputs)]
    backwards = smoothed()
    again = [backwards.counts(x, 300, seed=0, index=i).tolist() for i, x in reversed(list(enumerate(inputs)))]
    assert votes == again[::-1]


@pytest.mark.parametrize("antithetic", [False, True])
def test_requests_scheduled_together_give_what_each_gives_alone(antithetic: bool) -> None:
    labels = ((0,), (1, 2)) if antithetic else ()
    weights = () if antithetic else ((1.0, 0.0, 0.0, 0.0), (-0.5, 2.0, 0.25, 0.0))
    requests = [
        Request(image(seed), 2 * seed + 20, Stream(0, seed, "select"), weights, antithetic=antithetic, pairs=labels)
        for seed in range(9)
    ]
    recorder = smoothed(batch_size=63)
    together = recorder.tallies(requests)
    for request, tally in zip(requests, together, strict=True):
        alone = smoothed(batch_size=63).tally(request)
        assert tally.counts.tolist() == alone.counts.tolist()
        if antithetic:
            assert tally.pairs is not None
            assert alone.pairs is not None
            assert tally.pairs.tolist() == alone.pairs.tolist()
        else:
            assert tally.sums is not None
            assert alone.sums is not None
            np.testing.assert_allclose(tally.sums, alone.sums, rtol=1e-12, atol=1e-12)


def test_sharing_a_batch_saves_forward_passes() -> None:
    recorder = Recorder().eval()
    classifier = SmoothedClassifier(recorder, 0.25, 2, batch_size=100)
    classifier.tallies([Request(image(seed), 20, Stream(0, seed, "select")) for seed in range(10)])
    assert len(recorder.seen) == 2 + 3, "two batches, and three to try out whether rows are independent"


class Neighbourly(nn.Module):
    """Rows influence each other, as in a model that normalises over the batch."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, 0]
        drift = first.roll(1)
        return torch.stack([first, drift], 1)


def test_rows_that_influence_each_other_are_never_shared() -> None:
    requests = [Request(image(seed), 20, Stream(0, seed, "select")) for seed in range(6)]
    classifier = SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64)
    together = [tally.counts.tolist() for tally in classifier.tallies(requests)]
    alone = [SmoothedClassifier(Neighbourly().eval(), 0.5, 2, batch_size=64).tally(r).counts.tolist() for r in requests]
    assert together == alone


@pytest.mark.parametrize("split", [None, 0, 100, 137, 400])
def test_moments_equal_the_obvious_computation(split: int | None) -> None:
    n, stream = 400, Stream(0, 1, "certify")
    weights = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (-0.25, 1.75, 0.75, 0.5))
    tally = smoothed(batch_size=32).tally(Request(image(1), n, stream, weights, split))
    votes, noise = slow_tally(small_net(), image(1), n, stream, 0.5)
    cut = n if split is None else split
    assert tally.halves == (cut, n - cut)
    assert tally.sums is not None
    for half, rows in ((0, slice(0, cut)), (1, slice(cut, n))):
        for number, row in enumerate(weights):
            weighted = torch.tensor(row, dtype=torch.float64)[votes[rows], None, None, None] * noise[rows].double()
            expected = weighted.sum(0).reshape(-1).numpy()
            np.testing.assert_allclose(tally.sums[half, number], expected, atol=1e-9)


def test_antithetic_pairs_equal_the_obvious_computation() -> None:
    stream = Stream(0, 1, "certify")
    request = Request(image(1), 500, stream, antithetic=True, pairs=((0,), (1, 3)))
    tally = smoothed(batch_size=33).tally(request)
    noise = torch.empty((250, *SHAPE))
    NormalDraws(stream, image(1)).fill(noise)
    with torch.no_grad():
        plus, minus = (small_net()(image(1) + sign * 0.5 * noise).argmax(1) for sign in (1, -1))
    assert tally.pairs is not None
    for row, classes in zip(tally.pairs, ([0], [1, 3]), strict=True):
        hits = torch.isin(plus, torch.tensor(classes)).long() + torch.isin(minus, torch.tensor(classes)).long()
        assert row.tolist() == [int((hits == 2).sum()), int((hits == 1).sum()), int((hits == 0).sum())]
    assert tally.counts.tolist() == (torch.bincount(plus, minlength=4) + torch.bincount(minus, minlength=4)).tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_inputs_of_any_floating_dtype(dtype: torch.dtype) -> None:
    x = image().to(dtype)
    counts = smoothed().counts(x, 200, seed=0, index=0)
    assert counts.sum() == 200
    if dtype != torch.float64:
        assert counts.tolist() == smoothed().counts(x.float(), 200, seed=0, index=0).tolist()


def test_the_input_is_left_alone_and_memory_does_not_grow_with_n() -> None:
    x = image()
    before = x.clone()
    classifier = smoothed()
    classifier.counts(x, 10, seed=0, index=0)
    held = {id(tensor) for pair in classifier._buffers.values() for tensor in (pair.noise, pair.inputs)}
    classifier.counts(x, 5000, seed=0, index=0)
    assert held == {id(tensor) for pair in classifier._buffers.values() for tensor in (pair.noise, pair.inputs)}
    assert torch.equal(x, before)


def test_soft_scores_equal_autograd_on_all_draws_at_once() -> None:
    net, x, stream = small_net(), image(2), Stream(0, 0, "search", 4)
    scores = smoothed(batch_size=50).soft_scores(x, 120, stream, torch.eye(4)[[1, 2]])
    noise, normals = torch.empty((120, *SHAPE)), torch.empty((120, 4))
    NormalDraws(stream, x).fill(noise)
    NormalDraws(Stream(0, 0, "search", 4, kind="gumbel"), normals[0]).fill(normals)
    gumbel = torch.from_numpy(-np.log(-stats.norm.logcdf(normals.double().numpy()))).float()
    leaf = x.clone().requires_grad_(True)
    perturbed = 100 * net(leaf + 0.5 * noise) + gumbel
    for number, label in enumerate((1, 2)):
        (gradient,) = torch.autograd.grad(perturbed.softmax(1)[:, label].mean(), leaf, retain_graph=True)
        torch.testing.assert_close(scores.gradients[number], gradient, rtol=1e-3, atol=1e-5)
    assert scores.counts.tolist() == torch.bincount(perturbed.argmax(1), minlength=4).tolist()


def test_kept_votes_are_those_of_the_single_draws_in_order() -> None:
    stream = Stream(0, 1, "search", 2)
    requests = [Request(image(1), 300, stream, keep_votes=True), Request(image(2), 50, stream)]
    kept, other = smoothed(batch_size=64).tallies(requests)
    votes, _ = slow_tally(small_net(), image(1), 300, stream, 0.5)
    assert kept.votes is not None
    assert kept.votes.tolist() == votes.tolist()
    assert other.votes is None


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


def test_unconfined_takes_centres_outside_the_domain_and_leaves_the_original_alone() -> None:
    outside = image() + 2
    classifier = smoothed()
    counts = classifier.unconfined().counts(outside, 100, seed=0, index=0)
    assert counts.tolist() == smoothed(domain=None).counts(outside, 100, seed=0, index=0).tolist()
    with pytest.raises(InputError, match="expected values in"):
        classifier.counts(outside, 100, seed=0, index=0)


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


# Refusals


class Broken(nn.Module):
    """Returns what it is told to."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, batch: Tensor) -> Tensor:
        return self.logits


def nan_logits(bad: int) -> Tensor:
    logits = torch.zeros(8, 3)
    logits[torch.arange(bad), 1] = float("nan") if bad % 2 else float("inf")
    return logits


@pytest.mark.parametrize("bad", [1, 2, 5])
def test_non_finite_logits_name_the_input_and_the_number_of_draws(bad: int) -> None:
    classifier = SmoothedClassifier(Broken(nan_logits(bad)).eval(), 0.5, 3, batch_size=8)
    with pytest.raises(ModelError, match=rf"input 17: .*{bad} of 8 draws"):
        classifier.counts(image(), 8, seed=0, index=17)


def test_non_finite_logits_in_the_padding_are_nobodys() -> None:
    logits = torch.zeros(8, 3)
    logits[7, 0] = float("nan")
    assert (
        SmoothedClassifier(Broken(logits).eval(), 0.5, 3, batch_size=8).counts(image(), 7, seed=0, index=0).sum() == 7
    )


def test_a_wrong_number_of_classes_is_refused() -> None:
    with pytest.raises(ModelError, match=r"expected logits of shape \(64, 5\), got \(64, 4\)"):
        SmoothedClassifier(small_net(), 0.5, 5, batch_size=64).counts(image(), 10, seed=0, index=0)


def test_a_wrong_input_shape_is_refused() -> None:
    classifier = smoothed(input_shape=SHAPE)
    with pytest.raises(InputError, match=r"input 4: expected shape \(2, 6, 6\), got \(6, 6\)"):
        classifier.counts(image()[0], 10, seed=0, index=4)
    with pytest.raises(ModelError, match=r"input 0: the model failed on a batch of shape \(64, 3, 6, 6\)"):
        smoothed().counts(torch.zeros(3, 6, 6), 10, seed=0, index=0)


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.5, "expected values in"), (-0.01, "expected values in"), (math.nan, "finite"), (math.inf, "finite")],
)
def test_inputs_outside_the_domain_or_non_finite_are_refused(value: float, message: str) -> None:
    x = image()
    x[0, 0, 0] = value
    with pytest.raises(InputError, match=f"input 9: .*{message}"):
        smoothed().counts(x, 10, seed=0, index=9)


def test_without_a_domain_any_finite_input_is_accepted() -> None:
    assert smoothed(domain=None).counts(image() * 100 - 50, 10, seed=0, index=0).sum() == 10


def test_integers_are_not_inputs() -> None:
    with pytest.raises(InputError, match=r"torch\.int64"):
        smoothed().counts(torch.zeros(SHAPE, dtype=torch.int64), 10, seed=0, index=0)


def test_training_mode_is_refused_even_in_a_submodule() -> None:
    with pytest.raises(ModelError, match="training mode"):
        SmoothedClassifier(small_net().train(), 0.5, 4)
    net = small_net()
    classifier = SmoothedClassifier(net, 0.5, 4)
    net[1].train()  # type: ignore[index]
    for call in (
        lambda: classifier.counts(image(), 10, seed=0, index=0),
        lambda: classifier.predict(image(), 10, seed=0, index=0),
        lambda: classifier.soft_scores(image(), 10, Stream(0, 0, "search"), torch.eye(4)),
    ):
        with pytest.raises(ModelError, match="1 is in training mode"):
            call()


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"sigma": 0.0}, "sigma"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": math.nan}, "sigma"),
        ({"num_classes": 1}, "num_classes"),
        ({"batch_size": 0}, "batch_size"),
        ({"domain": (1.0, 0.0)}, "domain"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object], word: str) -> None:
    complete = {"sigma": 0.5, "num_classes": 4, **settings}
    with pytest.raises(SettingError, match=word):
        SmoothedClassifier(small_net(), **complete)  # type: ignore[arg-type]


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(SettingError, match=r"expected a torch\.nn\.Module, got function"):
        SmoothedClassifier(lambda batch: batch, 0.5, 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -5, 1.5, True])
def test_fewer_than_one_draw_is_refused(n: object) -> None:
    with pytest.raises(SettingError, match="n must be"):
        smoothed().counts(image(), n, seed=0, index=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_predict_refuses_alpha_outside_the_unit_interval(alpha: float) -> None:
    with pytest.raises(SettingError, match="alpha"):
        smoothed().predict(image(), 10, alpha, seed=0, index=0)


def test_malformed_requests_are_refused() -> None:
    stream = Stream(0, 0, "certify")
    for wrong in (
        {"split": 11},
        {"antithetic": True, "n": 9},
        {"antithetic": True, "moments": ((0.0, 1.0),)},
        {"pairs": ((0,),)},
        {"antithetic": True, "keep_votes": True},
    ):
        with pytest.raises(DoubleBubbleError, match="input 0"):
            Request(**{"x": image(), "n": 10, "stream": stream, **wrong})  # type: ignore[arg-type]


# predict


def test_predict_names_the_clear_winner_and_abstains_at_a_tie() -> None:
    clear, tie = torch.full(SHAPE, 0.9), torch.zeros(SHAPE)
    classifier = SmoothedClassifier(Recorder().eval(), 0.5, 2)
    assert classifier.predict(clear, 200, seed=0, index=0) == 0
    answers = [classifier.predict(tie, 200, alpha=0.05, seed=0, index=index) for index in range(400)]
    assert stats.binomtest(sum(a != db.ABSTAIN for a in answers), 400, 0.05, alternative="greater").pvalue > 1e-4


def test_predict_does_not_reuse_the_certify_draws() -> None:
    recorder = Recorder().eval()
    classifier = SmoothedClassifier(recorder, 0.5, 2, batch_size=50)
    classifier.predict(image(), 50, seed=0, index=0)
    classifier.counts(image(), 50, seed=0, index=0)
    assert not torch.equal(recorder.seen[0], recorder.seen[1])


@pytest.mark.parametrize("program", [Program(), Program(fold_batch_norm=True, channels_last=True)])
def test_a_prepared_program_votes_like_the_model_up_to_near_ties(program: Program) -> None:
    counts = smoothed(program=program).counts(image(), 2000, seed=0, index=0)
    assert np.abs(counts - smoothed().counts(image(), 2000, seed=0, index=0)).max() <= 2
