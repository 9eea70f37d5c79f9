import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import ray
import torch
from ray.cluster_utils import Cluster
from torch import nn

from doublebubble import Certifier, CertifyConfig
from doublebubble.certificate import Certificate
from doublebubble.config import PaperSearch
from doublebubble.data import load_dataset
from doublebubble.engines.base import Engine, Failure, Outcome, Recipe, execute, in_groups
from doublebubble.engines.local import LocalEngine
from doublebubble.engines.ray import RayEngine, _Worker
from doublebubble.errors import InputError, RunError, SettingError
from doublebubble.facade.job import Job, make_job
from doublebubble.facade.loop import Place
from doublebubble.models.black_box import black_box
from doublebubble.models.onnx_files import load_onnx
from doublebubble.runs.digests import device_kind, software_versions
from doublebubble.runs.store import RunStore, read_run
from doublebubble.smoothing import Input
from tests.engines.centroids import make
from tests.models.onnx_samples import WEIGHT, save_linear
from tests.runs.samples import certificate

CPU = device_kind(torch.device("cpu"))

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.xdist_group("ray"),
]


@pytest.fixture(scope="module")
def standing() -> Iterator[str]:
    """The address of a cluster with two CPUs: starting one takes longer than most of what is tested on it."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "num_gpus": 0})
    yield cluster.address
    end: Callable[[], None] = cluster.shutdown
    end()


def outcomes_by_index(path: Path, job: Job, engine: Engine) -> dict[int, dict[str, object]]:
    with RunStore(path, job.spec) as store:
        execute(engine, job.groups(store), store, lambda record: None)
    return {record.index: record.without_time() for record in read_run(path).records}


def test_a_cluster_that_is_there_is_joined_and_left_standing_and_its_gpus_are_shared(tmp_path: Path) -> None:
    config = CertifyConfig(n=300, n0=50)
    job = make_job(make(), load_dataset("digits", "test"), 0.5, config, indices="0:30:5", batch_size=16)
    local = outcomes_by_index(tmp_path / "local", job, LocalEngine(job.recipe.build()))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 0})
    try:
        cluster.add_node(num_cpus=1, num_gpus=1)  # a GPU by name only: what is tested is how it is shared out

        def join(workers: int, share: float) -> RayEngine:
            return RayEngine(job.recipe, job.spec.device, workers, cluster.address, share)

        assert outcomes_by_index(tmp_path / "two nodes", job, join(2, 0.0)) == local
        assert not ray.is_initialized()
        assert outcomes_by_index(tmp_path / "a quarter of a GPU", job, join(1, 0.25)) == local
        with pytest.raises(RunError, match=r"ray: 2 workers need 1\.5 GPU, the cluster has 1"):
            list(join(2, 0.75).outcomes(iter([])))
        with pytest.raises(RunError, match="ray: 3 workers need 3 CPU, the cluster has 2"):
            list(join(3, 0.0).outcomes(iter([])))
    finally:
        end: Callable[[], None] = cluster.shutdown
        end()


@pytest.mark.parametrize(
    ("config", "noise", "own"),
    [
        (CertifyConfig(n=300, n0=50), {}, True),
        (CertifyConfig(n=300, n0=50), {"noise": "lattice", "grid": 16}, False),
        (CertifyConfig(radii=(0.25, 0.5), max_draws=2000), {"noise": "lattice", "grid": 16}, False),
        (CertifyConfig(radii=(0.25, 0.5), max_draws=4000), {}, False),
        (CertifyConfig(n=100, protocol="paper", paper=PaperSearch(iterations=3, line_iterations=2)), {}, False),
    ],
    ids=["fixed", "lattice", "radii on the lattice", "hard", "published"],
)
def test_two_workers_write_the_records_of_one_process(
    tmp_path: Path, config: CertifyConfig, noise: dict[str, Any], own: bool, request: pytest.FixtureRequest
) -> None:
    job = make_job(make(), load_dataset("digits", "test"), 0.5, config, indices="0:90:5", batch_size=16, **noise)
    local = outcomes_by_index(tmp_path / "local", job, Place().build(job))
    address = None if own else request.getfixturevalue("standing")  # first those that end a cluster of their own
    cluster = outcomes_by_index(tmp_path / "ray", job, RayEngine(job.recipe, job.spec.device, 2, address))
    assert len(local) == 18
    assert ("control variate since" in str(local)) == (config.max_draws == 4000), "hard inputs go on with one"
    assert cluster == local
    assert not ray.is_initialized()


class Deadly:
    """Ends its process on input 5 always, on input 11 the first time; refuses input 8."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        indices = [given.index for given in inputs]
        if 5 in indices:
            os._exit(1)
        if 11 in indices and not self._marker.exists():
            self._marker.touch()
            os._exit(1)
        if 8 in indices:
            raise InputError("input 8: expected finite values")
        return [certificate(index) for index in indices]


