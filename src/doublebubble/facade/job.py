"""A certification put together: the recipe for the workers, the specification, and the inputs still to do."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from doublebubble.config import CertifyConfig, checked_domain
from doublebubble.data import DATASETS, Dataset
from doublebubble.engines.base import FAILURES_AT_START, Recipe, in_groups
from doublebubble.errors import InputError, ModelError, RunError, SettingError
from doublebubble.facade.chosen_program import Auto, chosen_program
from doublebubble.facade.sources import UNIT, Data, Source, source_of
from doublebubble.models.black_box import is_black_box, no_module
from doublebubble.models.calling import ModelCode
from doublebubble.models.class_names import class_names
from doublebubble.models.first_look import check_logits, first_look, output_size
from doublebubble.noise import NoiseLaw
from doublebubble.program import Program
from doublebubble.runs.digests import data_digest, device_kind, model_digest, software_versions
from doublebubble.runs.indices import format_indices, parse_indices
from doublebubble.runs.memory import Store
from doublebubble.runs.probe import probe
from doublebubble.runs.spec import RunSpec
from doublebubble.smoothing import Input
from doublebubble.smoothing.gradient_choice import suited
from doublebubble.types import NoiseName

_LOOK_AT = 64
Indices = str | slice | Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Job:
    """What to certify and how; equal jobs have equal specifications."""

    recipe: Recipe
    spec: RunSpec
    source: Source

    def groups(self, store: Store) -> Iterator[list[Input]]:
        """The inputs asked for that have no record yet, in groups that share micro-batches."""
        done = {record.index for record in store.records}
        left = (self._input(index) for index in self.spec.index_list if index not in done)
        return in_groups(left, self.recipe.group_size)

    def look_first(self) -> tuple[str, ...]:
        """Run the model on a few inputs before any real work: an error if it does not fit, sentences if it seems wrong.

        Without labels, or in less than float32, only whether the model can be run is seen. Under the lattice, an error
        if the first input lies off the grid: then all are likely to.
        """
        model, size = self.recipe.model, len(self.source)
        given = [self._input(index) for index in range(0, size, max(1, size // _LOOK_AT))][:_LOOK_AT]
        NoiseLaw.of(self.spec.noise, self.spec.sigma, self.spec.grid, self.spec.domain).placed(
            given[0].x, given[0].index
        )
        inputs = as_model_takes(model, [one.x for one in given])
        labels = [one.label for one in given if one.label is not None]
        if len(labels) < len(given) or inputs.dtype not in (torch.float32, torch.float64):
            check_logits(model, inputs, self.recipe.num_classes, self.source.numbering)
            return ()
        return first_look(
            model,
            inputs,
            torch.tensor(labels),
            self.recipe.sigma,
            self.recipe.num_classes,
            numbering=self.source.numbering,
        ).warnings

    def _input(self, index: int) -> Input:
        given, classes = self.source.input(index), self.recipe.num_classes
        if given.label is not None and not 0 <= given.label < classes:
            raise InputError(f"input {index}: expected a label from 0 to {classes - 1}, got {given.label}")
        return given


def as_model_takes(model: nn.Module, xs: Sequence[Tensor]) -> Tensor:
    """Inputs as one batch in the type and on the device of the model's parameters."""
    shapes = sorted({tuple(x.shape) for x in xs})
    if len(shapes) > 1:
        raise InputError(f"data: expected inputs of one shape, got {shapes[0]} and {shapes[1]}")
    parameter = next(model.parameters(), torch.empty(0))
    return torch.stack(list(xs)).to(parameter.device, parameter.dtype)


