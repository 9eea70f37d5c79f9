"""Certify from Python: data in, a run out. The command, the demo, the experiments and the benchmarks use the same loop.

May not import the command or the experiments.
"""

import functools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn

from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleWarning
from doublebubble.facade.callbacks import Callback, telling
from doublebubble.facade.chosen_program import Auto, named_program
from doublebubble.facade.job import Indices, make_job
from doublebubble.facade.loop import Place, perform, prepare
from doublebubble.facade.planning import Plan, forecast
from doublebubble.facade.progress import certifying_progress
from doublebubble.facade.run import Run, open_run
from doublebubble.facade.sources import UNIT, Data
from doublebubble.program import Program
from doublebubble.terminal import Terminal
from doublebubble.types import NoiseName

__all__ = ["Callback", "Plan", "Run", "certify", "open_run", "plan"]


def plan(
    model: nn.Module,
    data: Data,
    sigma: float,
    *,
    inputs: int = 100,
    draws: int = 100,
    indices: Indices = ":",
    domain: tuple[float, float] | None = UNIT,
    num_classes: int | None = None,
    batch_size: int | Auto | None = None,
    device: str | None = None,
    program: Program | str | None = None,
    data_dir: Path | None = None,
    **settings: Any,
) -> Plan:
    """What to expect of certifying these inputs: draws, time and certified accuracy, from some draws on some of them.

    A forecast, no guarantee. `settings` are those of CertifyConfig.

    >>> import torch, doublebubble as db
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    >>> db.plan(model, torch.rand(3, 1, 2, 2), sigma=0.5, radii=(0.5,)).radii[0].fewest
    40
    """
    job = make_job(
        model,
        data,
        sigma,
        CertifyConfig(**settings),
        indices=indices,
        domain=domain,
        num_classes=num_classes,
        batch_size=batch_size,
        device=device,
        program=named_program(program),
        data_dir=data_dir,
    )
    return forecast(job, inputs, draws)


def certify(
    model: nn.Module,
    data: Data,
    sigma: float,
    *,
    out: str | Path | None = None,
    indices: Indices = ":",
    domain: tuple[float, float] | None = UNIT,
    num_classes: int | None = None,
    batch_size: int | Auto | None = None,
    device: str | None = None,
    program: Program | str | None = None,
    simultaneous: bool = False,
    centres: bool = True,
    engine: str = "local",
    workers: int = 1,
    address: str | None = None,
    gpus_per_worker: float = 0.0,
    data_dir: Path | None = None,
    classes: Sequence[str] | None = None,
    noise: NoiseName = "gaussian",
    grid: int | None = None,
    callbacks: Sequence[Callback] = (),
    quiet: bool = False,
    **settings: Any,
) -> Run:
    """Certify inputs: under protocol `sound` each radius holds with probability at least 1 - alpha over its draws.

    `data` is a pair (inputs, labels) of tensors or arrays, inputs alone, a torch Dataset or DataLoader, or the name or
    the folder of a data set. An input's index is its position there, also in a loader that shuffles. `settings` are
    those of CertifyConfig: n, n0, alpha, protocol, methods, gradient, seed and so on. The number of classes is
    `num_classes`, else the data set's own, else the number of logits that the model gives. `classes` are the names of
    all the model's classes in its order, for a folder of images that lacks some of them or sorts them otherwise.
    `noise` is gaussian, gaussian64 or lattice (docs/noise.md); the lattice has `grid` steps for each unit, 255 if it is
    not said, and inputs must lie on it. `program` is a Program or its name; `batch_size` is 256, or that of a file that
    takes no other. Either may be `auto`: the fastest here, measured once and kept in the run (docs/performance.md).
    `callbacks` are told when the run starts, of every new record, and when it ends (docs/tracking.md).

    A black box (`db.black_box`, an ONNX file) has no gradients: `gradient` is then `approximate`, and a warning says
    so. The names of a model's classes, its attribute `classes` if it has one, are kept where the data have none.

    With `out` the run lies in that folder, and the same call again resumes it, with further `indices` enlarges it.
    Without, it lives in memory. Ctrl-C ends it early: the run that is returned holds what is done, says that it was
    `interrupted`, and a warning says so too; press it again to stop what comes after.

    >>> import torch, doublebubble as db
    >>> model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    >>> run = db.certify(model, torch.rand(3, 1, 2, 2), sigma=0.5, n=100, n0=10, quiet=True)
    >>> len(run.certificates)
    3
    """
    if isinstance(settings.get("methods"), str):
        settings["methods"] = tuple(settings["methods"].replace(",", " ").split())
    folder = None if out is None else Path(out)
    job = make_job(
        model,
        data,
        sigma,
        CertifyConfig(**settings),
        indices=indices,
        domain=domain,
        num_classes=num_classes,
        batch_size=batch_size,
        device=device,
        program=named_program(program),
        simultaneous=simultaneous,
        centres=centres,
        data_dir=data_dir,
        classes=classes,
        noise=noise,
        grid=grid,
        out=folder,
    )
    store, chosen = prepare(job, folder, Place(engine, workers, address, gpus_per_worker))
    watching = functools.partial(certifying_progress, Terminal(), quiet=quiet)
    try:
        with telling(callbacks, store) as teller:
            perform(job, store, functools.partial(teller.watching, watching), chosen, teller.begin)
    except KeyboardInterrupt:
        again = "" if folder is None else "; the same call resumes it"
        message = f"interrupted: the run holds {len(store.records)} of {len(job.spec.index_list)} inputs{again}"
        warnings.warn(message, DoubleBubbleWarning, stacklevel=2)
        return Run.of(store.run(), interrupted=True)
    return Run.of(store.run())
