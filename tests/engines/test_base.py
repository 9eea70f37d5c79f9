from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import nn

from doublebubble import CertifyConfig
from doublebubble.certificate import Certificate
from doublebubble.engines.base import Failure, Outcome, Recipe, certify_group, certify_streamed, execute, in_groups
from doublebubble.engines.local import LocalEngine
from doublebubble.errors import FunctionError, InputError, ModelError, RunError
from doublebubble.runs.record import Record
from doublebubble.runs.store import RunStore, read_run
from doublebubble.smoothing import Input
from tests.runs.samples import certificate, spec


class FakeCertifier:
    """Certifies everything but the inputs it is told to fail on."""

    def __init__(self, poisoned: Sequence[int] = (), error: Exception | None = None) -> None:
        self.poisoned = set(poisoned)
        self.error = error or InputError("expected finite values")
        self.calls: list[tuple[int, ...]] = []

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        indices = [given.index for given in inputs]
        self.calls.append(tuple(indices))
        if self.poisoned & set(indices):
            raise self.error
        return [certificate(given.index, label=given.label) for given in inputs]


def inputs(indices: Sequence[int]) -> list[Input]:
    return [Input(index, torch.zeros(1), 1) for index in indices]


def run(path: Path, certifier: FakeCertifier, indices: Sequence[int], size: int = 4) -> list[Record]:
    seen: list[Record] = []
    with RunStore(path, spec()) as store:
        execute(LocalEngine(certifier), in_groups(inputs(indices), size), store, seen.append)
    return seen


def test_groups_hold_every_task_once_in_order() -> None:
    groups = list(in_groups(inputs(range(11)), 4))
    assert [len(group) for group in groups] == [4, 4, 3]
    assert [given.index for group in groups for given in group] == list(range(11))


def test_a_poisoned_input_is_recorded_and_the_run_goes_on(tmp_path: Path) -> None:
    seen = run(tmp_path, FakeCertifier(poisoned=[5]), range(12))
    assert [record.index for record in seen] == list(range(12))
    assert [record.index for record in seen if record.status == "failed"] == [5]
    assert seen[5].error == "expected finite values"
    assert read_run(tmp_path).records == tuple(seen)


def test_neighbours_of_a_poisoned_input_are_certified_one_by_one() -> None:
    certifier = FakeCertifier(poisoned=[1])
    outcomes = certify_group(certifier, inputs(range(3)))
    assert certifier.calls == [(0, 1, 2), (0,), (1,), (2,)]
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, True, False]


def test_if_the_first_inputs_all_fail_nothing_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the first 5 inputs all failed, nothing was recorded: expected finite"):
        run(tmp_path, FakeCertifier(poisoned=range(20)), range(20))
    assert read_run(tmp_path).records == ()


def test_failures_at_the_start_are_kept_once_an_input_succeeds(tmp_path: Path) -> None:
    seen = run(tmp_path, FakeCertifier(poisoned=[0, 1, 2, 3]), range(5))
    assert [record.status for record in seen] == ["failed"] * 4 + ["certified"]


def test_many_failures_in_a_row_are_recorded_once_an_input_succeeded(tmp_path: Path) -> None:
    seen = run(tmp_path, FakeCertifier(poisoned=range(4, 14)), range(16))
    assert [record.index for record in seen] == list(range(16))
    assert sum(record.status == "failed" for record in seen) == 10


def test_a_short_run_may_fail_altogether_and_a_resumed_one_later(tmp_path: Path) -> None:
    assert [record.status for record in run(tmp_path / "short", FakeCertifier(poisoned=[0, 1]), [0, 1])] == [
        "failed"
    ] * 2
    run(tmp_path / "long", FakeCertifier(), range(3))
    seen = run(tmp_path / "long", FakeCertifier(poisoned=range(3, 12)), range(3, 12))
    assert len(seen) == 9


def test_running_out_of_memory_is_not_the_inputs_fault(tmp_path: Path) -> None:
    error = ModelError("input 3: the model failed")
    error.__cause__ = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(RunError, match=r"out of memory on the device: free some .* resume with the same command"):
        run(tmp_path, FakeCertifier(poisoned=[3], error=error), range(8))
    assert all(record.status == "certified" for record in read_run(tmp_path).records)


