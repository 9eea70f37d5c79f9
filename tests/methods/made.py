"""Plans as the search makes them, on a classifier where every method has something to say."""

from doublebubble import registry
from doublebubble.audit.cases import corridor_case
from doublebubble.audit.coverage import Case
from doublebubble.config import CertifyConfig
from doublebubble.method import SmoothingMethod
from doublebubble.search.plan import Proposal
from doublebubble.search.trials import Trials


def method(name: str) -> SmoothingMethod:
    found = registry.card(name)
    assert isinstance(found, SmoothingMethod)
    return found


def trials(case: Case, n: int = 20_000, index: int = 0, gradient: str = "full") -> Trials:
    smoothed = case.smoothed
    selected = smoothed.counts(case.x, 500, seed=0, index=index, stage="select")
    config = CertifyConfig(n=n, gradient=gradient)  # type: ignore[arg-type]
    return Trials(smoothed, config, case.x, index, selected)


def proposal(name: str, case: Case | None = None, n: int = 20_000, index: int = 0) -> Proposal:
    return method(name).propose(trials(corridor_case() if case is None else case, n, index))
