"""A job: what it leaves to do, what it refuses, and that its origin is checked."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import doublebubble as db
from doublebubble.config import CertifyConfig
from doublebubble.data import load_dataset
from doublebubble.errors import DoubleBubbleWarning, RunError, SettingError
from doublebubble.facade.job import Indices, check_origin, chosen_indices, make_job
from doublebubble.runs.store import RunStore
from tests.engines.centroids import make
from tests.runs.samples import certificate

CONFIG = CertifyConfig(n=20, n0=10)


class Shifted(nn.Module):
    """A model whose tensors say nothing of a plain attribute."""

    def __init__(self, shift: float) -> None:
        super().__init__()
        self.inner = make()
        self.shift = shift

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.inner(x + self.shift)
        return logits


def test_a_job_leaves_out_what_is_done(tmp_path: Path) -> None:
    data = load_dataset("digits", "test")
    job = make_job(make(), data, 0.5, CONFIG, indices="0:7", batch_size=16)
    with RunStore(tmp_path / "run", job.spec) as store:
        store.append(certificate(3))
        groups = list(job.groups(store))
    given = [one for group in groups for one in group]
    assert [one.index for one in given] == [0, 1, 2, 4, 5, 6]
    assert torch.equal(given[3].x, data.inputs(slice(4, 5))[0])
    assert [one.label for one in given] == data.labels[[0, 1, 2, 4, 5, 6]].tolist()


def test_a_simultaneous_level_is_divided_by_the_split_whichever_inputs_are_asked_for() -> None:
    data = load_dataset("digits", "test")
    job = make_job(make(), data, 0.5, CONFIG, indices="0:7", batch_size=16, simultaneous=True)
    assert job.recipe.config.alpha == CONFIG.alpha / len(data)
    assert job.spec.simultaneous == len(data)
    paper = CertifyConfig(n=20, n0=10, protocol="paper")
    with pytest.raises(SettingError, match="simultaneous"):
        make_job(make(), data, 0.5, paper, simultaneous=True)


def test_the_origin_of_a_run_is_checked_by_data_tensors_and_logits() -> None:
    data = load_dataset("digits", "test")
    spec = make_job(Shifted(0.0).eval(), data, 0.5, CONFIG, batch_size=16).spec
    check_origin(spec, Shifted(0.0).eval(), data)
    with pytest.raises(RunError, match="other data: expected digest"):
        check_origin(spec, Shifted(0.0).eval(), load_dataset("digits", "train"))
    with pytest.raises(RunError, match="another model: expected digest"):
        check_origin(spec, make(), data)
    with pytest.raises(RunError, match="another model: this one gives other logits"):
        check_origin(spec, Shifted(0.1).eval(), data)


def test_a_selection_of_no_inputs_says_so() -> None:
    empty: tuple[Indices, ...] = ([], slice(7, 3), np.array([], dtype=int))
    for none in empty:
        with pytest.raises(SettingError, match=r"indices: expected at least one input, .* names none of 10"):
            chosen_indices(none, 10)


def test_a_warning_that_a_slice_was_cut_points_at_the_caller() -> None:
    with pytest.warns(DoubleBubbleWarning, match="it is cut there") as caught:
        run = db.certify(make(), "digits", 0.5, indices="357:400", n=50, n0=20, batch_size=16, quiet=True)
    assert [record.index for record in run.records] == [357, 358]
    assert {warning.filename for warning in caught} == {__file__}
