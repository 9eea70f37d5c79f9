"""From inputs to certificates: outcomes, warnings, many at once, settings that are refused."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import clopper_pearson
from doublebubble.errors import DoubleBubbleWarning, InputError, ModelError, SettingError
from doublebubble.types import Method
from tests.spent import shares_of_alpha

SOUND: tuple[Method, ...] = ("cohen", "single", "boundary", "double", "first_order", "dipole")


def half_space(offset: float = 0.4, domain: tuple[float, float] | None = None) -> db.SmoothedClassifier:
    return db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0, 0.0]), offset), 0.5, 2, domain, batch_size=500)


class Fixed(nn.Module):
    """Votes by a rule on the first coordinate's noise, for any number of classes."""

    def __init__(self, classes: int, rule: str) -> None:
        super().__init__()
        self.classes, self.rule = classes, rule

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, 0].to(torch.float32)
        logits = torch.zeros(len(batch), self.classes) + 0 * first[:, None]
        if self.rule == "always":
            logits[:, 1] = 1.0
        elif self.rule == "tie":
            logits[:, 0], logits[:, 1] = first, -first
        elif self.rule == "spread":
            logits[torch.arange(len(batch)), (first.abs() * 1e4).long() % self.classes] = 1.0
        return logits


def test_the_binary_certificate_is_the_textbook_one() -> None:
    x = torch.zeros(3)
    cert = db.Certifier(half_space(), db.CertifyConfig(n=1000, n0=50, methods=("cohen",))).certify(x, index=7, label=1)
    counts = half_space().counts(x, 1000, seed=0, index=7)
    lower = clopper_pearson(int(counts[1]), 1000, 0.001, "lower")
    from scipy.stats import norm

    assert cert.prediction == 1
    assert cert.correct is True
    assert cert.radius == pytest.approx(0.5 * norm.ppf(lower), rel=1e-9)
    assert cert.radius <= 0.5 * norm.ppf(lower)
    assert cert.radii == {"cohen": cert.radius}
    assert cert.guarantee is db.Guarantee.EXACT
    assert cert.status is db.Status.CERTIFIED
    assert cert.balls[0].counts.tolist() == counts.tolist()
    assert cert.draws == {"select": 50, "search": 0, "certify": 1000}
    assert max(shares_of_alpha(cert.balls[0])) <= cert.alpha


def test_abstention_is_a_result_with_a_reason() -> None:
    cert = db.Certifier(half_space(0.0), db.CertifyConfig(n=100, n0=20, methods=("cohen",))).certify(
        torch.zeros(3), index=0, label=1
    )
    assert cert.prediction == db.ABSTAIN
    assert cert.abstained
    assert cert.correct is False
    assert cert.radius == 0
    assert cert.status is db.Status.NOT_SEPARATED
    assert "abstained" in cert.status.value


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    config = db.CertifyConfig(n=600, n0=30, alpha=0.01, methods=SOUND)
    xs = [torch.tensor([0.01 * i, 0.5, 0.0]) for i in range(7)]
    smoothed = half_space(0.3, (0.0, 1.0))
    together = db.Certifier(smoothed, config).certify_many(xs, range(7))
    for number in reversed(range(7)):
        alone = db.Certifier(half_space(0.3, (0.0, 1.0)), config).certify(xs[number], index=number)
        assert alone.radii == together[number].radii
        assert alone.method == together[number].method
        assert alone.balls[0].counts.tolist() == together[number].balls[0].counts.tolist()


def test_an_empty_list_gives_an_empty_list() -> None:
    assert db.Certifier(half_space()).certify_many([], []) == []


def test_indices_name_randomness_and_must_differ() -> None:
    certifier = db.Certifier(half_space())
    with pytest.raises(InputError, match="distinct"):
        certifier.certify_many([torch.zeros(3)] * 2, [4, 4])
    with pytest.raises(InputError, match="as many"):
        certifier.certify_many([torch.zeros(3)] * 2, [4])


@pytest.mark.parametrize(
    ("n", "alpha", "target", "message"), [(5, 0.001, None, "any radius"), (100, 0.001, 3.0, "3.0")]
)
def test_what_cannot_be_reached_is_said_before_the_work(
    n: int, alpha: float, target: float | None, message: str
) -> None:
    config = db.CertifyConfig(n=n, alpha=alpha, target_radius=target)
    with pytest.warns(DoubleBubbleWarning, match=message):
        db.Certifier(half_space(), config)


