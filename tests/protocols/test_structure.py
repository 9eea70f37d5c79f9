"""What statistics cannot see: which draws serve what, when the plan is fixed, and how alpha is divided."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
import torch

import doublebubble as db
from doublebubble import registry
from doublebubble.audit.cases import boxed_cases, corridor_case, free_cases, orthonormal
from doublebubble.audit.coverage import Case
from doublebubble.audit.oracles import LinearClassifier
from doublebubble.protocols import sound
from doublebubble.search import profile as design
from doublebubble.search.plan import MethodPlan, Proposals
from doublebubble.search.trials import Trials
from doublebubble.smoothing import Input, SmoothedClassifier, SoftRequest, SoftScores
from doublebubble.streams import Stream
from doublebubble.tally import Request, Tally

ALPHA, N = 0.001, 4000
INDEX = 15  # where every kind of plan shows
CASES = [
    case
    for case in [*free_cases(), *boxed_cases(), corridor_case()]
    if case.name in ("half-space", "linear, four classes", "slab", "half-space at a corner", "corridor")
]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@dataclass
class Watch:
    """What one certification asked of the model, in order, and the plans that it made."""

    asked: list[tuple[Stream, Request | None]] = field(default_factory=list)
    proposals: list[Proposals] = field(default_factory=list)
    certify_seed: int | None = None


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    seen = Watch()
    tallies, soft_scores, propose = SmoothedClassifier.tallies, SmoothedClassifier.soft_scores_of, sound.propose

    def watched_tallies(self: SmoothedClassifier, requests: Sequence[Request]) -> list[Tally]:
        seen.asked += [(request.stream, request) for request in requests]
        if seen.certify_seed is not None:
            requests = [
                replace(request, stream=replace(request.stream, seed=seen.certify_seed))
                if request.stream.stage == "certify"
                else request
                for request in requests
            ]
        return tallies(self, requests)

    def watched_soft_scores(self: SmoothedClassifier, requests: Sequence[SoftRequest]) -> list[SoftScores]:
        seen.asked += [(request.stream, None) for request in requests]
        return soft_scores(self, requests)

    def watched_propose(trials: Trials) -> Proposals:
        seen.proposals.append(propose(trials))
        return seen.proposals[-1]

    monkeypatch.setattr(SmoothedClassifier, "tallies", watched_tallies)
    monkeypatch.setattr(SmoothedClassifier, "soft_scores_of", watched_soft_scores)
    monkeypatch.setattr(sound, "propose", watched_propose)
    return seen


def certified(case: Case, methods: tuple[str, ...] = (), seed: int = 0) -> db.Certificate:
    names = methods or registry.names("sound")
    config = db.CertifyConfig(n=N, n0=200, alpha=ALPHA, methods=names, seed=seed)
    return db.Certifier(case.smoothed, config).certify(case.x, index=INDEX)


@cases
def test_select_search_and_certify_share_no_stream(watch: Watch, case: Case) -> None:
    certified(case)
    stages = [stream.stage for stream, _ in watch.asked]
    assert set(stages) <= {"select", "search", "certify"}
    assert stages[0] == "select"
    assert stages.count("select") == 1
    last = stages.index("certify")
    assert set(stages[last:]) == {"certify"}, "the certify draws are the last to be made"
    assert {(stream.seed, stream.index) for stream, _ in watch.asked} == {(0, INDEX)}
    earlier = {stream.digest() for stream, _ in watch.asked[:last]}
    certify = [stream.digest() for stream, _ in watch.asked[last:]]
    assert len(set(certify)) == len(certify)
    assert earlier.isdisjoint(certify)


@cases
def test_each_centre_has_draws_of_its_own(watch: Watch, case: Case) -> None:
    certified(case)
    (found,) = watch.proposals
    asked = {stream.part: request for stream, request in watch.asked if stream.stage == "certify"}
    places: dict[str, bytes] = {}
    for plan in found.plans.values():
        assert len({ball.part for ball in plan.balls}) == len(plan.balls)
        assert sum(ball.n for ball in plan.balls) <= N
        for ball in plan.balls:
            request = asked[ball.part]
            assert request is not None
            assert request.n == ball.n
            assert request.x.equal(ball.centre)
            assert ball.at_input == ball.centre.equal(case.x)
            assert places.setdefault(ball.part, ball.centre.numpy().tobytes()) == ball.centre.numpy().tobytes()
    assert set(asked) == set(places)
    # Pairs and single draws at the input are different draws, so they have different names.
    assert all(request is None or request.antithetic == (part == "dipole") for part, request in asked.items())


@cases
@pytest.mark.parametrize("method", ["auto", "all", *registry.names("sound")])
def test_the_plan_is_fixed_before_the_certify_draws(watch: Watch, case: Case, method: str) -> None:
    methods = registry.names("sound") if method == "all" else (method,)
    made = [certified(case, methods)]
    for seed in (11, 12):
        watch.certify_seed = seed
        made.append(certified(case, methods))
    assert [one.method for one in made] == [found.chosen for found in watch.proposals]
    first, *others = made
    for other in others:
        assert (other.method, other.reason) == (first.method, first.reason)
        assert set(other.radii) == set(first.radii)
        assert len(other.balls) == len(first.balls)
        assert np.array_equal(other.counts["select"], first.counts["select"])
        for mine, its in zip(first.balls, other.balls, strict=True):
            assert (mine.statistic, mine.n, mine.alpha) == (its.statistic, its.n, its.alpha)
            assert (mine.centre is None) == (its.centre is None)
            assert mine.centre is None or np.array_equal(mine.centre, its.centre if its.centre is not None else 0)
            assert {k: v.tobytes() for k, v in mine.vectors.items()} == {k: v.tobytes() for k, v in its.vectors.items()}
            assert frozen(mine) == frozen(its)
    assert any(not np.array_equal(first.balls[0].counts, other.balls[0].counts) for other in others)


def frozen(ball: db.Ball) -> list[object]:
    """Of a ball's evidence what may not depend on its draws."""
    before = ("k_a", "k_b", "stake", "n1", "n2", "offset", "lam", "tilt", "shift")
    rules = ball.evidence["rules"]
    return [
        ball.evidence["top"],
        *((r["rule"], r["rivals"], r["alphas"], [r["numbers"].get(name) for name in before]) for r in rules),
    ]


