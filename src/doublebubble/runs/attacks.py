"""What attacks on a run's certificates found, kept in the run: `RUN/attacks/INDEX.jsonl`, one line for each attack.

Every line is closed by a checksum that ties it to the run, and so to its model and data. No record depends on them.
"""

import base64
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from doublebubble.config import Settings
from doublebubble.errors import RunError
from doublebubble.runs.encoding import decode, encode
from doublebubble.runs.record import Length
from doublebubble.runs.spec import Spec, identity_hash
from doublebubble.runs.store import StoredRun
from doublebubble.runs.whole_files import put_file
from doublebubble.types import Floats, GradientKind

ATTACKS = "attacks"
_Count = Annotated[int, Field(ge=1)]


def ceil_distance(distance: float) -> float:
    """The least number of 6 decimals that is not below the distance; the double that stands for it is not either.

    Rounding to the nearest double is monotone and the distance is a double, so the result cannot fall below it.
    """
    if not (np.isfinite(distance) and distance >= 0):
        raise RunError(f"distance: expected a finite number >= 0, got {distance!r}")
    return float(Decimal(distance).quantize(Decimal("0.000001"), rounding=ROUND_CEILING))


class AttackSettings(Settings):
    """How hard an attack tries, and how sure a success must be.

    At each radius it takes `steps` steps from each of `restarts` starts, with `draws` draws at each; `n` fresh draws
    confirm a success. With probability at least 1 - `level` over those draws no success that is reported is false.
    `reach` is how far beyond the certified radius it looks, in multiples of sigma.
    """

    steps: _Count = 8
    restarts: _Count = 3
    draws: _Count = 128
    n: _Count = 20_000
    level: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    reach: Annotated[float, Field(ge=0)] = 4.0
    gradient: GradientKind = "full"
    seed: Annotated[int, Field(ge=0)] = 0


class Attacked(Settings):
    """What one attack on one certificate found.

    `distance`, rounded up to 6 decimals, is that of the nearest point of the domain where a rival was confirmed to be
    likelier than the class named, None if there was none as far as `searched`. `votes` are those of the confirming
    draws for the rival and for the class named, `p_value` is that of the exact sign test on them, and `point` is the
    place, its float64 numbers in base64. `radius` is the certified radius that was attacked.
    """

    index: Annotated[int, Field(ge=0)]
    prediction: Annotated[int, Field(ge=0)]
    radius: Length
    distance: Length | None
    searched: Length
    rival: Annotated[int, Field(ge=0)] | None = None
    votes: tuple[int, int] | None = None
    p_value: float | None = None
    point: str | None = None
    settings: AttackSettings
    draws: Annotated[int, Field(ge=0)]
    forward_equivalents: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len({value is None for value in (self.distance, self.rival, self.votes, self.p_value, self.point)}) > 1:
            raise ValueError("a success has a distance, a rival, votes, a p-value and a point; a failure none of them")
        return self

    @property
    def inside(self) -> bool:
        """Whether the success lies nearer than the certified radius: then the certificate is false."""
        return self.distance is not None and self.distance < self.radius

    @property
    def gap(self) -> float | None:
        """How far the certified radius and the smallest success are apart: the truth lies between them."""
        return None if self.distance is None else self.distance - self.radius

    def where(self, shape: tuple[int, ...]) -> Floats | None:
        """The point of the success, exactly as the model saw it."""
        if self.point is None:
            return None
        try:
            return np.frombuffer(base64.b64decode(self.point, validate=True), np.float64).reshape(shape)
        except ValueError as error:
            raise RunError(f"input {self.index}: the point of its attack cannot be read ({error})") from error

    def without_time(self) -> dict[str, object]:
        """All that must be equal when the same certificate is attacked again."""
        return self.model_dump(exclude={"seconds"})


def point_text(point: Floats) -> str:
    """A point as `Attacked` keeps it."""
    return base64.b64encode(np.ascontiguousarray(point, np.float64).tobytes()).decode()


def stored_attacks(run: StoredRun) -> dict[int, tuple[Attacked, ...]]:
    """All attacks that a run holds on the radii that its records have, by input in rising order."""
    if run.kept is not None:
        return {}
    radii = {record.index: record.radius for record in run.records}
    held = {index: _read(run.path, run.spec, index) for index in sorted(radii) if _path(run.path, index).is_file()}
    kept = {index: tuple(one for one in attacks if one.radius == radii[index]) for index, attacks in held.items()}
    return {index: attacks for index, attacks in kept.items() if attacks}


def store_attack(run: StoredRun, attacked: Attacked) -> None:
    """Keep an attack in its run, beside earlier ones on the same input; a run in memory keeps none."""
    if run.kept is not None:
        return
    path = _path(run.path, attacked.index)
    earlier = _read(run.path, run.spec, attacked.index) if path.is_file() else ()
    digest = identity_hash(run.spec)
    put_file(path, b"".join(encode(one, digest) for one in (*earlier, attacked)))


def nearest(attacks: Iterable[Attacked]) -> Attacked:
    """The attack of several on one input with the smallest success; without any, the one that looked farthest."""
    return min(attacks, key=lambda one: (one.distance is None, one.distance or 0.0, -one.searched))


def _path(run: Path, index: int) -> Path:
    return run / ATTACKS / f"{index}.jsonl"


def _read(path: Path, spec: Spec, index: int) -> tuple[Attacked, ...]:
    where, digest = _path(path, index), identity_hash(spec)
    try:
        lines = where.read_bytes().splitlines()
    except OSError as error:
        raise RunError(f"{where}: cannot be read ({error.strerror})") from error
    found = tuple(decode(line, digest, f"{where}: line {number}", Attacked) for number, line in enumerate(lines, 1))
    if any(one.index != index for one in found):
        raise RunError(f"{where}: holds attacks on another input")
    return found