def test_no_warning_where_the_target_is_in_reach() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.Certifier(half_space(), db.CertifyConfig(n=10_000, target_radius=1.5))


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"n": 0}, "n:"),
        ({"n0": 0}, "n0:"),
        ({"alpha": 0.0}, "alpha:"),
        ({"alpha": 1.0}, "alpha:"),
        ({"alpha": math.nan}, "alpha:"),
        ({"methods": ()}, "methods:"),
        ({"methods": ("cohen", "cohen")}, "once"),
        ({"methods": ("triple",)}, "methods"),
        ({"protocol": "paper", "methods": ("dipole",)}, "protocol paper knows"),
        ({"seed": -1}, "seed:"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        db.CertifyConfig(**settings)  # type: ignore[arg-type]


def test_alpha_defaults_to_the_protocols_own() -> None:
    assert db.CertifyConfig().alpha == 0.001
    assert db.CertifyConfig(protocol="paper").alpha == 0.05
    assert db.CertifyConfig(protocol="paper", alpha=0.01).alpha == 0.01


def test_other_norms_never_claim_more() -> None:
    cert = db.Certifier(half_space(), db.CertifyConfig(n=500)).certify(torch.zeros(3), index=0)
    assert cert.radius_in("l2") == cert.radius_in("l1") == cert.radius
    for size in (1, 2, 3, 784, 150_528):
        scaled = replace(cert, shape=(size,))
        from fractions import Fraction

        assert Fraction(scaled.radius_in("linf")) ** 2 * size <= Fraction(cert.radius) ** 2
        assert scaled.radius_in("linf") == pytest.approx(cert.radius / math.sqrt(size), rel=1e-12)
    assert replace(cert, radius=0.0).radius_in("linf") == 0
    with pytest.raises(ValueError, match="norm"):
        cert.radius_in("l3")  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", ["always", "tie", "spread"])
@pytest.mark.parametrize("classes", [2, 3, 1000])
@pytest.mark.parametrize("domain", [None, (0.0, 1.0)])
@pytest.mark.parametrize("gradient", ["full", "approximate"])
def test_every_case_has_a_stated_outcome(
    rule: str, classes: int, domain: tuple[float, float] | None, gradient: str
) -> None:
    """All votes agree, exact ties, gradients that vanish, many classes: finite radii and a status, never NaN."""
    smoothed = db.SmoothedClassifier(Fixed(classes, rule).eval(), 0.5, classes, domain, batch_size=100)
    config = db.CertifyConfig(n=300, n0=20, methods=SOUND, gradient=gradient)  # type: ignore[arg-type]
    cert = db.Certifier(smoothed, config).certify(torch.zeros(2, 3), index=0)
    assert set(cert.radii) == set(SOUND)
    assert all(math.isfinite(radius) and radius >= 0 for radius in cert.radii.values())
    assert isinstance(cert.status, db.Status)
    assert cert.reason
    if rule == "always":
        assert cert.prediction == 1
        assert cert.radius > 0
    if rule == "tie":
        assert cert.abstained


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1, 1)])
def test_every_method_takes_any_shape_and_floating_dtype(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    smoothed = half_space(0.4, (0.0, 1.0))
    config = db.CertifyConfig(n=400, n0=30, methods=SOUND)
    cert = db.Certifier(smoothed, config).certify(torch.zeros(shape, dtype=dtype), index=3)
    assert cert.prediction == 1
    assert 0 < cert.radius < 10


def test_without_an_index_the_inputs_bytes_name_its_randomness() -> None:
    certifier = db.Certifier(half_space(), db.CertifyConfig(n=500, n0=50))
    x = torch.tensor([0.1, 0.2, 0.3])
    first = certifier.certify(x)
    assert certifier.certify(x.clone()) == first
    assert certifier.certify(x.numpy()) == first
    assert certifier.certify(x, index=np.int64(first.index), label=np.int64(1)) == replace(first, label=1)
    other = certifier.certify(x + 1e-6)
    assert other.index != first.index
    assert other.balls[0].counts.tolist() != first.balls[0].counts.tolist()
    assert certifier.certify(x.double()).index != first.index
    together = certifier.certify_many(torch.stack([x, x + 1e-6, x]))
    assert together == [first, other, first]


@pytest.mark.parametrize("shape", [None, (3,)])
def test_a_batch_is_no_input_and_spoils_nothing(shape: tuple[int, ...] | None) -> None:
    smoothed = db.SmoothedClassifier(nn.Linear(3, 2).eval(), 0.5, 2, None, 50, shape)
    certifier = db.Certifier(smoothed, db.CertifyConfig(n=100, n0=10))
    with pytest.raises(InputError, match=r"got a batch of shape \(4, 3\): pass one input, or certify_many"):
        certifier.certify(torch.zeros(4, 3))
    assert certifier.certify(torch.zeros(3)).shape == (3,)
    with pytest.raises((InputError, ModelError)) as other:
        db.Certifier(db.SmoothedClassifier(nn.Linear(3, 2).eval(), 0.5, 2)).certify(torch.zeros(5))
    assert "certify_many" not in str(other.value)


def test_a_certifier_says_what_it_does() -> None:
    text = repr(db.Certifier(half_space(), db.CertifyConfig(n=123, alpha=0.01)))
    assert text.startswith("Certifier(")
    assert "n=123, alpha=0.01, sound, auto)" in text
