"""A laboratory that only reads: runs packed under a folder of results, from which experiments are drawn again.

What is not there is not made. A study that lacks a run is left out of the experiments that ask for it.
"""

from dataclasses import dataclass, field

from doublebubble.errors import DataError
from doublebubble.reproduce.laboratory import Laboratory, Wanted
from doublebubble.reproduce.packed import packed_as, read_packed
from doublebubble.reproduce.scales import Study
from doublebubble.runs.store import StoredRun


@dataclass
class Archive(Laboratory):
    """Gives the runs under OUT/runs; `events` are told of the runs that are missing, once each."""

    _read: dict[str, StoredRun] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def available(self, names: tuple[str, ...]) -> list[Study]:
        """The studies that lack no run as far as is known."""
        there = [study for study in map(self.scale.study, names) if study.name not in self._excluded]
        if not there:
            raise DataError(f"{self.out}: lacks runs of {', '.join(names)}")
        return there

    def run(self, wanted: Wanted) -> StoredRun:
        """The run as it was packed; its centres are not there."""
        file = self.out / "runs" / packed_as(wanted.name)
        if wanted.name not in self._read and file.exists():
            self._read |= read_packed(file)
        if wanted.name not in self._read:
            self._require_making(wanted.study.name, wanted.name)
        return self._read[wanted.name]

    def _require_making(self, study: str, name: str) -> None:
        sentence = f"{name}: is not among the results"
        self._excluded.add(study)
        if sentence not in self._told:
            self._told.add(sentence)
            self.events.missing(sentence)
        raise DataError(sentence)
