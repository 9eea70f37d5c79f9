"""A small network for the bundled digits, trained in seconds, for tests that need a real classifier."""

import functools

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn


@functools.cache
def digits() -> tuple[Tensor, Tensor]:
    """Images (1, 8, 8) in [0, 1] and their labels."""
    bundle = load_digits()
    return torch.tensor(bundle.images / 16.0, dtype=torch.float32)[:, None], torch.tensor(bundle.target)


@functools.cache
def digits_model(sigma: float = 0.25, steps: int = 300) -> nn.Module:
    """Trained on all but the last 300 digits with Gaussian noise, the same on every call."""
    images, labels = digits()
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10))
    with torch.no_grad():
        for parameter in model.parameters():
            fan = parameter[0].numel() if parameter.dim() > 1 else 1
            parameter.copy_(
                torch.randn(parameter.shape, generator=generator) * (2 / fan) ** 0.5 * (parameter.dim() > 1)
            )
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        rows = torch.randint(len(images) - 300, (128,), generator=generator)
        noisy = images[rows] + sigma * torch.randn(images[rows].shape, generator=generator)
        loss = nn.functional.cross_entropy(model(noisy), labels[rows])
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        optimiser.step()
    return model.eval()
