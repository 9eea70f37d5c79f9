"""How often a model names the label, on clean images or under noise. Knows only streams and calls."""

import torch
from torch import Tensor, nn

from doublebubble.models.calling import bare_logits
from doublebubble.streams import NormalDraws, Stream


@torch.no_grad()
def predictions(model: nn.Module, inputs: Tensor, sigma: float, stream: Stream, batch_size: int = 500) -> Tensor:
    """The class the model names for each image plus one draw of noise of scale sigma (none if sigma is 0)."""
    draws = NormalDraws(stream, inputs[0])
    named = []
    for batch in torch.split(inputs, batch_size):
        x = batch.contiguous()
        if sigma > 0:
            noise = torch.empty_like(x)
            draws.fill(noise)
            x = x + sigma * noise
        named.append(bare_logits(model(x)).argmax(1))
    return torch.cat(named)


def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor, sigma: float, stream: Stream) -> float:
    """The fraction of images whose label the model names under one draw of noise each; the model's mode is kept."""
    return (predictions(model, inputs, sigma, stream) == labels).sum().item() / len(labels)