@pytest.mark.parametrize("count", [1, 8])
def test_a_model_that_is_no_function_of_its_input_stops_the_run(tmp_path: Path, count: int) -> None:
    """However short the run is: no input is to blame, so none is recorded as failed and no neighbour is tried alone."""
    certifier = FakeCertifier(poisoned=[count - 1], error=FunctionError("input 3: rows influence each other"))
    with pytest.raises(RunError, match=r"input 3: rows influence each other\. The run stops; do not use what it rec"):
        run(tmp_path, certifier, range(count))
    assert [record.index for record in read_run(tmp_path).records] == list(range(count - 1))[: count // 2]
    assert len(certifier.calls) == (count + 3) // 4


class Streaming(FakeCertifier):
    def certify_stream(self, inputs: Iterable[Input]) -> Iterator[Certificate]:
        for given in inputs:
            yield from self.certify_inputs([given])


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_runs_out_stops_a_stream(error: Exception) -> None:
    """Whoever lacked it, the model or our own buffers: one sentence, and no input is to blame."""
    certifier = Streaming(poisoned=[2], error=error)
    with pytest.raises(RunError, match=r"out of memory on the device: free some .* resume with the same command"):
        list(certify_streamed(certifier, inputs(range(4))))
    assert certifier.calls == [(0,), (1,), (2,)]


def test_a_bug_of_ours_is_not_called_a_failure_of_an_input() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        list(certify_streamed(Streaming(poisoned=[0], error=RuntimeError("a bug")), inputs(range(2))))


def test_a_model_that_is_no_function_of_its_input_stops_a_stream() -> None:
    certifier = Streaming(poisoned=[2], error=FunctionError("input 2: chance"))
    made = certify_streamed(certifier, inputs(range(4)))
    with pytest.raises(RunError, match=r"input 2: chance\. The run stops"):
        list(made)
    assert certifier.calls == [(0,), (1,), (2,)]


def test_the_advice_on_memory_can_be_followed(tmp_path: Path) -> None:
    """The same command resumes; a smaller batch is another run, is refused in this folder and accepted in another."""
    error = ModelError("input 5: the model failed")
    error.__cause__ = torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(RunError, match=r"or start again in another folder with a smaller batch size, .* another run"):
        run(tmp_path / "run", FakeCertifier(poisoned=[5], error=error), range(8))
    smaller = spec(batch_size=2)
    with pytest.raises(RunError, match=r"batch_size: 4 -> 2.*another folder"), RunStore(tmp_path / "run", smaller):
        pass
    assert len(run(tmp_path / "run", FakeCertifier(), range(8))) == 8
    with RunStore(tmp_path / "other", smaller) as store:
        assert store.records == []


def test_an_error_of_ours_stops_the_run_and_keeps_what_was_done(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, FakeCertifier(poisoned=[9], error=ZeroDivisionError()), range(12))
    assert [record.index for record in read_run(tmp_path).records] == list(range(8))


def test_outcomes_are_written_before_the_next_group_is_begun(tmp_path: Path) -> None:
    written: list[int] = []

    class Watching:
        def outcomes(self, groups: Iterator[list[Input]]) -> Iterator[Outcome]:
            for group in groups:
                yield certificate(group[0].index)
                written.append(len(read_run(tmp_path).records))

    with RunStore(tmp_path, spec()) as store:
        execute(Watching(), in_groups(inputs(range(3)), 1), store, lambda record: None)
    assert written == [1, 2, 3]


def test_groups_fill_micro_batches_and_stay_small() -> None:
    def recipe(n: int, n0: int, batch_size: int) -> Recipe:
        return Recipe(nn.Identity(), 0.5, 2, (2,), None, batch_size, CertifyConfig(n=n, n0=n0))

    assert recipe(100_000, 10_000, 256).group_size == 1
    assert recipe(10_000, 500, 256).group_size == 5
    assert recipe(10, 10, 256).group_size == 64


def test_a_worker_that_dies_loses_one_input_of_the_published_protocol() -> None:
    config = CertifyConfig(n=1500, n0=500, protocol="paper", methods=("cohen", "double"))
    assert Recipe(nn.Identity(), 0.5, 2, (2,), None, 256, config).group_size == 1
