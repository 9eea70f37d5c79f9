"""What a run is, as pairs of a name and a value in words: for the terminal and for the page."""

from collections.abc import Iterator

from doublebubble.certificate import Noise
from doublebubble.config import CertifyConfig
from doublebubble.runs.record import Record
from doublebubble.runs.sampling import sampling
from doublebubble.runs.spec import RunSpec, spec_hash
from doublebubble.runs.store import StoredRun
from doublebubble.types import Guarantee


def facts(run: StoredRun) -> Iterator[tuple[str, str]]:
    """How far the run is and all that a reader needs to know of its settings, the most important first."""
    spec = run.spec
    yield "inputs", f"{len(run.records)} of {len(spec.index_list)} done ({spec.indices})"
    if run.torn:
        yield "note", "the last line was cut short and does not count; resuming repairs it"
    yield "specification", spec_hash(spec)[:12]
    if not isinstance(spec, RunSpec):
        yield "imported from", spec.source
        return
    config = spec.config
    yield "data", f"{spec.dataset}, {spec.split} split"
    yield "model", spec.model_digest[:12]
    yield "noise", f"{noise_name(spec)}, sigma {spec.sigma:g}"
    yield "assumed", assumed(spec)
    if losses := {record.noise.loss for record in run.records if record.noise.loss}:
        yield "lost", f"{max(losses):.2g} of alpha at most, to the distance of the noise from the normal law"
    yield "draws", f"{draws_asked(config)}, seed {config.seed}"
    yield from _sampling(run)
    yield "protocol", f"{protocol_of(config)}; methods {' '.join(config.methods)}"
    yield "alpha", level(spec)
    yield "ran on", f"{spec.device}, program {spec.program}, micro-batches of {spec.batch_size}"
    if not spec.centres:
        yield "note", "centres were not stored: radii of plans that use any cannot be verified again"


def noise_name(spec: RunSpec) -> str:
    """The noise, with its grid if it has one."""
    return spec.noise if spec.grid is None else f"{spec.noise} of step 1/{spec.grid}"


def assumed(spec: RunSpec) -> str:
    """What the radii rest on besides the draws."""
    return Noise(spec.noise).assumed


def draws_asked(config: CertifyConfig) -> str:
    """How many draws each input gets, in words."""
    if not config.sequential:
        return f"n {config.n}, n0 {config.n0}{_looks(config)}"
    question = (
        f"precision {config.precision:g}"
        if config.radii is None
        else f"{'radius' if len(config.radii) == 1 else 'radii'} {', '.join(f'{radius:g}' for radius in config.radii)}"
    )
    return f"as many as {question} needs, at most {config.max_draws}; beta {config.beta:g}"


def _looks(config: CertifyConfig) -> str:
    """The draws of one look of a thrifty search."""
    if not config.thrifty:
        return ""
    draws = config.n if config.paper.draws is None else config.paper.draws
    return f", looks of {draws} {'fixed ' if config.paper.fixed_draws else ''}draws"


def _sampling(run: StoredRun) -> Iterator[tuple[str, str]]:
    """What sampling cost and why it stopped, where that was not fixed beforehand."""
    found = sampling(run)
    if found is None:
        return
    yield (
        "draws made",
        f"{found.mean:.0f} for each input on average, median {found.median:.0f}, at most {found.most}; "
        f"decided {found.decided} of {found.inputs}",
    )
    for stop, inputs in found.stops.items():
        yield "stopped", f"{inputs} of {found.inputs}: {stop.value}"


def protocol_name(protocol: str, thrifty: bool = False) -> str:
    """The protocol as titles and cells name it: whatever comes from `paper` says what it is, and what it is not."""
    if protocol != "paper":
        return protocol
    return f"{protocol}: {'thrifty form, not as published' if thrifty else 'as published'}, {Guarantee.NONE.mark}"


def protocol_of(config: CertifyConfig) -> str:
    """The protocol of a run, with its form."""
    return protocol_name(config.protocol, config.thrifty)


def guarantee_of(record: Record) -> Guarantee:
    """What stands behind the radius of a record."""
    return Guarantee.NONE if record.protocol == "paper" else record.guarantee


def guarantees(run: StoredRun) -> tuple[Guarantee, ...]:
    """What stands behind the radii of a run, the weakest last; failed inputs have none and need none."""
    held = {guarantee_of(record) for record in run.records if record.status != "failed"}
    if isinstance(run.spec, RunSpec) and run.spec.config.protocol == "paper":
        held.add(Guarantee.NONE)
    return tuple(guarantee for guarantee in Guarantee if guarantee in held)


def mark(run: StoredRun) -> str:
    """The words that must stand beside every number of a run; none where all radii are guaranteed."""
    held = guarantees(run)
    return held[-1].mark if held else ""


def level(spec: RunSpec) -> str:
    """Alpha, and what it is the error probability of."""
    if spec.simultaneous is None:
        return f"{spec.config.alpha:g} for each input"
    return f"{spec.config.alpha * spec.simultaneous:g} for all {spec.simultaneous} inputs at once"
