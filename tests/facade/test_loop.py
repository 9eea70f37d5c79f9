"""The one run loop: where it runs, what it finds before anything is written, and what it leaves undone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.data import load_dataset
from doublebubble.errors import DoubleBubbleWarning, SettingError
from doublebubble.facade.job import Job, make_job
from doublebubble.facade.loop import Place, perform, prepare
from doublebubble.runs.record import Record
from tests.engines.centroids import make
from tests.facade.test_job import CONFIG


def job(indices: str = "0:5") -> Job:
    return make_job(make(), load_dataset("digits", "test"), 0.5, CONFIG, indices=indices, batch_size=16)


class Watched:
    """Remembers what the loop tells the one who watches."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int]] = []
        self.seen: list[int] = []

    @contextmanager
    def watch(self, earlier: list[Record], total: int) -> Iterator[Callable[[Record], None]]:
        self.begun.append((len(earlier), total))
        yield lambda record: self.seen.append(record.index)


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    watched = Watched()
    for indices, done in (("0:3", 3), ("0:5", 2), ("0:5", 0), ("1:3", 0)):
        store, engine = prepare(job(indices), tmp_path / "run", Place())
        assert perform(job(indices), store, watched.watch, engine) == done
    assert watched.seen == [0, 1, 2, 3, 4]
    assert watched.begun == [(0, 3), (3, 5)], "where nothing is left to do there is nothing to watch"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (Place("local", workers=2), "belong to engine ray"),
        (Place("local", address="here"), "belong to engine ray"),
        (Place("local", gpus_per_worker=0.5), "belong to engine ray"),
        (Place("cloud"), "engine: expected local or ray, got 'cloud'"),
        (Place("ray", gpus_per_worker=1.0), "more than 0 exactly if the device is cuda, got 1.0 for cpu"),
    ],
)
def test_places_that_cannot_be_meant_are_refused(place: Place, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        place.build(job())


def test_the_first_look_comes_before_the_folder_and_only_until_there_are_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Job, "look_first", lambda self: ("the model guesses",))
    with pytest.warns(DoubleBubbleWarning, match="the model guesses"):
        store, _ = prepare(job(), tmp_path / "run", Place())
    assert not (tmp_path / "run").exists()
    perform(job(), store, Watched().watch)
    prepare(job(), tmp_path / "run", Place())  # warnings are errors: a second look would be one

    def refuse(self: Job) -> tuple[str, ...]:
        raise SettingError("the model does not fit")

    monkeypatch.setattr(Job, "look_first", refuse)
    with pytest.raises(SettingError, match="does not fit"):
        prepare(job(), tmp_path / "other", Place())
    assert not (tmp_path / "other").exists()


def test_a_job_is_performed_in_this_process_unless_told_otherwise() -> None:
    store, _ = prepare(job(), None, Place())
    assert perform(replace(job()), store, Watched().watch) == 5
    assert len(store.run().records) == 5
