"""Every method against every oracle: how often it claims too much, beside how often it may.

A method is valid at a point if its misses are no more than an exact binomial test allows. Conservative bounds hide
errors, so a second set of points is chosen such that bounds are nearly tight there.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from scipy import stats

from doublebubble import registry
from doublebubble.audit.cases import boxed_cases, corridor_case, free_cases, tied_cases, tight_cases
from doublebubble.audit.coverage import Case, count_misses, repetitions, repetitions_of_a_plan
from doublebubble.certificate import Certificate
from doublebubble.config import CertifyConfig, SoundSearch
from doublebubble.types import GradientKind, Method, Protocol

ALPHAS = (0.5, 0.2, 0.1, 0.05, 0.01)
LEVEL = 1e-3
"""The probability that anything at all is called invalid by bad luck."""
_CHUNK = 100  # repetitions at once, and by one plan where plans are shared: progress is told between them
_VOTES = ("binary", "multiclass")
_TIMES_N = {"double": 5}  # two balls share draws and alpha: with fewer than 2000 votes at the input certify more
Watcher = Callable[[int], None]


@dataclass(frozen=True)
class Question:
    """So many certificates of one point, by the settings given; with `shared` a plan serves a hundred of them.

    The guarantee holds for any plan that was fixed before the certify draws. So misses are no more frequent than alpha
    for each plan, and the exact test of all of them together stands.
    """

    case: Case
    config: CertifyConfig
    times: int
    shared: bool = False


@dataclass(frozen=True)
class Coverage:
    """How often one method claimed too much at one point: `misses` of so many times.

    `own` counts the times when its plan was more than votes at the input.
    """

    case: str
    protocol: Protocol
    method: Method
    alpha: float
    times: int
    own: int
    misses: int

    @property
    def share(self) -> float:
        """The part of the repetitions that were misses; at most alpha in the long run, if the method is valid."""
        return self.misses / self.times

    @property
    def p_value(self) -> float:
        """How likely so many misses are, or more, if each happens with probability alpha."""
        return float(stats.binom.sf(self.misses - 1, self.times, self.alpha))


def every_question(
    methods: Sequence[Method], alphas: Sequence[float], times: int, n: int, protocol: Protocol = "sound"
) -> list[Question]:
    """All methods at all points, in free space, at faces and corners, and under `sound` where two classes tie."""
    cases = [*free_cases(), *boxed_cases(), corridor_case()]
    cases += tied_cases() if protocol == "sound" else []
    known = tuple(method for method in methods if method in registry.names(protocol))
    if not known:
        return []
    gradient: GradientKind = "full" if protocol == "sound" else "approximate"
    plain = CertifyConfig(protocol=protocol, n=n, n0=max(1, n // 5), methods=known, gradient=gradient)
    return [Question(case, plain.model_copy(update={"alpha": alpha}), times) for alpha in alphas for case in cases]


def tight_questions(methods: Sequence[Method], alphas: Sequence[float], times: int, n: int) -> list[Question]:
    """Each method at the point where its bound is nearly tight; a long search, so that plans come near the best.

    Searches take most of the time, so plans are shared. A method that would fall back at n gets more draws.
    """
    found = []
    for alpha in alphas:
        for method, case in tight_cases().items():
            if method in methods:
                search = SoundSearch(draws=1000)
                draws = n * _TIMES_N.get(method, 1)
                config = CertifyConfig(n=draws, n0=max(1, draws // 5), alpha=alpha, methods=(method,), sound=search)
                found.append(Question(case, config, times, shared=True))
    return found


def answers(questions: Sequence[Question], workers: int = 1, watch: Watcher | None = None) -> list[Coverage]:
    """What becomes of the questions, each method by itself; `watch` hears of every so many repetitions done.

    Numbers do not depend on the workers: the randomness of a repetition is named by its number.
    """
    parts = [
        (number, range(first, min(first + _CHUNK, question.times)))
        for number, question in enumerate(questions)
        for first in range(0, question.times, _CHUNK)
    ]
    found: list[tuple[int, Coverage]] = []
    for number, indices, misses in _answered(questions, parts, workers):
        found += [(number, one) for one in misses]
        if watch is not None:
            watch(len(indices))
    ordered = sorted(found, key=lambda pair: (pair[0], pair[1].method))
    return [_sum([one for _, one in group]) for _, group in groupby(ordered, lambda pair: (pair[0], pair[1].method))]


def invalid(found: Sequence[Coverage], level: float = LEVEL) -> list[Coverage]:
    """Those of protocol `sound` with more misses than the exact test allows, all of them together at `level`."""
    claimed = [one for one in found if one.protocol == "sound"]
    return [one for one in claimed if one.p_value < level / len(claimed)]


_Answer = tuple[int, range, list[Coverage]]


def _answered(questions: Sequence[Question], parts: Sequence[tuple[int, range]], workers: int) -> Iterator[_Answer]:
    if workers == 1:
        yield from ((number, indices, answer(questions[number], indices)) for number, indices in parts)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        asked = {pool.submit(answer, questions[number], indices): (number, indices) for number, indices in parts}
        for done in as_completed(asked):
            yield (*asked[done], done.result())


def answer(question: Question, indices: range) -> list[Coverage]:
    """The repetitions with these numbers."""
    config = question.config
    repeated = repetitions_of_a_plan if question.shared else repetitions
    certificates = list(repeated(question.case, config, indices))
    misses = count_misses(question.case, certificates)
    return [
        Coverage(
            case=question.case.name,
            protocol=config.protocol,
            method=method,
            alpha=config.alpha,
            times=len(certificates),
            own=sum(_own(certificate, method) for certificate in certificates),
            misses=missed,
        )
        for method, missed in misses.items()
    ]


def _own(certificate: Certificate, method: Method) -> bool:
    """Whether the method's plan was its own. Under `paper` its radius tells: it exceeds that of votes alone."""
    if method == "cohen":
        return True
    if certificate.protocol == "paper":
        return certificate.radii[method] > certificate.radii["cohen"]
    balls = certificate.claims[method].balls
    return any(ball.centre is not None or ball.statistic not in _VOTES for ball in balls)


def _sum(parts: Sequence[Coverage]) -> Coverage:
    return replace(
        parts[0],
        times=sum(part.times for part in parts),
        own=sum(part.own for part in parts),
        misses=sum(part.misses for part in parts),
    )
