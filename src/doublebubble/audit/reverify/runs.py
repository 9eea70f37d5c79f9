"""All records of a run against its specification and against what they store."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from doublebubble.audit.reverify.balls import SEQUENCE
from doublebubble.audit.reverify.certificates import Confirmation, Verdict, reverify
from doublebubble.audit.reverify.numbers import Unconfirmed, require
from doublebubble.certificate import Certificate
from doublebubble.config import CertifyConfig
from doublebubble.errors import RunError
from doublebubble.registry import AUTO
from doublebubble.runs.record import BallRecord, Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun
from doublebubble.types import ABSTAIN

Inputs = Callable[[int], tuple[NDArray[np.floating], int | None]]
"""An input by its index, as it was fed to the model, and its label."""


def reverify_run(run: StoredRun, inputs: Inputs | None = None) -> list[Verdict]:
    """A verdict for each record, by rising index. Without the inputs their labels are taken as they are stored."""
    return [_verdict(run, record, inputs) for record in sorted(run.records, key=lambda record: record.index)]


def _verdict(run: StoredRun, record: Record, inputs: Inputs | None) -> Verdict:
    spec = run.spec
    if not isinstance(spec, RunSpec):
        return Verdict(record.index, Confirmation.UNKNOWN, "the run was imported, without evidence")
    x: NDArray[np.floating] | None = None
    if inputs is not None:
        x, label = inputs(record.index)
        if label != record.label:
            return Verdict(record.index, Confirmation.REFUTED, f"the label is {label}, not {record.label}")
    if record.status == "failed":
        nothing = record.radius == 0 and not any(record.radii.values()) and record.prediction == ABSTAIN
        outcome = Confirmation.CONFIRMED if nothing else Confirmation.REFUTED
        said = "claims nothing" if nothing else "the input failed, yet a class or a radius is claimed"
        return Verdict(record.index, outcome, said)
    if record.centres_digest is None and any(ball.centre is not None or ball.vectors for ball in record.all_balls):
        return Verdict(record.index, Confirmation.UNKNOWN, "the centres or vectors of its plan were not stored")
    try:
        made = record.certificate(spec, run.centres(record))
        _fits(record, made, spec)
    except (Unconfirmed, RunError, IndexError, ValueError) as why:
        return Verdict(record.index, Confirmation.REFUTED, str(why))
    needed = spec.grid is not None or any(ball.centre is not None or ball.vectors for ball in record.all_balls)
    return reverify(made, x if needed else None, spec.domain)


def _fits(record: Record, made: Certificate, spec: RunSpec) -> None:
    """The record is one that this specification can give."""
    config = spec.config
    require(record.protocol == config.protocol, f"protocol {record.protocol} in a run of {config.protocol}")
    require(made.alpha <= config.alpha, f"alpha {made.alpha} in a run at {config.alpha}")
    noise = made.noise
    require(noise.name == spec.noise, f"noise {noise.name} in a run of {spec.noise}")
    require(noise.grid == spec.grid, f"a grid of {noise.grid} in a run of {spec.grid}")
    known = config.methods == (AUTO,) or made.method in config.methods
    require(known, f"method {made.method} was not asked for")
    asked = {made.method} if config.methods == (AUTO,) else set(config.methods)
    require(set(made.radii) == asked, "the methods are not those that were asked for")
    sequences = [ball for ball in record.all_balls if ball.statistic == SEQUENCE]
    if config.sequential:
        require(len(sequences) == len(record.all_balls), "the votes were not looked at as they came")
        for ball in sequences:
            _fits_question(ball, config)
        return
    require(not sequences, "votes were looked at as they came, in a run with a fixed number of draws")
    if config.protocol == "paper":
        _fits_form(made, config)
    if config.protocol == "sound":
        for claim in made.claims.values():
            require(sum(ball.n for ball in claim.balls) <= config.n, f"the balls have more draws than n = {config.n}")
        require(made.draws.get("select") == config.n0, f"the select draws are not n0 = {config.n0}")


def _fits_form(made: Certificate, config: CertifyConfig) -> None:
    """Every ball was measured by n draws: in the published form by the search itself, else by draws after it."""
    require(all(ball.n == config.n for ball in made.balls), f"a ball was not measured by n = {config.n} draws")
    after = made.draws.get("certify", 0)
    if config.paper.draws is None:
        require(after == 0, "draws after the search, in a run of the published form")
    else:
        require(after >= config.n * (len(made.balls) - 1), "a ball without its confirmation, in a run of thrifty form")


def _fits_question(ball: BallRecord, config: CertifyConfig) -> None:
    """The ladder of a sequence of votes is the one that was asked for."""
    held = ball.evidence
    require(held.get("cap") == config.max_draws, f"the cap is not max_draws = {config.max_draws}")
    require(held.get("precision") == config.precision, f"the precision is not the {config.precision} asked for")
    if config.radii is None:
        return
    stored = held.get("radii")
    rungs = stored if isinstance(stored, list) else []
    # the ladder's radii are the floats that are not below the decimals asked for
    same = [_decimals(rung) for rung in rungs] == [_decimals(radius) for radius in config.radii]
    require(same, f"the radii of the ladder are not the {list(config.radii)} asked for")


def _decimals(radius: object) -> str:
    return f"{radius:.12f}" if isinstance(radius, float) else repr(radius)
