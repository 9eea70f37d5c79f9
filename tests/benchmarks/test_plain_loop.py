"""The plain loop computes Cohen's radius, or the comparison with it would be with something else."""

import torch

from benchmarks import plain_loop as looping
from benchmarks.plain_loop import plain_loop
from doublebubble import SmoothedClassifier
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds import clopper_pearson
from doublebubble.geometry import cohen_radius


def test_its_radius_on_a_half_space_is_below_the_distance_and_near_what_the_counts_allow() -> None:
    oracle, x = HalfSpace([0.6, 0.8], -0.6), torch.tensor([0.8, 0.7])  # 0.44 from the plane
    with torch.random.fork_rng():
        torch.manual_seed(0)
        top, radius = plain_loop(oracle, x, 0.5, 100, 4000, 0.001)
    counts = SmoothedClassifier(oracle, 0.5, 2).counts(x, 4000, seed=0, index=0)
    ours = cohen_radius(clopper_pearson(int(counts.max()), 4000, 0.001), None, 0.5)
    assert top == int(counts.argmax())
    assert radius < 0.44
    assert abs(radius - ours) < 0.05, "two samples of 4000 draws"


def test_batches_make_up_n_and_no_majority_has_no_radius() -> None:
    oracle = HalfSpace([1.0, 0.0], -0.5)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        counts = looping._counts(oracle, torch.tensor([0.5, 0.5]), 0.5, 2 * looping.BATCH + 7)
        assert int(counts.sum()) == 2 * looping.BATCH + 7
        assert plain_loop(oracle, torch.tensor([0.5, 0.5]), 0.5, 100, 500, 0.001)[1] == 0
