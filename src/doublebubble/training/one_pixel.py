"""Convolutions of maps of one pixel, without the part of the kernel that meets only padding.

The last maps of a ResNet-18 of 32 x 32 images are one pixel: of a padded 3x3 kernel only the centre meets it, and the
gradient of the rest is 0. Backwards, CPUs take half of a training step for that rest.
"""

from torch import Tensor, nn
from torch.nn.functional import conv2d


class OnePixelConv2d(nn.Conv2d):
    """The same convolution; on maps of one pixel the centre of its kernel alone is used."""

    def forward(self, input: Tensor) -> Tensor:
        """The same numbers as without it."""
        if input.shape[-2:] != (1, 1):
            return super().forward(input)
        i, j = (size // 2 for size in self.kernel_size)
        return conv2d(input, self.weight[:, :, i : i + 1, j : j + 1], self.bias, groups=self.groups)


def skip_padding(model: nn.Module) -> None:
    """Let every convolution of the model that keeps the size of its map, but for strides, do so."""
    for module in model.modules():
        if type(module) is nn.Conv2d and module.padding_mode == "zeros" and module.dilation == (1, 1):
            odd = all(size % 2 == 1 for size in module.kernel_size)
            if odd and module.padding == tuple(size // 2 for size in module.kernel_size) != (0, 0):
                module.__class__ = OnePixelConv2d
