"""Certified accuracy counts every input, and the figure shows what the certificates say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import stats

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.errors import InputError
from doublebubble.report.curve import average_radius, certified_accuracy, counted_radii, draw_curve


@pytest.fixture(scope="module")
def certificates() -> list[db.Certificate]:
    smoothed = db.SmoothedClassifier(HalfSpace(np.array([1.0, 0.0]), 0.0), 0.5, 2, None, batch_size=100)
    certifier = db.Certifier(smoothed, db.CertifyConfig(n=200, n0=20))
    xs = [torch.tensor([0.1 * i, 0.0]) for i in range(-5, 6)]
    return certifier.certify_many(xs, range(11), [1] * 11)


def test_wrong_and_abstained_inputs_count_as_certified_nowhere(certificates: list[db.Certificate]) -> None:
    counted = counted_radii(certificates)
    for certificate, radius in zip(certificates, counted, strict=True):
        assert radius == (certificate.radius if certificate.prediction == 1 else -1)
    curve = certified_accuracy(counted, np.array([0.0, 0.3]))
    by_hand = [sum(c.prediction == 1 and c.radius >= r for c in certificates) for r in (0.0, 0.3)]
    assert curve.accuracy.tolist() == [hits / 11 for hits in by_hand]
    for hits, low, high in zip(by_hand, curve.low, curve.high, strict=True):
        interval = stats.binomtest(hits, 11).proportion_ci(0.95, method="exact")
        assert (low, high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    total = sum(c.radius for c in certificates if c.prediction == 1)
    assert average_radius(counted) == pytest.approx(total / 11)


def test_labels_are_needed(certificates: list[db.Certificate]) -> None:
    with pytest.raises(InputError, match="label"):
        counted_radii([replace(certificates[0], label=None)])
    with pytest.raises(InputError, match="at least one"):
        counted_radii([])


def test_the_figure_is_drawn(certificates: list[db.Certificate], tmp_path: Path) -> None:
    draw_curve(certificates, tmp_path / "curve.png", "title")
    pixels = np.asarray(Image.open(tmp_path / "curve.png").convert("RGB"))
    assert pixels.shape[0] > 400
    blue = (pixels == (0, 114, 178)).all(2).sum()
    assert blue > 200, "the curve is there"
