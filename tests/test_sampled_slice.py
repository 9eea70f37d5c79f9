"""The slice shows the smoothed classifier: shares and classes against closed forms, axes and balls where they are."""

import math

import numpy as np
import pytest
import torch
from scipy.special import ndtr as Phi

from doublebubble.audit.oracles import HalfSpace, LinearClassifier
from doublebubble.errors import InputError, RunError, SettingError
from doublebubble.runs.record import Record, centres_of
from doublebubble.sampled_slice import Slice, sample_slice
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.types import ABSTAIN, Floats
from tests.runs.samples import certificate

SIGMA = 0.5
NAMES = ("no", "yes")
W = np.array([2.0, -1.0, 0.5, 1.0])
X = torch.tensor([0.5, 0.5, 0.4, 0.6]).reshape(1, 2, 2)
PLAIN = Record.of(certificate(index=5, radius=0.4))


def smoothed(
    x: torch.Tensor = X, gap: float = 0.3, domain: tuple[float, float] | None = (0.0, 1.0)
) -> SmoothedClassifier:
    """A half-space whose face is `gap` away from x, class 1 at x."""
    length = float(np.linalg.norm(W))
    flat = x.double().numpy().ravel()
    return SmoothedClassifier(HalfSpace(W, gap * length - float(W @ flat)), SIGMA, 2, domain=domain, batch_size=128)


def points(found: Slice) -> Floats:
    """Every point of the grid, (side, side, d), from the definition."""
    plane, window = found.plane, found.window
    t = np.linspace(-window.reach, window.reach, found.resolution)
    u, v = plane.u.ravel(), plane.v.ravel()
    return np.asarray(plane.origin.ravel() + (window.a + t)[None, :, None] * u + (window.b + t)[:, None, None] * v)


def test_shares_and_classes_are_those_of_the_half_space() -> None:
    found = sample_slice(smoothed(), X, PLAIN, None, NAMES, seed=0, resolution=21, draws=400)
    flat = X.double().numpy().ravel()
    margin = 0.3 + (points(found) - flat) @ W / np.linalg.norm(W)
    truth = Phi(margin / SIGMA)
    z = (found.shares[:, :, 1] - truth) / np.sqrt(truth * (1 - truth) / 400).clip(1e-3)
    assert np.abs(z).max() < 5.5
    assert 0.8 < z.std() < 1.2
    assert abs((z[:, 1:] * z[:, :-1]).mean()) < 0.25  # 420 pairs: neighbours have draws of their own
    sure = np.abs(margin) > 0.3 * SIGMA
    np.testing.assert_array_equal(found.winners[sure], (margin > 0)[sure])
    np.testing.assert_allclose(found.shares.sum(2), 1.0)
    assert (found.winners == 0).any()


def test_the_first_axis_leads_to_the_rival() -> None:
    found = sample_slice(smoothed(domain=None), X, PLAIN, None, NAMES, seed=0, resolution=2, draws=1)
    assert found.meanings == ("towards class no", "in a random direction")
    assert found.domain is None
    assert -(found.plane.u.ravel() @ W) / np.linalg.norm(W) > 0.95


def test_two_rivals_span_the_plane() -> None:
    model = LinearClassifier(np.eye(3, 4), np.zeros(3))
    x = torch.tensor([0.9, 0.6, 0.5, 0.5])
    wide = SmoothedClassifier(model, SIGMA, 3, domain=None)
    found = sample_slice(wide, x, PLAIN, None, ("a", "b", "c"), seed=0, resolution=11, draws=64)
    assert found.meanings == ("towards class b", "towards class c")
    assert set(np.unique(found.winners)) == {0, 1, 2}
    assert abs(float(found.plane.u[3])) < 0.2  # the coordinate that no class looks at


def test_unanimous_votes_leave_random_directions_that_differ_by_input_and_seed() -> None:
    sure = smoothed(gap=20.0)
    found = [
        sample_slice(sure, X, PLAIN.model_copy(update={"index": index}), None, NAMES, seed=seed, resolution=2, draws=1)
        for index, seed in ((5, 0), (5, 0), (6, 0), (5, 1))
    ]
    assert found[0].meanings == ("in a random direction",) * 2
    np.testing.assert_array_equal(found[0].plane.u, found[1].plane.u)
    assert not np.allclose(found[0].plane.u, found[2].plane.u)
    assert not np.allclose(found[0].plane.u, found[3].plane.u)


@pytest.mark.parametrize("gap", [0.3, 20.0])
def test_ways_stay_in_the_domain_from_its_corner(gap: float) -> None:
    """Nearly every direction leads out of a corner at once; the axes must not."""
    x = torch.tensor([0.0, 1.0, 1.0, 0.0]).reshape(1, 2, 2)
    found = sample_slice(smoothed(x, gap), x, PLAIN, None, NAMES, seed=3, resolution=2, draws=1)
    for part in (0.1, 0.5, 1.0):
        point = found.plane.point(part * found.window.reach, 0.0)
        assert point.min() > -1e-9
        assert point.max() < 1 + 1e-9
    assert found.domain is not None
    assert found.domain[:, 0].min() > -1e-9
    assert found.domain[:, 0].max() >= found.window.reach * (1 - 1e-9)
    assert found.window.a > 0.1 * found.window.reach  # moved to where the domain is
    assert found.window.a - found.window.reach < -PLAIN.radius  # but the circle is all there


