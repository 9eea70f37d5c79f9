"""A certificate that rounding breaks, and the noise that keeps it: `python -m examples.floating_point`.

The classifier below is affine. In exact arithmetic it computes v = (y - 1) + 1 - y = 0 for every pixel y and always
answers class 0. In float32 v = 0 only if y - 1 can be written in 24 bits. At the white image, x = 1, the noisy pixel
y = 1 + sigma Z has come from such a number: v = 0 in every pixel of every draw, and all votes go to class 0. At x' =
254/255 the last bit of x' is in y; where y < 0 the difference y - 1 needs one bit more than there is, v is 2^-24 or
-2^-24, and 784 pixels together outvote class 0. The low bits of x + sigma Z tell the classifier where x is, which no
theorem about Gaussian noise allows for.

The same operations hide in a trained network as well (`Disguised`): with exact sums it is the network itself.

On the lattice the classifier sees table[i + J], with J drawn independently of i: the same votes at x and at x', and the
certificate, for another class, is true.
"""

import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.types import NoiseName

SIDE, SIGMA, CLASSES = 28, 1.0, 3
TITLES: dict[str, NoiseName] = {"float32": "gaussian", "lattice": "lattice"}


def affine_classifier() -> nn.Module:
    """Four affine layers: y -> (y - 1, y) -> (y - 1 + 1, y) -> 2^24 ((y - 1 + 1) - y) -> three scores."""
    subtract, add, compare, scores = nn.Conv2d(1, 2, 1), nn.Conv2d(2, 2, 1), nn.Conv2d(2, 1, 1), nn.Linear(SIDE**2, 3)
    with torch.no_grad():
        subtract.weight.copy_(torch.tensor([1.0, 1.0]).view(2, 1, 1, 1))
        subtract.bias.copy_(torch.tensor([-1.0, 0.0]))  # type: ignore[union-attr]
        add.weight.copy_(torch.eye(2).view(2, 2, 1, 1))
        add.bias.copy_(torch.tensor([1.0, 0.0]))  # type: ignore[union-attr]
        compare.weight.copy_(2.0**24 * torch.tensor([1.0, -1.0]).view(1, 2, 1, 1))
        compare.bias.zero_()  # type: ignore[union-attr]
        scores.weight.copy_(torch.tensor([0.0, 1.0, -1.0]).view(3, 1).expand(3, SIDE**2))
        scores.bias.copy_(torch.tensor([0.0, -0.5, -3.5]))
    return nn.Sequential(subtract, add, compare, nn.Flatten(), scores).eval()


class Disguised(nn.Module):
    """A network that, in exact arithmetic, is `network`; in float32 it betrays whether the input was drawn about x.

    x must be coarse, such as multiples of 1/16: then y - x is a float for every y = x + sigma Z, and the rest is 0.
    """

    def __init__(self, network: nn.Module, x: Tensor, classes: tuple[int, int]) -> None:
        super().__init__()
        self.network = network
        self.x = x
        self.classes = classes

    def forward(self, y: Tensor) -> Tensor:
        """The network's scores, plus and minus a multiple of (y - x) + x - y for two classes."""
        rest = 2.0**38 * ((y - self.x) + self.x - y).flatten(1).sum(1)
        scores: Tensor = self.network(y).clone()
        scores[:, self.classes[0]] += rest
        scores[:, self.classes[1]] -= rest
        return scores


def image(level: int) -> Tensor:
    """An image of one grey level of 0 .. 255."""
    return torch.full((1, SIDE, SIDE), level / 255)


def smoothed(model: nn.Module, noise: NoiseName) -> db.SmoothedClassifier:
    """The classifier under the noise of that name, on the grid of 8-bit images if it has one."""
    return db.SmoothedClassifier(model, SIGMA, CLASSES, domain=(0.0, 1.0), noise=noise)


def main() -> None:
    """Certify the white image with float32 noise, break the certificate, and do the same on the lattice."""
    model = affine_classifier()
    white, near = image(255), image(254)
    distance = float((white.double() - near.double()).norm())
    config = db.CertifyConfig(n=10_000, n0=500, alpha=0.001, methods=("cohen",))
    for title, noise in TITLES.items():
        classifier = smoothed(model, noise)
        claimed = db.Certifier(classifier, config).certify(white, index=0)
        found = classifier.predict(near, n=10_000, alpha=0.001, seed=1, index=0)
        verdict = "which breaks the certificate" if found != claimed.prediction else "as the certificate says"
        print(f"{title}: certified as class {claimed.prediction} within {claimed.radius:.2f} of the white image;")
        print(f"         `predict` says class {found} at distance {distance:.2f}, {verdict}.")


if __name__ == "__main__":
    main()
