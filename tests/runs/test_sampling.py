"""What sampling cost and why it stopped, against the records themselves."""

from statistics import mean, median
from typing import Any

import numpy as np
import torch

import doublebubble as db
from doublebubble.audit.oracles import HalfSpace
from doublebubble.bounds.ladder import Stop
from doublebubble.runs.sampling import sampling

MODEL = HalfSpace(np.array([1.0, 0.0]), 0.0)
DATA = torch.tensor([[2.0, 0.0], [0.2, 0.0], [0.37, 0.0], [0.0, 0.0], [-3.0, 0.0]])


def run(**settings: Any) -> db.Run:
    return db.certify(MODEL, DATA, 0.5, num_classes=2, domain=None, quiet=True, **settings)


def test_draws_and_reasons_are_those_of_the_records() -> None:
    made = run(radii=(0.25, 0.5), max_draws=150)
    found = sampling(made)
    assert found is not None
    draws = [certificate.balls[0].n for certificate in made.certificates]
    assert (found.inputs, found.total, found.most) == (5, sum(draws), max(draws))
    assert (found.mean, found.median) == (mean(draws), median(draws))
    words = [certificate.balls[0].evidence["stop"] for certificate in made.certificates]
    assert {stop.name.lower(): number for stop, number in found.stops.items()} == {w: words.count(w) for w in words}
    assert found.decided == sum(word != "cap" for word in words)
    assert found.stops[Stop.CERTIFIED] == 2
    assert found.stops[Stop.CAP] >= 1


def test_a_fixed_number_of_draws_has_nothing_to_say() -> None:
    assert sampling(run(n=100, n0=10)) is None