def make_job(
    model: nn.Module,
    data: Data,
    sigma: float,
    config: CertifyConfig,
    *,
    indices: Indices = ":",
    domain: tuple[float, float] | None = UNIT,
    num_classes: int | None = None,
    batch_size: int | Auto | None = None,
    device: str | None = None,
    program: Program | Auto | None = None,
    simultaneous: bool = False,
    centres: bool = True,
    data_dir: Path | None = None,
    classes: Sequence[str] | None = None,
    noise: NoiseName = "gaussian",
    grid: int | None = None,
    out: Path | None = None,
) -> Job:
    """The job of certifying inputs.

    The number of classes is the one given, else the data set's own, else the number of logits that the model gives;
    labels must lie below it. The device is the model's own unless another is given. `simultaneous` divides alpha by the
    size of the data, whichever inputs are asked for: then with probability at least 1 - alpha all certificates are
    right at once, also when shards are merged later. In place of a program or a batch size of `auto` stands what the
    run in the folder `out` has recorded, or else what is measured fastest.
    """
    if not isinstance(model, nn.Module):
        raise no_module(model)
    if any(module.training for module in model.modules()):
        raise ModelError("expected a model in evaluation mode, this one is in training mode: call model.eval()")
    names = class_names(model)
    source = source_of(data, checked_domain(domain), data_dir, classes, names)
    if not len(source):
        raise SettingError("data: expected at least one input, got none")
    if simultaneous and config.protocol != "sound":
        raise SettingError("simultaneous: protocol paper has no level that could hold for all inputs at once")
    if simultaneous:
        config = config.model_copy(update={"alpha": config.alpha / len(source)})
    config = suited(config, model, stacklevel=4)
    x = source.input(0).x
    with ModelCode("the model cannot be looked at"):
        # What is no module of torch's runs where it runs.
        device = "cpu" if is_black_box(model) else device or str(next(model.parameters(), torch.empty(0)).device)
        digest = model_digest(model)
        model.to(device)
    asked = chosen_indices(indices, len(source))
    first = functools.cache(lambda: as_model_takes(model, _first_inputs(source)))
    work = len(asked) * (config.n0 + config.n)
    chosen, size = chosen_program(model, first, sigma, program, batch_size, out, work)
    known = num_classes or source.num_classes
    recipe = Recipe(
        model=model,
        sigma=sigma,
        num_classes=known or output_size(model, first()),
        input_shape=tuple(x.shape),
        domain=source.domain,
        batch_size=size,
        config=config,
        program=chosen,
        device=device,
        noise=noise,
        grid=grid,
    )
    law = NoiseLaw.of(noise, sigma, grid, source.domain)
    spec = RunSpec(
        model_digest=digest,
        dataset=source.name,
        split=source.split,
        data_digest=source.digest(),
        size=len(source),
        indices=format_indices(asked),
        sigma=sigma,
        num_classes=recipe.num_classes,
        shape=recipe.input_shape,
        domain=recipe.domain,
        batch_size=size,
        program=recipe.program.name,
        device=device_kind(torch.device(device)),
        config=config,
        simultaneous=len(source) if simultaneous else None,
        centres=centres,
        versions=software_versions(),
        probe=probe(model, recipe.input_shape, size),
        classes=source.classes or _known_names(source, names, recipe.num_classes),
        noise=law.name,
        grid=law.grid,
    )
    return Job(recipe, spec, source)


def _known_names(source: Source, names: tuple[str, ...], num_classes: int) -> tuple[str, ...] | None:
    """What the model calls its classes, where the data have no names for them."""
    return names if len(names) == num_classes and source.name not in DATASETS else None


def _first_inputs(source: Source) -> list[Tensor]:
    return [source.input(index).x for index in range(min(len(source), FAILURES_AT_START))]


def chosen_indices(indices: Indices, size: int) -> tuple[int, ...]:
    """The inputs asked for, in rising order, out of so many."""
    if isinstance(indices, str):
        return parse_indices(indices, size)
    chosen = range(*indices.indices(size)) if isinstance(indices, slice) else [int(index) for index in indices]
    if not chosen:
        raise SettingError(f"indices: expected at least one input, {indices} names none of {size}")
    return parse_indices(",".join(map(str, chosen)), size)


def check_origin(spec: RunSpec, model: nn.Module, data: Dataset) -> None:
    """An error that names both digests unless these are the data and the model that the run was made with."""
    _check_digest("other data", spec.data_digest, data_digest(data.pixels, data.labels))
    check_model(spec, model)


def check_model(spec: RunSpec, model: nn.Module) -> None:
    """An error that names both digests unless this is the model that the run was made with."""
    _check_digest("another model", spec.model_digest, model_digest(model))
    where = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    if spec.probe is None or spec.device != device_kind(where):
        return  # logits of two kinds of device differ by more than threads change
    if not spec.probe.agrees(probe(model, spec.shape, spec.batch_size)):
        raise RunError("the run was made with another model: this one gives other logits for the same fixed inputs")


def _check_digest(what: str, wanted: str, got: str) -> None:
    if got != wanted:
        raise RunError(f"the run was made with {what}: expected digest {wanted[:12]}, got {got[:12]}")
