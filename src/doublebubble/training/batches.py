"""The batches of an epoch: a shuffled order, images moved or mirrored, all from named streams. May import streams."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from doublebubble.streams import Stream

_FAR, _NEAR = 4, 1


def epoch_batches(count: int, batch_size: int, stream: Stream) -> list[Tensor]:
    """The numbers 0 .. count-1 in the stream's order, cut into batches; a last batch of one joins the batch before."""
    order = torch.from_numpy(stream.generator().permutation(count))
    batches = list(torch.split(order, batch_size))
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


def flip_and_crop(pixels: Tensor, stream: Stream) -> Tensor:
    """Each image mirrored with probability 1/2 and moved by up to 4 pixels each way, black coming in at the edges."""
    generator = stream.generator()
    rows, columns = _windows(generator, pixels, _FAR)
    mirrored = torch.from_numpy(generator.random(len(pixels)) < 0.5)
    columns[mirrored] = columns[mirrored].flip(1)
    return _cut_out(pixels, rows, columns, _FAR)


def shift(pixels: Tensor, stream: Stream) -> Tensor:
    """Each image moved by up to 1 pixel each way, black coming in at the edges; fit for digits, unlike a mirror."""
    return _cut_out(pixels, *_windows(stream.generator(), pixels, _NEAR), _NEAR)


AUGMENTATIONS = {"shift": shift, "flip-crop": flip_and_crop}


def _windows(generator: np.random.Generator, pixels: Tensor, margin: int) -> tuple[Tensor, Tensor]:
    """For each image the rows and the columns to take, of the image with that margin around it."""
    starts = (torch.from_numpy(generator.integers(0, 2 * margin + 1, size=(len(pixels), 1))) for _ in range(2))
    rows, columns = (start + torch.arange(length) for start, length in zip(starts, pixels.shape[2:], strict=True))
    return rows, columns


def _cut_out(pixels: Tensor, rows: Tensor, columns: Tensor, margin: int) -> Tensor:
    padded = pad(pixels, (margin,) * 4).permute(0, 2, 3, 1)
    image = torch.arange(len(pixels)).reshape(-1, 1, 1)
    return padded[image, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def enumerate_batches(count: int, batch_size: int, seed: int, epoch: int) -> Iterator[tuple[int, Tensor]]:
    """Step number and image numbers of each batch of an epoch."""
    yield from enumerate(epoch_batches(count, batch_size, Stream(seed, epoch, "train", "order")))
