"""The denoiser: images of any size in and out, each by itself, and nothing taken off where it sees no noise."""

import pytest
import torch
from torch import Tensor

from doublebubble.models.denoiser import UNet


def images(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("shape", [(1, 4, 4), (1, 28, 28), (3, 32, 32), (1, 7, 10), (3, 5, 13)])
def test_it_returns_images_of_the_same_shape_whatever_that_is(shape: tuple[int, int, int]) -> None:
    restored = UNet(shape[0])(images(2, *shape))
    assert restored.shape == (2, *shape)
    assert torch.isfinite(restored).all()


def test_what_it_takes_off_is_the_last_layers_estimate() -> None:
    network, x = UNet(1), images(2, 1, 8, 8)
    with torch.no_grad():
        weight, bias = network.leave.parameters()
        weight.zero_()
        bias.fill_(0.25)
    assert torch.equal(network(x), x - 0.25)


def test_each_image_is_restored_by_itself() -> None:
    network, x = UNet(1).double().eval(), images(5, 1, 8, 8).double()
    alone = torch.cat([network(x[k : k + 1]) for k in range(5)])
    torch.testing.assert_close(network(x), alone)


def test_a_pixel_is_restored_from_far_around() -> None:
    """Noise can only be told from strokes by what is around it: the middle must see pixels eight away, and colours."""
    network, x = UNet(3).double(), images(1, 3, 28, 28).double().requires_grad_()
    (gradient,) = torch.autograd.grad(network(x)[0, 0, 14, 14], x)
    for row, column in ((6, 14), (22, 14), (14, 6), (14, 22)):
        assert (gradient[0, :, row, column] != 0).all()
