"""The batches of an epoch: a shuffled order, and flips and crops, all from named streams. May import streams."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from doublebubble.streams import Stream

_MARGIN = 4


def epoch_batches(count: int, batch_size: int, stream: Stream) -> list[Tensor]:
    """The numbers 0 .. count-1 in the stream's order, cut into batches; a last batch of one joins the batch before."""
    order = torch.from_numpy(stream.generator().permutation(count))
    batches = list(torch.split(order, batch_size))
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


def flip_and_crop(pixels: Tensor, stream: Stream) -> Tensor:
    """Each image mirrored with probability 1/2 and moved by up to 4 pixels each way, black coming in at the edges."""
    count, _, height, width = pixels.shape
    generator = stream.generator()
    rows, columns = _window(generator, count, height), _window(generator, count, width)
    mirrored = torch.from_numpy(generator.random(count) < 0.5)
    columns[mirrored] = columns[mirrored].flip(1)
    padded = pad(pixels, (_MARGIN,) * 4).permute(0, 2, 3, 1)
    image = torch.arange(count).reshape(-1, 1, 1)
    return padded[image, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def _window(generator: np.random.Generator, count: int, length: int) -> Tensor:
    start = torch.from_numpy(generator.integers(0, 2 * _MARGIN + 1, size=(count, 1)))
    return start + torch.arange(length)


def enumerate_batches(count: int, batch_size: int, seed: int, epoch: int) -> Iterator[tuple[int, Tensor]]:
    """Step number and image numbers of each batch of an epoch."""
    yield from enumerate(epoch_batches(count, batch_size, Stream(seed, epoch, "train", kind="order")))
