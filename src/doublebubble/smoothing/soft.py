"""Soft scores: differentiable stand-ins for votes. They guide searches and certify nothing.

`soft_look` has what is done for one request; here several share the micro-batches in which their votes are counted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from doublebubble.smoothing import soft_look
from doublebubble.smoothing.forward import Forward, some_rows
from doublebubble.smoothing.soft_look import SoftLook, SoftRequest, SoftScores


def soft_scores(
    forward: Forward, sigma: float, requests: Sequence[SoftRequest], centres: Sequence[Tensor], together: bool
) -> list[SoftScores]:
    """The soft scores at checked centres of one shape, each as `SmoothedClassifier.soft_scores` says of it alone.

    Votes that come before the directions share micro-batches if they may be counted `together`: if the program gives a
    row the same logits to the bit in any company. Gradients are always taken by themselves, since their sums round.
    """
    looks = [SoftLook(forward, sigma, centre, request) for request, centre in zip(requests, centres, strict=True)]
    with _inputs_alone(forward):
        for group in _groups([look for look in looks if callable(look.request.directions)], together):
            _count_votes(group)
            for look in group:
                look.finish()
        return [look.scores() for look in looks]


def _groups(looks: Sequence[SoftLook], together: bool) -> list[list[SoftLook]]:
    """Looks whose votes are counted together: few enough that the noise of all their draws could be kept."""
    groups: list[list[SoftLook]] = []
    room = 0
    for look in looks:
        if not together or look.bytes > room:
            groups.append([])
            room = soft_look.KEPT_BYTES
        groups[-1].append(look)
        room -= look.bytes
    return groups


def _count_votes(looks: Sequence[SoftLook]) -> None:
    """Run every draw once without a graph, full micro-batches at a time; what would be padding stays at a centre."""
    forward = looks[0].forward
    buffers, most = forward.buffers(looks[0].centre), forward.batch_size
    normals = torch.empty((most, forward.num_classes), dtype=torch.float32, device=forward.device)
    pieces: list[tuple[SoftLook, int, int]] = []
    filled = 0

    def run() -> None:
        logits = forward.logits(buffers.inputs, filled, [look.request.stream.index for look, _, _ in pieces])
        for look, first, rows in pieces:
            noise = some_rows(buffers.noise, first, rows)
            look.take(some_rows(logits, first, rows), noise, some_rows(normals, first, rows))
        pieces.clear()

    with torch.no_grad():
        for look in looks:
            source, gumbel_source = look.sources(normals)
            left = look.request.n
            while left:
                rows = min(left, most - filled)
                noise = some_rows(buffers.noise, filled, rows)
                source.fill(noise)
                torch.add(look.centre, noise, alpha=look.sigma, out=some_rows(buffers.inputs, filled, rows))
                if gumbel_source is not None:
                    gumbel_source.fill(some_rows(normals, filled, rows))
                pieces.append((look, filled, rows))
                filled, left = filled + rows, left - rows
                if filled == most:
                    run()
                    filled = 0
        if filled:
            buffers.inputs[filled:] = looks[-1].centre
            run()


@contextmanager
def _inputs_alone(forward: Forward) -> Iterator[None]:
    """Within, no weight of the program wants a gradient: graphs keep less, and nothing is computed in vain."""
    wanting = [parameter for parameter in forward.parameters() if parameter.requires_grad]
    for parameter in wanting:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in wanting:
            parameter.requires_grad_(True)
