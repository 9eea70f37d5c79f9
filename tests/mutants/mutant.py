"""What a mutant is, and where all of them are."""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from tests.mutants import planted

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "doublebubble"


@dataclass(frozen=True)
class Mutant:
    """A bug: in `file`, a path below src/doublebubble, `old` becomes `new`, which is unsound because of `why`.

    `tests` are node ids, or files, below tests/: at least one of them must fail. `quick` ones are planted in every run
    of the test suite. With `lets_errors_out` errors of other code come through: a test may end with one.
    """

    name: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...]
    quick: bool = False
    lets_errors_out: bool = False

    @property
    def module(self) -> str:
        """The module that the file is."""
        parts = Path(self.file).with_suffix("").parts
        return ".".join(("doublebubble", *(part for part in parts if part != "__init__")))

    def problem(self, package: Path = PACKAGE) -> str | None:
        """Why the bug cannot be planted in this copy of the package, if it cannot."""
        path = package / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        times = path.read_text().count(self.old)
        if times != 1:
            return f"its text occurs {times} times in {self.file}, once was expected"
        return "it changes nothing" if self.old == self.new else None

    def plant(self, package: Path) -> None:
        """Put the bug into a copy of the package, and away with what was compiled without it."""
        path = package / self.file
        path.write_text(path.read_text().replace(self.old, self.new))
        Path(cache_from_source(str(path))).unlink(missing_ok=True)


@cache
def by_area() -> dict[str, tuple[Mutant, ...]]:
    """All mutants, by the name of the file that they stand in."""
    names = sorted(module.name for module in pkgutil.iter_modules(planted.__path__))
    return {name: tuple(importlib.import_module(f"{planted.__name__}.{name}").MUTANTS) for name in names}


def every() -> list[Mutant]:
    """All mutants."""
    return [mutant for mutants in by_area().values() for mutant in mutants]