@cases
def test_how_alpha_is_divided(case: Case) -> None:
    """Balls share alpha; the events of one rule share the ball's; rules do not (Lemma I)."""
    for method in registry.names("sound"):
        made = certified(case, (method,))
        assert sum(Fraction(ball.alpha) for ball in made.balls) <= Fraction(ALPHA)
        for ball in made.balls:
            assert ball.alpha == pytest.approx(ALPHA / len(made.balls), rel=1e-12)
            for rule in ball.evidence["rules"]:
                assert sum(map(Fraction, rule["alphas"])) <= Fraction(ball.alpha)
                shares = [alpha / ball.alpha for alpha in rule["alphas"]]
                assert shares == pytest.approx(expected_shares(rule, shares[0]), rel=1e-9)


def expected_shares(rule: dict[str, object], first: float) -> list[float]:
    """Equal parts; of a gradient its own, fixed beforehand, and the rest equally."""
    if rule["rule"] == "first_order":
        assert any(first == pytest.approx(share) for share in (0.1, 0.25, 0.5))
        return [first, 1 - first] if rule["rivals"] is None else [first, (1 - first) / 2, (1 - first) / 2]
    alphas = rule["alphas"]
    assert isinstance(alphas, list)
    assert len(alphas) in {"binary": (1,), "counts": (2,), "joint": (1,), "dipole": (2, 4)}[str(rule["rule"])]
    return [1 / len(alphas)] * len(alphas)


