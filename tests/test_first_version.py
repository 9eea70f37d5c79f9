"""The first version's certificates of 40 digits: the same radii from the same numbers, or larger ones by Lemma I."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doublebubble import registry
from doublebubble.bounds import GradientTest, HalfMoments, VotesRule, goodman, votes_bound
from doublebubble.geometry import bound_at, cohen_radius
from doublebubble.method import PublishedBall, PublishedBalls, SmoothingMethod
from doublebubble.methods.dipole import PairsStatistic
from doublebubble.methods.first_order import FirstOrderStatistic, RivalTest
from doublebubble.types import Counts

FIXTURE = Path(__file__).parent / "fixtures" / "first_version_digits.json.gz"
RUNS: dict[str, Any] = {run["run"]: run for run in json.loads(gzip.decompress(FIXTURE.read_bytes()))}
SOUND = [name for name in RUNS if name.startswith("sound-")]
PAPER = [name for name in RUNS if name.startswith("paper-")]
CLASSES, SIGMA = 10, 0.5


def counts_of(ball: dict[str, Any]) -> Counts:
    counts = np.zeros(CLASSES, np.int64)
    for label, votes in ball["counts"].items():
        counts[int(label)] = votes
    return counts


def recomputed(ball: dict[str, Any]) -> float | None:
    """The radius of a ball by today's code, from the first version's integers and half moments.

    None where a gradient was tested for the group of the rest, which is no rival any more.
    """
    counts, alpha, evidence = counts_of(ball), ball["alpha"], ball["evidence"]
    top, statistic = evidence["top"], ball["statistic"]
    if statistic in ("binary", "multiclass"):
        rule = VotesRule(top, statistic == "binary")
        return max(0.0, min(bound.radius for bound in votes_bound(counts, rule, alpha, SIGMA)))
    if statistic == "dipole":
        return pairs_radius(ball)
    tests, moments = [], []
    binary = not evidence["named"] and len(evidence["alphas"]) == 2
    for number in (1, 2, 3):
        if f"test {number}" not in evidence:
            break
        n1, n2, offset, lam, tilt, dot, norm1, norm2, shift = evidence[f"test {number}"]
        if not binary and number > len(evidence["named"]):
            return None
        rival = None if binary else evidence["named"][number - 1]
        eta = np.array([shift / (1 + 1e-12)]) if shift else None
        share = evidence["alphas"][number - 1] / alpha
        tests.append(RivalTest(rival, GradientTest(int(n1), int(n2), offset, lam, tilt), share, eta))
        moments.append(HalfMoments(dot, norm1, norm2))
    found = FirstOrderStatistic(top, CLASSES, tuple(tests)).judged(counts, moments, alpha, SIGMA)
    return max(0.0, found.radius)


def pairs_radius(ball: dict[str, Any]) -> float:
    """Pairs were kept for the class and for the rivals watched by name, and as one group for all the rest."""
    evidence, m = ball["evidence"], ball["n"] // 2
    top, named = evidence["top"], evidence["named"]
    pairs = np.tile([0, 0, m], (CLASSES, 1))
    pairs[top] = evidence["pairs 1"]
    if named:
        rest = [k for k in range(CLASSES) if k != top and k not in named]
        for number, classes in enumerate([*([k] for k in named), *([rest] if rest else [])], start=2):
            pairs[classes] = evidence[f"pairs {number}"]  # the group's counts stand for each of its members
    binary = len(evidence["alphas"]) == 2
    return max(0.0, PairsStatistic(top, binary).judged(pairs, m, ball["alpha"], SIGMA).radius)


@pytest.mark.parametrize("name", SOUND)
def test_radii_from_the_same_draws_are_never_smaller(name: str) -> None:
    """Equal where one rule pays for all rivals as before; larger where rivals used to share alpha."""
    larger, compared = 0, 0
    for record in RUNS[name]["records"]:
        for ball in record["balls"]:
            new, old = recomputed(ball), ball["radius"]
            if new is None:
                continue
            compared += 1
            shared = len(ball["evidence"]["named"]) > 0 or ball["statistic"] == "multiclass"
            assert new == pytest.approx(old, rel=1e-9) if not shared else new >= old * (1 - 1e-12)
            larger += new > old * (1 + 1e-6)
    assert compared >= 20
    assert larger >= 5  # of 40 digits: rivals did share alpha


@pytest.mark.parametrize("name", SOUND)
def test_the_geometry_gives_the_same_radii(name: str) -> None:
    for record in RUNS[name]["records"]:
        centres = record["centres"]
        if not centres:
            continue
        x1 = image(record["index"])
        boxed = (0.0, 1.0) if record["method"] != "single" else (None, None)
        radii = [ball["radius"] for ball in record["balls"]]
        found = bound_at(record["multipliers"], x1, np.array(centres), radii, *boxed)
        assert np.floor(found.radius * 1e6) / 1e6 == pytest.approx(record["radius"], abs=1e-6)


def image(index: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    from doublebubble.data import load_dataset

    return load_dataset("digits", "test").inputs(slice(index, index + 1))[0].double().numpy().reshape(-1)


@pytest.mark.parametrize("name", PAPER)
def test_the_published_radii_are_the_same(name: str) -> None:
    compared = 0
    for record in RUNS[name]["records"]:
        if record["status"] != "certified":
            continue
        balls = []
        for ball in record["balls"]:
            counts, top = counts_of(ball), ball["evidence"]["top"]
            bounds = goodman(counts, record["alpha"])
            radius = cohen_radius(float(bounds.lower[top]), float(np.delete(bounds.upper, top).max()), SIGMA)
            assert max(0.0, radius) == ball["radius"]
            balls.append((ball["centre"], radius))
        x1 = image(record["index"])
        further = []
        for row, radius in balls[1:]:
            centre = np.array(record["centres"][row])
            further.append(PublishedBall(centre, radius, float(np.linalg.norm(centre - x1))))
        found = PublishedBalls(x1, (0.0, 1.0), max(0.0, balls[0][1]), *further)
        for method in registry.names("paper"):
            known = registry.card(method)
            assert isinstance(known, SmoothingMethod)
            assert known.published(found) == pytest.approx(record["radii"][method], abs=1e-6)
            compared += 1
    assert compared > 100
