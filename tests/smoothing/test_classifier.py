"""Settings that are refused, centres outside the domain, and predictions."""

import math

import pytest
import torch
from scipy import stats

import doublebubble as db
from doublebubble.errors import InputError, SettingError
from doublebubble.smoothing import SmoothedClassifier
from tests.smoothing.subjects import SHAPE, Recorder, image, looked_at, small_net, smoothed


def test_unconfined_takes_centres_outside_the_domain_and_leaves_the_original_alone() -> None:
    outside = image() + 2
    classifier = smoothed()
    counts = classifier.unconfined().counts(outside, 100, seed=0, index=0)
    assert counts.tolist() == smoothed(domain=None).counts(outside, 100, seed=0, index=0).tolist()
    with pytest.raises(InputError, match="expected values in"):
        classifier.counts(outside, 100, seed=0, index=0)


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


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_predict_refuses_alpha_outside_the_unit_interval(alpha: float) -> None:
    with pytest.raises(SettingError, match="alpha"):
        smoothed().predict(image(), 10, alpha, seed=0, index=0)


def test_predict_names_the_clear_winner_and_abstains_at_a_tie() -> None:
    clear, tie = torch.full(SHAPE, 0.9), torch.zeros(SHAPE)
    classifier = SmoothedClassifier(Recorder().eval(), 0.5, 2)
    assert classifier.predict(clear, 200, seed=0, index=0) == 0
    answers = [classifier.predict(tie, 200, alpha=0.05, seed=0, index=index) for index in range(400)]
    assert stats.binomtest(sum(a != db.ABSTAIN for a in answers), 400, 0.05, alternative="greater").pvalue > 1e-4


def test_predict_does_not_reuse_the_certify_draws() -> None:
    recorder = Recorder().eval()
    classifier = looked_at(SmoothedClassifier(recorder, 0.5, 2, batch_size=50), recorder)
    classifier.predict(image(), 50, seed=0, index=0)
    classifier.counts(image(), 50, seed=0, index=0)
    assert not torch.equal(recorder.seen[0], recorder.seen[1])


def test_it_prints_what_it_is() -> None:
    assert repr(smoothed()) == (
        "SmoothedClassifier(Sequential, sigma=0.5, num_classes=4, domain=(0.0, 1.0), batch_size=64, program='eager')"
    )
