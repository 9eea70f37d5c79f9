"""The certificates of a run under attack, one by one, each outcome kept in the run at once."""

from collections.abc import Callable
from pathlib import Path

from torch import nn

from doublebubble.audit.attack import attack
from doublebubble.certificate import Certificate
from doublebubble.errors import RunError
from doublebubble.facade.auditing import source_for
from doublebubble.facade.job import Indices, check_model, chosen_indices
from doublebubble.facade.sources import Data
from doublebubble.program import Program
from doublebubble.runs.attacks import Attacked, AttackSettings, nearest, store_attack, stored_attacks
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.smoothing.gradient_choice import suited

Seen = Callable[[int, int], None]
"""Told how many of how many inputs are done."""


def attack_run(
    run: StoredRun,
    model: nn.Module,
    settings: AttackSettings,
    *,
    data: Data | None = None,
    data_dir: Path | None = None,
    indices: Indices = ":",
    seen: Seen = lambda done, total: None,
) -> tuple[Attacked, ...]:
    """Attack every input asked for whose record names a class with a radius above 0; by rising index.

    Inputs that were attacked with the same settings before are not attacked again. What is given back for each is its
    nearest success of all attacks that the run holds. Another model than the run's, or other data, are an error.
    """
    spec = run.spec
    if not isinstance(spec, RunSpec):
        raise RunError(f"{run.path}: was imported, so there is neither a model nor data to attack it with")
    check_model(spec, model)
    settings = suited(settings, model, stacklevel=4)
    source = source_for(spec, data, data_dir)
    smoothed = SmoothedClassifier(
        model, spec.sigma, spec.num_classes, spec.domain, spec.batch_size, spec.shape, Program.named(spec.program)
    )
    wanted = set(chosen_indices(indices, spec.size))
    claims = [record for record in run.records if record.index in wanted and record.radius > 0]
    earlier, found = stored_attacks(run), []
    for number, record in enumerate(sorted(claims, key=lambda record: record.index)):
        attacks = earlier.get(record.index, ())
        if all(one.settings != settings for one in attacks):
            made = attack(_certificate(run, record, spec), smoothed, source.input(record.index).x, settings)
            store_attack(run, made)
            attacks += (made,)
        found.append(nearest(attacks))
        seen(number + 1, len(claims))
    return tuple(found)


def _certificate(run: StoredRun, record: Record, spec: RunSpec) -> Certificate:
    """The certificate of a record; without its balls, which only guide an attack, where centres were not stored."""
    if record.centres_digest is None:
        record = record.model_copy(
            update={"balls": tuple(b for b in record.balls if b.centre is None and not b.vectors), "beside": {}}
        )
    return record.certificate(spec, run.centres(record))