def test_a_profile_is_fixed_before_the_certify_draws_and_divides_alpha(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line, bins, prices, stakes and parts of alpha; of the sectors those are stored that the radius reached."""
    for name, fewer in (("BINS", 12), ("_RINGS", 2), ("_NEAR_ENDS", (0.0, 0.3, 0.55, 0.8, 1.1, 1.7))):
        monkeypatch.setattr(design, name, fewer)  # for the sake of time
    gradual = LinearClassifier(orthonormal(5, 20), [0.5, 0.1, 0.1, 0.1, 0.1])
    case = Case("linear, five classes", gradual, torch.zeros(20), 0.5)
    kept: list[db.Ball] = []
    config = db.CertifyConfig(n=20_000, n0=200, alpha=ALPHA, methods=("profile",))
    for watch.certify_seed in (None, 11):
        (ball,) = db.Certifier(case.smoothed, config).certify(case.x, index=INDEX).balls
        assert "profile" in [rule["rule"] for rule in ball.evidence["rules"]]
        kept.append(ball)
        for rule in ball.evidence["rules"]:
            assert sum(map(Fraction, rule["alphas"])) <= Fraction(ball.alpha) <= Fraction(ALPHA)
            if rule["rule"] == "profile":
                slope, bins, functional, *votes = rule["alphas"]
                assert bins < 1e-3 * ALPHA
                assert votes == pytest.approx([(ball.alpha - slope - bins - functional) / 2] * 2, rel=1e-9)
    first, other = kept
    assert not np.array_equal(first.counts, other.counts)
    assert frozen(first) == frozen(other)
    assert {name: line.tobytes() for name, line in first.vectors.items()} == {
        name: line.tobytes() for name, line in other.vectors.items()
    }
    for rival, mine in first.evidence["profiles"].items():
        its = other.evidence["profiles"][rival]
        assert mine["edges"] == its["edges"]
        places = [{(s["low"], s["high"], s["inner"]): s for s in stored["sectors"]} for stored in (mine, its)]
        shared = places[0].keys() & places[1].keys()
        assert len(shared) >= 3
        assert all(places[0][place] == places[1][place] for place in shared)


def test_the_cases_show_every_kind_of_plan() -> None:
    """Otherwise the tests here would hold for want of anything to look at."""
    seen = {
        (made.method, len(made.balls), ball.statistic, bool(ball.vectors))
        for case in CASES
        for made in (certified(case, (method,)) for method in registry.names("sound"))
        for ball in made.balls
        if not made.reason.startswith("all draws at the input") or made.method == "cohen"
    }
    assert seen >= {
        ("cohen", 1, "binary", False),
        ("cohen", 1, "multiclass", False),
        ("boundary", 1, "binary", False),
        ("double", 2, "first_order", False),
        ("first_order", 1, "first_order", False),
        ("first_order", 1, "first_order", True),
        ("dipole", 1, "dipole", False),
    }


@cases
def test_every_ball_is_for_the_class_that_the_select_draws_chose(watch: Watch, case: Case) -> None:
    made = certified(case)
    top = int(made.counts["select"].argmax())
    (found,) = watch.proposals
    assert {ball.statistic.top for plan in found.plans.values() for ball in plan.balls} == {top}
    assert {ball.evidence["top"] for ball in made.balls} == {top}


def test_a_plan_for_two_classes_is_refused(watch: Watch) -> None:
    case = next(case for case in CASES if case.name == "slab")
    certified(case, ("double",))
    plan: MethodPlan = watch.proposals[0].plans["double"]
    assert len(plan.balls) == 2
    other = replace(plan.balls[1].statistic, top=1 - plan.balls[1].statistic.top)  # type: ignore[type-var]
    mixed = replace(plan, balls=(plan.balls[0], replace(plan.balls[1], statistic=other)))
    config = db.CertifyConfig(n=N, n0=200, alpha=ALPHA)
    with pytest.raises(AssertionError, match="one class"):
        sound.claim(mixed, Input(1, case.x, None), {}, case.smoothed, config)
