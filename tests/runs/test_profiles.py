"""The profile that a record rests on: that of the rival which decides, with the prices of the length reached."""

from typing import Any

import numpy as np
import pytest

from doublebubble.errors import RunError
from doublebubble.runs.profiles import deciding_profile
from doublebubble.runs.record import Record
from tests.runs.samples import certificate

EDGES = [-0.5, 0.5]
VECTORS = np.arange(12.0).reshape(3, 1, 2, 2)


def sector(low: float, inner: float, outer: float | None, price: float) -> dict[str, Any]:
    prices = [price, price + 1, price + 2]
    return {"low": low, "high": low + 1, "inner": inner, "outer": outer, "k_a": prices, "k_b": prices[::-1]}


def rule(rival: int, radius: float, name: str = "profile") -> dict[str, Any]:
    return {"rule": name, "rivals": [rival], "alphas": [0.001], "radius": radius, "numbers": {}}


def stored(number: int) -> dict[str, Any]:
    sectors = [
        sector(1.0, 0.0, None, 50),
        sector(0.0, 0.0, 0.7, 10),
        sector(0.0, 0.7, 0.9, 20),
        sector(0.0, 0.9, None, 30),
    ]
    return {"edges": EDGES, "table": [[number, 1, 2], [3, 4, 5], [6, 7, 8]], "sectors": sectors}


def record(**changes: Any) -> Record:
    """Two rivals with lines, the second of which decides, and all others held off by counts."""
    evidence: dict[str, Any] = {
        "top": 1,
        "rules": [rule(0, 0.5), rule(2, 0.4), rule(3, 0.1, "counts")],
        "profiles": {"0": stored(100), "2": stored(200)},
    }
    plain = Record.of(certificate(index=4, radius=0.4))
    ball = plain.balls[0].model_copy(update={"evidence": evidence | changes, "vectors": {"line/0": 0, "line/2": 2}})
    return plain.model_copy(update={"balls": (ball,)})


def test_the_rival_that_decides() -> None:
    found = deciding_profile(record(), VECTORS, 0.5)
    assert found is not None
    assert (found.top, found.rival, found.radius) == (1, 2, 0.4)
    assert found.direction.tolist() == VECTORS[2].ravel().tolist()
    assert found.table[0].tolist() == [200, 1, 2]
    assert found.edges.tolist() == EDGES
    assert found.k_a.tolist() == [20, 21, 22]  # at 0.8 sigmas along the line
    assert found.k_b.tolist() == [22, 21, 20]


def test_no_profile() -> None:
    assert deciding_profile(Record.of(certificate()), None, 0.5) is None
    assert deciding_profile(record(), None, 0.5) is None
    bare = record()
    without = bare.balls[0].model_copy(update={"vectors": {}})
    assert deciding_profile(bare.model_copy(update={"balls": (without,)}), VECTORS, 0.5) is None


def test_rivals_held_off_by_votes_alone_have_no_profile_to_show() -> None:
    assert deciding_profile(record(rules=[rule(0, 0.5, "controlled"), rule(2, 0.4, "counts")]), VECTORS, 0.5) is None
    bare = {"0": stored(100) | {"sectors": []}, "2": stored(200) | {"sectors": []}}
    assert deciding_profile(record(profiles=bare), VECTORS, 0.5) is None
    found = deciding_profile(record(profiles={"0": stored(100), "2": bare["2"]}), VECTORS, 0.5)
    assert found is not None
    assert found.rival == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"profiles": {}},
        {"profiles": 3},
        {"rules": []},
        {"profiles": {"2": stored(1) | {"edges": [0.0]}}},
        {"top": None},
    ],
)
def test_what_cannot_be_read_is_said(changes: dict[str, Any]) -> None:
    with pytest.raises(RunError, match="input 4: the profile that was stored cannot be read"):
        deciding_profile(record(**changes), VECTORS, 0.5)
    with pytest.raises(RunError, match="input 4"):
        deciding_profile(record(), VECTORS[:1], 0.5)
