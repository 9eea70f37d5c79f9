"""Programs that take one batch size only: any number of rows goes through them in such batches.

May import only errors.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from doublebubble.errors import SettingError

USUAL = 256
"""The micro-batch of models that take any."""


def in_batches(run: Callable[[Tensor], Tensor], x: Tensor, size: int) -> Tensor:
    """What `run` says of the rows of x, given to it `size` at a time, the last batch filled up with zeros."""
    if len(x) == size:
        return run(x)
    padding = x.new_zeros((-len(x) % size, *x.shape[1:]))
    found = [run(batch) for batch in torch.split(torch.cat([x, padding]), size)]
    return torch.cat(found)[: len(x)]


def fixed_batch(model: nn.Module) -> int | None:
    """The batch size at which a model runs whatever it is given; None if it takes any, or one row at a time."""
    sizes = {size for module in model.modules() if isinstance(size := getattr(module, "fixed_batch", None), int)}
    return max(sizes, default=1) if max(sizes, default=1) > 1 else None


def chosen_batch(model: nn.Module, asked: int | None) -> int:
    """The micro-batch of a model: the one asked for, else its own, else the usual; an error if it takes another."""
    own = fixed_batch(model)
    if asked is not None and (isinstance(asked, bool) or int(asked) < 2):
        raise SettingError(f"batch_size: expected at least 2, got {asked!r}")
    if own is not None and asked is not None and asked != own:
        raise SettingError(f"batch_size: the model was exported for batches of {own} and takes no other, got {asked}")
    return int(asked or own or USUAL)
