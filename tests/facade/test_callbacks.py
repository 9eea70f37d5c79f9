"""Callbacks hear of the start, of every new record once and in order, and of the end, however that comes."""

from pathlib import Path

import pytest
import torch

import doublebubble as db
from doublebubble.facade.run import Run
from doublebubble.runs.record import Record


class Listener:
    """Writes down what it is told; raises at a record if asked to."""

    def __init__(self, raise_at: int | None = None, error: type[BaseException] = RuntimeError) -> None:
        self.told: list[tuple[str, int, bool]] = []
        self._raise_at, self._error = raise_at, error

    def on_start(self, run: Run) -> None:
        self.told.append(("start", len(run.records), run.interrupted))

    def on_record(self, record: Record) -> None:
        self.told.append(("record", record.index, False))
        if record.index == self._raise_at:
            raise self._error("enough")

    def on_end(self, run: Run) -> None:
        self.told.append(("end", len(run.records), run.interrupted))


def certified(out: Path | None, *callbacks: db.Callback, indices: str = ":") -> db.Run:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2)).eval()
    data = torch.linspace(0, 1, 16).reshape(4, 1, 2, 2)
    return db.certify(
        model, data, sigma=0.5, n=50, n0=10, batch_size=10, out=out, indices=indices, callbacks=callbacks, quiet=True
    )


def test_everyone_hears_everything_in_order() -> None:
    first, second = Listener(), Listener()
    certified(None, first, second)
    assert first.told == second.told
    assert first.told[0] == ("start", 0, False)
    assert sorted(first.told[1:-1]) == [("record", index, False) for index in range(4)]
    assert first.told[-1] == ("end", 4, False)


def test_a_resumed_run_tells_of_new_records_alone(tmp_path: Path) -> None:
    certified(tmp_path / "run", indices="0:3")
    listener = Listener()
    certified(tmp_path / "run", listener)
    assert listener.told == [("start", 3, False), ("record", 3, False), ("end", 4, False)]
    again = Listener()
    certified(tmp_path / "run", again)
    assert again.told == [("start", 4, False), ("end", 4, False)]


def test_callbacks_change_no_record(tmp_path: Path) -> None:
    told, alone = certified(None, Listener()), certified(None)
    assert [one.without_time() for one in told.records] == [one.without_time() for one in alone.records]


def test_an_error_of_a_callback_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    other, angry = Listener(), Listener(raise_at=0)
    with pytest.raises(RuntimeError, match="enough"):
        certified(tmp_path / "run", other, angry)
    stored = db.open_run(tmp_path / "run")
    assert 0 in {record.index for record in stored.records}
    assert other.told[-1] == angry.told[-1] == ("end", len(stored.records), True)
    assert len(certified(tmp_path / "run").records) == 4


def test_an_interruption_is_told(tmp_path: Path) -> None:
    listener = Listener(raise_at=0, error=KeyboardInterrupt)
    with pytest.warns(db.DoubleBubbleWarning, match="interrupted"):
        run = certified(tmp_path / "run", listener)
    assert run.interrupted
    assert listener.told[-1] == ("end", len(run.records), True)
