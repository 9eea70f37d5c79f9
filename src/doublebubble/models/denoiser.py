"""A small network that takes noise off images, for a classifier that never saw any. Knows nothing of this package."""

from itertools import pairwise

from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d


class UNet(nn.Module):
    """The image less the noise that it is thought to hold, which is estimated at the whole, half and quarter size.

    At a quarter of the size a pixel sees nearly the whole of a digit; what was seen at each size is added on the way
    back. Images of any size from 4x4 on.
    """

    def __init__(self, channels: int, widths: tuple[int, int, int] = (16, 32, 64)) -> None:
        super().__init__()
        fine, middle, coarse = widths
        self.enter = _layers(channels, fine)
        self.down = _layers(fine, middle, middle)
        self.bottom = _layers(middle, coarse, coarse)
        self.widen_middle = nn.Conv2d(coarse, middle, 1)
        self.up_middle = _layers(middle, middle)
        self.widen_fine = nn.Conv2d(middle, fine, 1)
        self.up_fine = _layers(fine, fine)
        self.leave = nn.Conv2d(fine, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """The images without their noise."""
        fine = self.enter(x)
        middle = self.down(max_pool2d(fine, 2))
        coarse = self.bottom(max_pool2d(middle, 2))
        middle = self.up_middle(middle + _enlarged(self.widen_middle(coarse), middle))
        fine = self.up_fine(fine + _enlarged(self.widen_fine(middle), fine))
        noise: Tensor = self.leave(fine)
        return x - noise


def _layers(*widths: int) -> nn.Sequential:
    """A convolution from each width to the next, each followed by a ReLU."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers)


def _enlarged(small: Tensor, like: Tensor) -> Tensor:
    """Every pixel repeated, to the size of the other: also where that is odd."""
    return interpolate(small, size=like.shape[-2:], mode="nearest")
