"""Gradients of black boxes: approximate ones are chosen and said, others refused in a sentence that names them."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble.runs.attacks import AttackSettings
from doublebubble.smoothing.gradient_choice import suited
from tests.smoothing.subjects import small_net

BOX = db.black_box(lambda x: (x.reshape(len(x), -1).mean(axis=1) > 0.5).astype(np.int64), 2)


@pytest.mark.parametrize("kind", [db.CertifyConfig, AttackSettings])
def test_a_black_box_gets_approximate_gradients_and_it_is_said(kind: Any) -> None:
    with pytest.warns(db.DoubleBubbleWarning, match="the model is a black box: gradient approximate is used"):
        assert suited(kind(seed=3), BOX) == kind(seed=3, gradient="approximate")
    with pytest.raises(db.SettingError, match=r"gradient: full differentiates.*ask for approximate, or leave it out"):
        suited(kind(gradient="full"), BOX)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = kind(gradient="approximate")
        assert suited(asked, BOX) is asked
        assert suited(kind(), small_net()).gradient == "full"


def test_the_published_search_that_always_differentiates_is_refused() -> None:
    with pytest.raises(
        db.SettingError, match=r"methods: double of protocol paper.*ask for cohen, single, boundary, with"
    ):
        suited(db.CertifyConfig(protocol="paper", gradient="approximate"), BOX)
    quiet = db.CertifyConfig(protocol="paper", gradient="approximate", methods=("cohen", "single"))
    assert suited(quiet, BOX) is quiet


def test_certifiers_and_attacks_choose_so() -> None:
    smoothed, x = db.SmoothedClassifier(BOX, 0.5, 2, domain=None), torch.full((4,), 0.75)
    with pytest.warns(db.DoubleBubbleWarning, match="gradient approximate is used"):
        certifier = db.Certifier(smoothed, db.CertifyConfig(n=1000))
    assert certifier.config.gradient == "approximate"
    certificate = certifier.certify(x, index=0)
    with pytest.warns(db.DoubleBubbleWarning, match="gradient approximate is used"):
        found = db.attack(certificate, smoothed, x, AttackSettings(n=4000, steps=4, restarts=1, draws=300))
    assert found.settings.gradient == "approximate"
    assert found.distance is None or found.distance > 0.5  # the other class begins there


def test_the_warning_names_the_line_of_the_caller() -> None:
    images, asks = torch.full((2, 1, 1, 2), 0.75), "gradient approximate is used"
    with pytest.warns(db.DoubleBubbleWarning, match=asks) as certifying:
        run = db.certify(BOX, images, sigma=0.5, n=100, n0=10, quiet=True)
    with pytest.warns(db.DoubleBubbleWarning, match=asks) as attacking:
        run.attack(BOX, data=images, n=100, steps=1, restarts=1, draws=10)
    smoothed = db.SmoothedClassifier(BOX, 0.5, 2, domain=None)
    with pytest.warns(db.DoubleBubbleWarning, match=asks) as making:
        db.Certifier(smoothed, db.CertifyConfig(n=100))
    assert [one.filename for said in (certifying, attacking, making) for one in said] == [__file__] * 3
