"""Convolutions of maps of one pixel: the same outputs and gradients as torch's own, for every kernel that they take."""

import copy
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from doublebubble.models import build
from doublebubble.training.one_pixel import OnePixelConv2d, skip_padding


def gradients(model: nn.Module, x: Tensor) -> tuple[Tensor, list[Tensor]]:
    x = x.clone().requires_grad_()
    out = model(x)
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
    return out.detach(), list(torch.autograd.grad((out * weights).sum(), [x, *model.parameters()]))


@settings(deadline=None)
@given(
    kernel=st.sampled_from([(3, 3), (1, 3), (5, 3), (7, 7)]),
    stride=st.integers(1, 3),
    groups=st.sampled_from([1, 2]),
    bias=st.booleans(),
    size=st.sampled_from([(1, 1), (1, 2), (3, 3)]),
)
def test_outputs_and_gradients_are_those_of_the_plain_convolution(
    kernel: tuple[int, int], stride: int, groups: int, bias: bool, size: tuple[int, int]
) -> None:
    torch.manual_seed(7)
    padding = (kernel[0] // 2, kernel[1] // 2)
    plain = nn.Conv2d(4, 6, kernel, stride=stride, padding=padding, groups=groups, bias=bias, dtype=torch.float64)
    mine = copy.deepcopy(plain)
    skip_padding(mine)
    assert type(mine) is OnePixelConv2d
    x = torch.randn(3, 4, *size, dtype=torch.float64)
    (out, found), (expected, wanted) = gradients(mine, x), gradients(plain, x)
    torch.testing.assert_close(out, expected, rtol=1e-12, atol=1e-12)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
    if size == (1, 1):
        rest = found[1].clone()
        rest[:, :, padding[0], padding[1]] = 0
        assert not rest.any()


@pytest.mark.parametrize(
    "given_as",
    [
        {"kernel_size": 3},
        {"kernel_size": 1},
        {"kernel_size": 2, "padding": 1},
        {"kernel_size": 3, "padding": 2},
        {"kernel_size": 3, "padding": "same"},
        {"kernel_size": 3, "padding": 1, "dilation": 2},
        {"kernel_size": 3, "padding": 1, "padding_mode": "circular"},
    ],
)
def test_other_convolutions_are_left_alone(given_as: dict[str, Any]) -> None:
    model = nn.Sequential(nn.Conv2d(2, 2, **given_as))
    skip_padding(model)
    assert type(model[0]) is nn.Conv2d


def test_a_network_keeps_its_names_and_its_gradients() -> None:
    plain = build("resnet18", (3, 32, 32), 10, (0.5,) * 3, (0.5,) * 3).double().train()
    mine = copy.deepcopy(plain)
    skip_padding(mine)
    assert sum(type(module) is OnePixelConv2d for module in mine.modules()) > 10
    assert list(mine.state_dict()) == list(plain.state_dict())
    x = torch.rand(4, 3, 32, 32, dtype=torch.float64)
    (out, found), (expected, wanted) = gradients(mine, x), gradients(plain, x)
    torch.testing.assert_close(out, expected)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