def test_the_same_arguments_give_the_same_picture() -> None:
    def shares(seed: int, batch_size: int) -> Floats:
        other = SmoothedClassifier(smoothed().model, SIGMA, 2, batch_size=batch_size)
        return sample_slice(other, X, PLAIN, None, NAMES, seed=seed, resolution=5, draws=50).shares

    first = shares(0, 32)
    np.testing.assert_array_equal(first, shares(0, 77))
    assert not np.array_equal(first, shares(1, 32))


@pytest.mark.parametrize("centres", [1, 2, 3])
def test_balls_are_cut_where_the_plane_meets_them(centres: int) -> None:
    made = certificate(index=5, radius=0.4, centres=centres)
    record, stored = Record.of(made, "digest"), centres_of(made)
    assert stored is not None
    found = sample_slice(smoothed(), X, record, stored, NAMES, seed=0, resolution=2, draws=1)
    assert list(found.disks) == ["x1", "x2", "x3", "x4"][: centres + 1]
    assert found.meanings[0] == "towards x2"
    assert found.meanings[1] == ("towards class no" if centres == 1 else "towards x3")
    x1 = found.disks["x1"]
    assert (x1.a, x1.b, x1.radius) == (0.0, 0.0, 0.4)
    for number in range(centres):
        disk = found.disks[f"x{number + 2}"]
        assert (disk.height < 1e-9) == (number < 2)
        for turn in np.linspace(0, 6, 5):
            edge = found.plane.point(disk.a + disk.radius * math.cos(turn), disk.b + disk.radius * math.sin(turn))
            assert np.linalg.norm(edge - stored[number]) == pytest.approx(0.7)
        assert max(abs(disk.a - found.window.a), abs(disk.b - found.window.b)) + disk.radius < found.window.reach


def test_a_plan_without_a_ball_at_the_input_and_one_without_a_radius() -> None:
    made = certificate(index=5, radius=0.0, prediction=ABSTAIN, centres=1)
    record = Record.of(made, "digest")
    record = record.model_copy(update={"balls": record.balls[1:]})
    found = sample_slice(smoothed(), X, record, centres_of(made), NAMES, seed=0, resolution=2, draws=1)
    assert found.disks["x1"].radius == 0.0
    assert found.disks["x2"].radius > 0.0
    bare = record.model_copy(update={"balls": ()})
    assert sample_slice(smoothed(), X, bare, None, NAMES, seed=0, resolution=2, draws=1).window.reach == SIGMA


def test_progress_counts_points() -> None:
    told: list[tuple[int, int]] = []
    sample_slice(smoothed(), X, PLAIN, None, NAMES, seed=0, resolution=3, draws=1, seen=lambda *now: told.append(now))
    assert told == [(3, 9), (6, 9), (9, 9)]


def test_what_cannot_be_drawn_is_said() -> None:
    made = certificate(index=5, centres=2)
    with pytest.raises(RunError, match="input 5: its plan used 2 further centres that were not stored"):
        sample_slice(smoothed(), X, Record.of(made), None, NAMES, seed=0)
    with pytest.raises(RunError, match=r"input 5: failed, there is nothing to draw \(it broke\)"):
        sample_slice(smoothed(), X, Record.failed(5, 1, "it broke"), None, NAMES, seed=0)
    for resolution in (1, 1001):
        with pytest.raises(SettingError, match=f"resolution: expected 2 to 1000 points per side, got {resolution}"):
            sample_slice(smoothed(), X, PLAIN, None, NAMES, seed=0, resolution=resolution)
    with pytest.raises(SettingError, match="n must be an integer >= 1, got 0"):
        sample_slice(smoothed(), X, PLAIN, None, NAMES, seed=0, resolution=2, draws=0)
    line = SmoothedClassifier(HalfSpace([1.0], 0.0), SIGMA, 2)
    with pytest.raises(InputError, match="at least 2 numbers, got 1"):
        sample_slice(line, torch.tensor([0.5]), PLAIN, None, NAMES, seed=0)


def test_the_first_axis_is_the_line_of_a_profile() -> None:
    """Even where it leaves the domain; the second is at right angles to it."""
    u0 = np.array([0.6, 0.0, 0.0, -0.8]).reshape(1, 1, 2, 2)
    stored = {"edges": [0.0], "table": [[5, 1, 0], [2, 2, 0]]}
    sector = {"low": 0.0, "high": 3.2, "inner": 0.0, "outer": None, "k_a": [1.0, 2.0], "k_b": [1.0, 2.0]}
    evidence = {
        "top": 1,
        "rules": [{"rule": "profile", "rivals": [0], "radius": 0.4}],
        "profiles": {"0": {**stored, "sectors": [sector]}},
    }
    ball = PLAIN.balls[0].model_copy(update={"evidence": evidence, "vectors": {"line/0": 0}})
    record = PLAIN.model_copy(update={"balls": (ball,)})
    found = sample_slice(smoothed(), X, record, u0, NAMES, seed=0, resolution=2, draws=1)
    np.testing.assert_allclose(found.plane.u.ravel(), u0.ravel(), atol=1e-12)
    assert abs(float(np.vdot(found.plane.u, found.plane.v))) < 1e-12
    assert found.meanings == ("along the line against class no", "towards class no")
    assert found.profile is not None
    assert found.profile.table.tolist() == stored["table"]
    assert sample_slice(smoothed(), X, PLAIN, None, NAMES, seed=0, resolution=2, draws=1).profile is None
