"""The attack that rounding allows on float32 smoothing, and that exact noise does not."""

import pytest
import torch
from torch import nn

import doublebubble as db
from doublebubble.errors import InputError
from examples.floating_point import Disguised, affine_classifier, image, main, smoothed
from tests.digits import digits, digits_model

CONFIG = db.CertifyConfig(n=2000, n0=100, alpha=0.001, methods=("cohen",))


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return affine_classifier()


def test_in_exact_arithmetic_the_classifier_is_constant(model: nn.Module) -> None:
    """In float64, where float32 inputs near 1 leave bits to spare, all scores are their constants."""
    double = affine_classifier().double()
    inputs = 1 + torch.randn(200, 1, 28, 28, generator=torch.Generator().manual_seed(0)).double()
    inputs = (inputs * 2**20).round() / 2**20
    assert torch.equal(double(inputs), torch.tensor([[0.0, -0.5, -3.5]]).double().expand(200, 3))
    assert all(isinstance(layer, nn.Conv2d | nn.Linear | nn.Flatten) for layer in model.children())


def test_float32_noise_certifies_a_radius_that_an_image_nearby_breaks(model: nn.Module) -> None:
    classifier = smoothed(model, "gaussian")
    claimed = db.Certifier(classifier, CONFIG).certify(image(255), index=0)
    distance = float((image(255).double() - image(254).double()).norm())
    assert claimed.prediction == 0
    assert claimed.radius > 2.5
    assert distance < 0.11
    found = classifier.predict(image(254), n=4000, alpha=0.001, seed=1, index=0)
    assert found not in (claimed.prediction, db.ABSTAIN)
    nearer = torch.full_like(image(255), 1 - 2.0**-24)  # the next float: 1.7e-6 away
    assert classifier.counts(nearer, 1000, seed=1, index=0)[0] < 300


def test_the_lattice_does_not_over_certify_the_same_classifier(model: nn.Module) -> None:
    """Class and radius at the white image hold at every grey level within the radius, far and near."""
    classifier = smoothed(model, "lattice")
    claimed = db.Certifier(classifier, CONFIG).certify(image(255), index=0)
    assert claimed.prediction != 0
    assert claimed.radius > 0.5
    levels = [level for level in (254, 253, 252, 250, 245, 240) if (255 - level) / 255 * 28 < claimed.radius]
    assert len(levels) > 3
    for level in levels:
        assert classifier.counts(image(level), 1000, seed=level, index=0).argmax() == claimed.prediction
    assert classifier.predict(image(254), n=1000, alpha=0.001, seed=1, index=0) == claimed.prediction
    with pytest.raises(InputError, match="on the grid"):  # the next float, which fooled float32, is no input here
        classifier.counts(torch.full_like(image(255), 1 - 2.0**-21), 10, seed=0, index=0)


def test_gaussian64_does_not_over_certify_it_either(model: nn.Module) -> None:
    """Cast once, a pixel tells of x only what its rounded value does."""
    counts = [smoothed(model, "gaussian64").counts(image(level), 2000, seed=level, index=0) for level in (255, 254)]
    assert counts[0].argmax() == counts[1].argmax()
    assert abs(counts[0] - counts[1]).max() < 250


def test_a_trained_network_can_hide_it() -> None:
    """The network's own certificate at a digit, word for word, and other classes at the next floats."""
    x, network = digits()[0][1791], digits_model()
    network_votes = db.SmoothedClassifier(network, 0.5, 10).counts(x, 1000, seed=0, index=0)
    top = int(network_votes.argmax())
    first, second = [kind for kind in range(10) if kind != top][:2]
    disguised = Disguised(network, x, (first, second)).eval()
    classifier = db.SmoothedClassifier(disguised, 0.5, 10)
    assert (classifier.counts(x, 1000, seed=0, index=0) == network_votes).all()
    claimed = db.Certifier(classifier, CONFIG).certify(x, index=0)
    near = torch.where(x > 0, torch.nextafter(x, torch.zeros(())), x)
    assert claimed.prediction == top
    assert claimed.radius > 0.5
    assert float((x - near).norm()) < 1e-6
    found = classifier.counts(near, 1000, seed=0, index=0)
    assert found[top] < 250 < 300 < min(found[first], found[second])
    # On the grid of the digits the disguise does nothing: at the digit and beside it the votes are the network's own.
    beside = torch.where(x > 0, x - 1 / 16, x)
    for point in (x, beside):
        one, two = (db.SmoothedClassifier(model, 0.5, 10, noise="lattice", grid=16) for model in (disguised, network))
        assert one.counts(point, 1000, seed=0, index=0).tolist() == two.counts(point, 1000, seed=0, index=0).tolist()
    assert one.counts(near, 1000, seed=0, index=1).tolist() == one.counts(x, 1000, seed=0, index=1).tolist()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    said = capsys.readouterr().out
    assert "float32: certified as class 0 within 3.20 of the white image" in said
    assert "distance 0.11, which breaks the certificate" in said
    assert "lattice: certified as class 2 within" in said
    assert "`predict` says class 2 at distance 0.11, as the certificate says" in said
