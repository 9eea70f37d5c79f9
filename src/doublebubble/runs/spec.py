"""What determines the numbers of a run, in one frozen, hashed object. Two equal specifications give equal records."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from doublebubble.config import CertifyConfig, Settings, checked_domain, first_problem
from doublebubble.errors import RunError, SettingError
from doublebubble.json_text import parse_json
from doublebubble.runs.indices import parse_indices
from doublebubble.runs.probe import Probe
from doublebubble.types import NoiseName

FORMAT = 2
"""The layout of spec.json and records.jsonl; another number is another layout."""
MOST_CLASSES, MOST_INTEGER = 1 << 20, (1 << 63) - 1
"""What no run exceeds: a file that says more is wrong, and must not make its reader allocate that much."""


_USUAL: dict[str, object] = {"classes": None, "noise": "gaussian", "grid": None}


class RunSpec(Settings):
    """Everything that determines the numbers of a certification run.

    `indices` is the canonical text of the inputs (`format_indices`) out of the `size` of the data set's split.
    `simultaneous` is the number of inputs that the level was divided by, so that `config.alpha` is what each input
    spends and alpha times that number bounds the probability of any false certificate in the whole data set; None means
    that the level holds for each input by itself. `centres` says whether the centres of plans are stored. `probe` is
    what the model said of fixed inputs; None where it was not asked. `classes` are those of a folder of images, in the
    order that numbers its labels; None for data that bring their own numbers. `noise` is how noise was made, on a
    `grid` of so many steps for each unit if it is the lattice.
    """

    kind: Literal["certify"] = "certify"
    model_digest: str
    dataset: str
    split: str
    data_digest: str
    size: Annotated[int, Field(ge=1)]
    indices: str
    sigma: Annotated[float, Field(gt=0)]
    num_classes: Annotated[int, Field(ge=2, le=MOST_CLASSES)]
    shape: tuple[Annotated[int, Field(ge=0, le=MOST_INTEGER)], ...]
    domain: Annotated[tuple[float, float] | None, BeforeValidator(checked_domain)]
    batch_size: Annotated[int, Field(ge=2)]
    program: str
    device: str
    config: CertifyConfig
    simultaneous: Annotated[int, Field(ge=1)] | None = None
    centres: bool = True
    versions: dict[str, str]
    probe: Probe | None = None
    classes: tuple[str, ...] | None = None
    noise: NoiseName = "gaussian"
    grid: Annotated[int, Field(ge=1)] | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_usual(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        """What later versions added is written and hashed only where it says something."""
        content: dict[str, object] = whole(self)
        return {name: value for name, value in content.items() if name not in _USUAL or value != _USUAL[name]}

    @model_validator(mode="after")
    def _grid_for_the_lattice_alone(self) -> Self:
        if (self.grid is not None) != (self.noise == "lattice"):
            raise ValueError("a grid belongs to the noise lattice, and to no other")
        return self

    @property
    def index_list(self) -> tuple[int, ...]:
        """The inputs of the run, in rising order."""
        return parse_indices(self.indices, self.size)


class ImportSpec(Settings):
    """A run that another tool made: where its file came from, and which inputs it holds. Nothing else is known."""

    kind: Literal["import"] = "import"
    source: str
    digest: str
    size: Annotated[int, Field(ge=1)]
    indices: str

    @property
    def index_list(self) -> tuple[int, ...]:
        """The inputs of the run, in rising order."""
        return parse_indices(self.indices, self.size)


Spec = RunSpec | ImportSpec
_READER: TypeAdapter[Spec] = TypeAdapter(Annotated[Spec, Field(discriminator="kind")])


def spec_hash(spec: Spec) -> str:
    """SHA-256 of the canonical text: equal exactly for equal specifications."""
    content = spec.model_dump(mode="json")
    if content.get("probe", 0) is None:
        del content["probe"]  # specifications were hashed without this field before there was one
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def identity_hash(spec: Spec) -> str:
    """SHA-256 of all but the inputs asked for: runs that share it can grow into one another, and so share records."""
    return hashlib.sha256(canonical(spec.model_dump(mode="json", exclude={"indices", "probe"})).encode()).hexdigest()


def canonical(value: object) -> str:
    """JSON with sorted keys, without spaces, without NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def spec_text(spec: Spec) -> str:
    """The content of spec.json."""
    content = {"format": FORMAT, "hash": spec_hash(spec), "spec": spec.model_dump(mode="json")}
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def parse_spec(text: str, where: str) -> Spec:
    """The specification of a spec.json, or an error that says how the file was changed."""
    try:
        content = parse_json(text)
    except ValueError as error:
        raise RunError(f"{where}: expected JSON, {error}") from error
    if not isinstance(content, dict) or set(content) != {"format", "hash", "spec"}:
        raise RunError(f"{where}: expected the fields format, hash and spec")
    if content["format"] != FORMAT:
        raise RunError(f"{where}: expected a run of format {FORMAT}, got {content['format']!r}")
    try:
        spec = _READER.validate_python(content["spec"])
        found, _ = spec_hash(spec), spec.index_list
    except ValidationError as error:
        raise RunError(f"{where}: {first_problem(error)}") from error
    except SettingError as error:
        raise RunError(f"{where}: {error}") from error
    if found != content["hash"]:
        raise RunError(
            f"{where}: the specification was changed after it was written (its hash is {found[:12]}, "
            f"the file says {str(content['hash'])[:12]}); restore it, or start a run in another folder"
        )
    return spec


def differences(old: Spec, new: Spec) -> list[str]:
    """The fields in which two specifications differ, as `name: old -> new`, nested fields by their dotted names.

    The logits of the probe may differ by their tolerance: threads change their last bits, and the model is the same.
    """
    apart = {"probe"}
    before, after = (_flat({**_USUAL, **spec.model_dump(mode="json", exclude=apart)}) for spec in (old, new))
    names = [*before, *(name for name in after if name not in before)]
    changed = [name for name in names if before.get(name) != after.get(name)]
    found = [f"{name}: {before.get(name)!r} -> {after.get(name)!r}" for name in changed]
    if isinstance(old, RunSpec) and isinstance(new, RunSpec) and not _same_probe(old.probe, new.probe):
        found.append("probe: the model gives other logits for the same inputs, so it is another model")
    return found


def _same_probe(old: Probe | None, new: Probe | None) -> bool:
    return old is new if old is None or new is None else old.agrees(new)


def _flat(values: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
