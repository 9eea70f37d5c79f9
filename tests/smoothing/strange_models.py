"""Models that are no function of one row of their input, each in its own way."""

import torch
from torch import Tensor, nn

from doublebubble.smoothing import SmoothedClassifier
from tests.smoothing.subjects import image, small_net


class Majority(nn.Module):
    """Every row gets the class that most rows of the batch have."""

    def __init__(self, bias: float = 0.0) -> None:
        super().__init__()
        self.bias = bias

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1).sum(1) + self.bias
        winner = (first > 0).float().mean() > 0.5
        return torch.stack([torch.where(winner, 1.0, 0.0), torch.where(winner, 0.0, 1.0)]).expand(len(batch), 2)


class Dropping(nn.Module):
    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = nn.functional.dropout(batch.flatten(1)[:, :4], 0.5, training=True)
        return logits


class Toggling(nn.Module):
    """Leaves evaluation mode by itself, at a call of its choice."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.inner, self.calls, self.at = small_net(), 0, at

    def forward(self, batch: Tensor) -> Tensor:
        logits: Tensor = self.inner(batch)
        self.calls += 1
        if self.calls == self.at:
            self.train()
        return logits


class Counting(nn.Module):
    """Its logits depend on how often it was called."""

    def __init__(self, after: int = 0, slope: float = 0.1) -> None:
        super().__init__()
        self.calls, self.after, self.slope = 0, after, slope

    def forward(self, batch: Tensor) -> Tensor:
        self.calls += 1
        first = batch.flatten(1)[:, 0]
        return torch.stack([first, torch.full_like(first, self.slope * max(0, self.calls - self.after))], 1)


class Growing(nn.Module):
    """Changes its input in place."""

    def forward(self, batch: Tensor) -> Tensor:
        first = batch.flatten(1)[:, :4].clone()
        batch.mul_(2.0)
        return first


class Later(nn.Module):
    """Honest for so many calls, then every row gets the mean of the batch."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def forward(self, batch: Tensor) -> Tensor:
        self.left -= 1
        logits = batch.flatten(1)[:, :4].clone()
        return logits if self.left > 0 else logits.mean(0, keepdim=True).expand_as(logits)


class Placed(nn.Module):
    """A row's logits depend on its place in the batch."""

    def forward(self, batch: Tensor) -> Tensor:
        return batch.flatten(1)[:, :4] + 0.1 * torch.arange(len(batch))[:, None]


class Wary(nn.Module):
    """Turns every logit over if some row of the batch is what it is wary of."""

    def __init__(self, zeros: bool) -> None:
        super().__init__()
        self.zeros = zeros

    def forward(self, batch: Tensor) -> Tensor:
        flat = batch.flatten(1)
        wary = (flat == 0).all(1) if self.zeros else (flat.abs() > 12).any(1)
        return -flat[:, :4] if bool(wary.any()) else flat[:, :4].clone()


class Sized(nn.Module):
    """Its logits depend on how many rows the batch has."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def forward(self, batch: Tensor) -> Tensor:
        return batch.flatten(1)[:, :4] + (1.0 if len(batch) == self.rows else 0.0)


class Stern(nn.Module):
    """Takes batches of one size alone, and is as wary of rows that are zero as any."""

    def __init__(self, rows: int, inner: nn.Module) -> None:
        super().__init__()
        self.rows, self.inner = rows, inner

    def forward(self, batch: Tensor) -> Tensor:
        if len(batch) != self.rows:
            raise ValueError(f"{self.rows} rows, please")
        logits: Tensor = self.inner(batch)
        return logits


class LateNeighbour(nn.Module):
    """Honest for so many calls, then all rows but the first get the logits of the second."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def forward(self, batch: Tensor) -> Tensor:
        self.left -= 1
        logits = batch.flatten(1)[:, :4].clone()
        if self.left < 0:
            logits[2:] = logits[1].clone()
        return logits


class Repeating(nn.Module):
    """Asked the same twice in a row, it gives another answer."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.empty(0)

    def forward(self, batch: Tensor) -> Tensor:
        same = torch.equal(batch, self.last)
        self.last = batch.clone()
        return batch.flatten(1)[:, :4] + float(same)


def batch_norm() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, track_running_stats=False), nn.Flatten(), nn.Linear(64, 4)
    )


def counted(model: nn.Module, classes: int = 4, n: int = 50, sigma: float = 0.5, batch_size: int = 16) -> object:
    torch.manual_seed(0)
    return SmoothedClassifier(model.eval(), sigma, classes, batch_size=batch_size).counts(image(), n, seed=0, index=7)
