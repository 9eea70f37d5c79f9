"""Programs that take one batch size only: any number of rows goes through them in such batches. May import only torch."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def in_batches(run: Callable[[Tensor], Tensor], x: Tensor, size: int) -> Tensor:
    """What `run` says of the rows of x, given to it `size` at a time, the last batch filled up with zeros."""
    if len(x) == size:
        return run(x)
    padding = x.new_zeros((-len(x) % size, *x.shape[1:]))
    found = [run(batch) for batch in torch.cat([x, padding]).split(size)]
    return torch.cat(found)[: len(x)]


def fixed_batch(model: nn.Module) -> int | None:
    """The batch size at which a model runs whatever it is given; None if it takes any, or one row at a time."""
    sizes = {size for module in model.modules() if isinstance(size := getattr(module, "fixed_batch", None), int)}
    return max(sizes, default=1) if max(sizes, default=1) > 1 else None
