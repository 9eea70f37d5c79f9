"""What a training run is: its settings, and a preset for each data set and method. May import only errors and types."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from doublebubble.errors import SettingError
from doublebubble.files import read_plain
from doublebubble.json_text import parse_json
from doublebubble.types import TrainMethod


class TrainSettings(BaseModel):
    """Everything that determines the trained weights, on one kind of device and number of threads."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    dataset: str
    arch: str
    sigma: float = Field(ge=0)
    method: TrainMethod
    epochs: int = Field(ge=1)
    batch_size: int = Field(ge=2)
    optimiser: Literal["adam", "sgd"]
    lr: float = Field(gt=0)
    momentum: float = Field(0.0, ge=0, lt=1)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["constant", "steps", "one-cycle"] = "constant"
    milestones: tuple[int, ...] = ()
    augment: Literal["none", "shift", "flip-crop"] = "none"
    holdout: int = Field(1000, ge=0)
    size: int | None = Field(None, ge=8)
    seed: int = Field(0, ge=0)
    device: str = "cpu"
    draws: int = Field(16, ge=1)
    lam: float = Field(12.0, ge=0)
    gamma: float = Field(8.0, gt=0)
    beta: float = Field(16.0, gt=0)
    eta: float = Field(0.5, ge=0)
    classifier: str | None = None
    stability: float = Field(0.0, ge=0)

    @field_validator("classifier")
    @classmethod
    def _only_behind_a_denoiser(cls, given: str | None, info: ValidationInfo) -> str | None:
        if given is not None and info.data.get("method") != "denoiser":
            raise ValueError("only method denoiser takes a classifier")
        return given

    @field_validator("stability")
    @classmethod
    def _only_of_a_classifier(cls, given: float, info: ValidationInfo) -> float:
        if given > 0 and info.data.get("classifier") is None:
            raise ValueError("is that of a classifier behind the denoiser, which is not given")
        return given

    @property
    def copies(self) -> int:
        """How many noisy copies of an image a step runs."""
        return self.draws if self.method in ("macer", "consistency") else 1


_ADAM = {"optimiser": "adam", "lr": 0.001, "batch_size": 128, "epochs": 50}
_SGD_STEPS = {"optimiser": "sgd", "momentum": 0.9, "schedule": "steps"}
_GAUSSIAN: dict[str, dict[str, object]] = {
    "digits": {**_ADAM, "arch": "cnn", "batch_size": 32, "epochs": 30, "holdout": 150},
    "mnist": {**_ADAM, "arch": "resnet18"},
    "fashion-mnist": {**_ADAM, "arch": "resnet18"},
    "cifar10": {**_ADAM, "arch": "resnet18"},
    "tiny-imagenet": {
        **_SGD_STEPS,
        "arch": "resnet18-tiny",
        "lr": 0.1,
        "batch_size": 128,
        "epochs": 80,
        "milestones": (30, 60),
    },
    "folder": {**_ADAM, "arch": "resnet18", "holdout": 0},
}
_MACER: dict[str, object] = {
    **_SGD_STEPS,
    "lr": 0.01,
    "weight_decay": 5e-4,
    "batch_size": 64,
    "epochs": 440,
    "milestones": (200, 400),
}
_DENOISER: dict[str, object] = {
    "arch": "unet",
    "optimiser": "adam",
    "lr": 0.002,
    "schedule": "one-cycle",
    "milestones": (),
    "batch_size": 64,
    "epochs": 5,
}
_STABILITY = 0.1
_GREY = ("digits", "mnist", "fashion-mnist")


def _consistency(family: str, sigma: float) -> dict[str, object]:
    """Jeong and Shin: lambda is halved for sigma 0.5 and above; their schedule is that of MNIST, or of CIFAR-10."""
    lam = 10.0 if sigma < 0.5 else 5.0
    shared = {**_SGD_STEPS, "weight_decay": 1e-4, "batch_size": 256, "draws": 2, "eta": 0.5}
    if family in _GREY:
        return {**shared, "lr": 0.01, "epochs": 90, "milestones": (30, 60), "lam": lam}
    return {**shared, "lr": 0.1, "epochs": 150, "milestones": (50, 100), "lam": 2 * lam}


def preset(dataset: str, method: str, sigma: float, **overrides: object) -> TrainSettings:
    """The settings published for a data set and method, of a denoiser short ones, with every field open to change."""
    family = dataset.split(":", 1)[0]
    if family not in _GAUSSIAN:
        raise SettingError(f"data set: expected one of {', '.join(_GAUSSIAN)} (folder:PATH), got {dataset!r}")
    fields = dict(_GAUSSIAN[family])
    if method == "macer":
        fields.update(_MACER)
    elif method == "consistency":
        fields.update(_consistency(family, sigma))
    elif method == "denoiser":
        fields.update(_DENOISER if family != "digits" else {**_DENOISER, "batch_size": 32, "epochs": 30})
        fields.update({"holdout": 0} if overrides.get("classifier") is None else {"stability": _STABILITY})
    fields.update({name: value for name, value in overrides.items() if value is not None})
    return validated({**fields, "dataset": dataset, "method": method, "sigma": sigma})


def validated(fields: dict[str, object]) -> TrainSettings:
    """Settings from plain values; what does not fit is one sentence."""
    try:
        return TrainSettings.model_validate(fields)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}, got {e['input']!r}" for e in error.errors())
        raise SettingError(f"training settings: {'; '.join(problems)}") from error


def read_settings(path: Path) -> TrainSettings:
    """The settings a run was started with."""
    try:
        return TrainSettings.model_validate(parse_json(read_plain(path)))
    except (OSError, ValueError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise SettingError(f"{path}: expected training settings ({why})") from error


def differences(old: TrainSettings, new: TrainSettings) -> list[str]:
    """The fields in which two settings differ, in words."""
    before, after = old.model_dump(), new.model_dump()
    return [f"{name} was {before[name]!r}, now {after[name]!r}" for name in before if before[name] != after[name]]
