"""Which profile does a record's radius rest on? The line, the votes by bin and the prices, as they were stored."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from doublebubble.errors import RunError
from doublebubble.runs.record import BallRecord, Record
from doublebubble.types import Counts, Floats


@dataclass(frozen=True, eq=False)
class StoredProfile:
    """The line against the rival that decides, and what the draws at the input showed along it.

    `table` counts draws by bin and vote: the class, the rival, others. `k_a` and `k_b` are the prices of the sector
    that holds displacements along the line at the length reached. All were fixed before the draws but the table.
    """

    top: int
    rival: int
    direction: Floats
    edges: Floats
    table: Counts
    k_a: Floats
    k_b: Floats
    radius: float
    """Against this rival."""


def deciding_profile(record: Record, vectors: Floats | None, sigma: float) -> StoredProfile | None:
    """The profile of the rival that the record's radius ends at; None if its ball at the input rests on none.

    `vectors` are the rows of the run's file for this input; without them there is no line.
    """
    ball = next((ball for ball in record.balls if ball.centre is None and "profiles" in ball.evidence), None)
    if ball is None or vectors is None or not ball.vectors:
        return None
    try:
        return _read(ball, vectors, sigma)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RunError(f"input {record.index}: the profile that was stored cannot be read ({error})") from error


def _read(ball: BallRecord, vectors: Floats, sigma: float) -> StoredProfile | None:
    evidence: Any = ball.evidence
    if not evidence["rules"]:
        raise ValueError("no rule is stored")
    profiles = [rule for rule in evidence["rules"] if rule["rule"] == "profile"]
    rules = [rule for rule in profiles if evidence["profiles"][str(int(rule["rivals"][0]))]["sectors"]]
    if not rules:  # every rival is held off by votes, with a control variate or without
        return None
    rule = min(rules, key=lambda each: each["radius"])
    rival = int(rule["rivals"][0])
    stored = evidence["profiles"][str(rival)]
    edges = np.array(stored["edges"], np.float64)
    table = np.array(stored["table"], np.int64).reshape(len(edges) + 1, 3)
    sector = _along(stored["sectors"], rule["radius"] / sigma)
    k_a, k_b = (np.array(sector[name], np.float64).reshape(len(edges) + 1) for name in ("k_a", "k_b"))
    direction = vectors[ball.vectors[f"line/{rival}"]].reshape(-1)
    return StoredProfile(int(evidence["top"]), rival, direction, edges, table, k_a, k_b, float(rule["radius"]))


def _along(sectors: list[dict[str, Any]], length: float) -> dict[str, Any]:
    """The sector of the line itself at this length, or the last one before it."""
    first = min(sector["low"] for sector in sectors)
    near = [sector for sector in sectors if sector["low"] == first and sector["inner"] <= length]
    return max(near, key=lambda sector: float(sector["inner"]))
