"""What the measurement of gains keeps of every input: JSON lines that a killed run is continued from.

The first line holds the settings; each further one an input, written as soon as it is known. A last line that was cut
short is dropped; a file of other settings is refused.
"""

import fcntl
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self


@dataclass(frozen=True)
class Settings:
    """What the numbers of one file depend on, apart from the software, which every line names."""

    dataset: str
    model: str
    sigma: float
    n: int
    n0: int
    alpha: float
    seed: int
    protocol: str
    methods: tuple[str, ...]
    gradient: str
    program: str
    fold_batch_norm: bool
    channels_last: bool

    @property
    def title(self) -> str:
        """The case in a few words."""
        promise = "" if self.protocol == "sound" else " (no guarantee)"
        return (
            f"{self.dataset}, sigma {self.sigma:g}, {self.protocol}{promise}, n = {self.n:,}, alpha {self.alpha:g}, "
            f"program {self.program}"
        )


@dataclass(frozen=True)
class Line:
    """One input. One that is not correctly predicted is not certified; it counts as 0 in averages over all inputs.

    `radius` is that of the plan fixed before the certify draws, `binary` Cohen's radius from p_A alone at the same
    draws; `p_a` and `p_a_lower` are its estimate and its lower bound at alpha. `draws` and `seconds` are by stage.
    """

    index: int
    label: int
    predicted: int
    correct: bool
    software: str
    radii: dict[str, float] | None = None
    radius: float = 0.0
    method: str = ""
    reason: str = ""
    binary: float = 0.0
    p_a: float = 0.0
    p_a_lower: float = 0.0
    draws: dict[str, int] | None = None
    seconds: dict[str, float] | None = None


def begun(path: Path) -> bool:
    """Whether the file holds its settings."""
    return path.exists() and b"\n" in path.read_bytes()


def read(path: Path) -> tuple[Settings, list[Line]]:
    """The settings and the inputs of a file; a line cut short at its end is left out."""
    if not begun(path):
        raise SystemExit(f"{path}: expected a file of `benchmarks.gains`, found no line of settings")
    first, *rest = (json.loads(line) for line in path.read_bytes().split(b"\n")[:-1])
    return Settings(**{**first, "methods": tuple(first["methods"])}), [Line(**line) for line in rest]


class Log:
    """The one writer of a file: begins it, or goes on where it ends."""

    def __init__(self, path: Path, settings: Settings) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lines: list[Line] = []
        self._file: IO[bytes] = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"{path}: another run is writing it") from None
        if not begun(path):
            self._file.truncate(0)
            self._write(asdict(settings))
            return
        found, self.lines = read(path)
        other = [name for name, value in asdict(settings).items() if asdict(found)[name] != value]
        if other:
            raise SystemExit(f"{path} was measured with another {', '.join(other)}: name another file")
        self._file.truncate(path.read_bytes().rfind(b"\n") + 1)

    def append(self, line: Line) -> None:
        """Keep an input."""
        self._write(asdict(line))
        self.lines.append(line)

    def _write(self, values: dict[str, object]) -> None:
        self._file.write(json.dumps(values).encode() + b"\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