@dataclass(frozen=True)
class DeadlyRecipe(Recipe):
    marker: Path = Path()

    def build(self) -> Certifier:
        return Deadly(self.marker)  # type: ignore[return-value]


def recipe(marker: Path) -> DeadlyRecipe:
    return DeadlyRecipe(nn.Identity(), 0.5, 2, (1,), None, 4, CertifyConfig(), marker=marker)


@pytest.mark.not_reverified("its certificates are invented")
def test_lost_workers_are_replaced_and_only_what_kills_them_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standing: str
) -> None:
    monkeypatch.setattr("doublebubble.engines.ray.ATTEMPTS", 2)  # input 11 may die once while alone
    groups = in_groups((Input(index, torch.zeros(1), 1) for index in range(16)), 3)
    found: dict[int, Outcome] = {}
    for outcome in RayEngine(recipe(tmp_path / "marker"), CPU, 2, standing).outcomes(groups):
        assert outcome.index not in found
        found[outcome.index] = outcome
    assert sorted(found) == list(range(16))
    failures = {index: outcome.error for index, outcome in found.items() if isinstance(outcome, Failure)}
    assert failures == {5: "its worker died while certifying it alone, 2 times", 8: "input 8: expected finite values"}


def test_a_worker_of_another_kind_is_refused(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    try:
        with pytest.raises(RunError, match=r"has device 'cpu .*', the run's is 'cpu PDP-11'"):
            _Worker().build(recipe(tmp_path), "cpu PDP-11", software_versions())
        with pytest.raises(RunError, match=r"has torch '.*', the run's is '0\.4'"):
            _Worker().build(recipe(tmp_path), CPU, {**software_versions(), "torch": "0.4"})
    finally:
        torch.set_num_threads(threads)


def test_what_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="workers: expected at least 1, got 0"):
        RayEngine(recipe(tmp_path), CPU, workers=0)
    with pytest.raises(RunError, match="ray: no cluster at 127"):
        list(RayEngine(recipe(tmp_path), CPU, workers=1, address="127.0.0.1:9").outcomes(iter([])))


class Occupant:
    """Takes a CPU of the cluster and does nothing."""


@pytest.mark.not_reverified("its certificate is invented")
def test_workers_that_must_wait_for_others_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standing: str
) -> None:
    said: list[str] = []

    def make_room(message: str, *rest: object, **more: object) -> None:
        said.append(message)
        ray.kill(ray.get_actor("occupant", namespace="others"))

    try:
        ray.init(address=standing, logging_level=logging.ERROR, log_to_driver=False)
        options = {"name": "occupant", "namespace": "others", "lifetime": "detached", "num_cpus": 1}
        holder: Any = ray.remote(Occupant).options(**options).remote()
        ray.get(holder.__ray_ready__.remote())
        ray.shutdown()
        monkeypatch.setattr("doublebubble.engines.ray.PATIENCE", 1.0)
        monkeypatch.setattr("doublebubble.engines.ray.warnings.warn", make_room)
        engine = RayEngine(recipe(tmp_path / "marker"), CPU, 2, standing)
        found = list(engine.outcomes(iter([[Input(0, torch.zeros(1), 1)]])))
    finally:
        ray.shutdown()
    assert [outcome.index for outcome in found] == [0]
    assert len(said) == 1
    assert "they need 2 CPU, and of the cluster's 2 only 1 were free. The run waits until others release" in said[0]


def test_black_boxes_and_onnx_files_travel_and_what_cannot_says_so(tmp_path: Path, standing: str) -> None:
    save_linear(tmp_path / "m.onnx", batch=16)
    data, config = load_dataset("digits", "test"), CertifyConfig(n=200, n0=50, gradient="approximate")
    weight = WEIGHT.copy()
    box = black_box(lambda x: x.reshape(len(x), -1) @ weight, 10)
    for number, model in enumerate((load_onnx(tmp_path / "m.onnx", 10), box)):
        job = make_job(model, data, 0.5, config, indices="0:20:5", batch_size=16)
        local = outcomes_by_index(tmp_path / f"local {number}", job, Place().build(job))
        engine = RayEngine(job.recipe, job.spec.device, 1, standing)
        cluster = outcomes_by_index(tmp_path / f"ray {number}", job, engine)
        assert cluster == local
        assert len(local) == 4
    lock = threading.Lock()
    locked = make_job(black_box(lambda x: (lock, x.reshape(len(x), -1) @ weight)[1], 10), data, 0.5, config)
    with pytest.raises(RunError, match=r"ray: the model cannot be sent to other processes .*engine local needs no"):
        list(RayEngine(locked.recipe, locked.spec.device, 1, standing).outcomes(iter([])))
