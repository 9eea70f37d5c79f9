"""`cohen`: all draws at the input, votes alone, against every rival at the whole of alpha (Lemma I)."""

from dataclasses import dataclass

from doublebubble import registry
from doublebubble.bounds import VotesRule, votes_bound
from doublebubble.method import BOTH, PublishedBalls, SmoothingMethod
from doublebubble.search.plan import Finding, Proposal, plan_at_input
from doublebubble.search.trials import Trials
from doublebubble.tally import Request, Tally


@dataclass(frozen=True)
class VotesStatistic:
    """(S3), (S3b) or a joint functional, as the rule has it."""

    rule: VotesRule

    @property
    def name(self) -> str:
        """What records call it."""
        return "binary" if self.rule.binary else "multiclass"

    @property
    def top(self) -> int:
        """The class that the ball is for."""
        return self.rule.top

    def asks(self, request: Request) -> Request:
        """Votes are all it needs."""
        return request

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        """With probability at least 1 - alpha over the draws, g is `top` on the open ball of the finding's radius."""
        return Finding(tuple(votes_bound(tally.counts, self.rule, alpha, sigma)))


class Cohen(SmoothingMethod):
    """Cohen's radius, runner-up included."""

    name = "cohen"
    uses = "votes at the input, runner-up included"
    protocols = BOTH
    label, colour, marker, rank = "Cohen", "#0072B2", "o", 0
    on_grid = True
    dashes = "dashed"
    steered = True

    def propose(self, trials: Trials) -> Proposal:
        """All draws at the input."""
        return fall_back(trials, self.name, "")

    def published(self, balls: PublishedBalls) -> float:
        """Cohen's radius, with Goodman's intervals."""
        return balls.cohen


def fall_back(trials: Trials, method: str, why: str) -> Proposal:
    """All draws at the input, votes alone: what every method does where it expects no gain, and why."""
    reason = f"all draws at the input{': ' if why else ''}{why}"
    statistic = VotesStatistic(trials.at_input.rule)
    return Proposal(plan_at_input(method, trials.x, trials.config.n, statistic, reason), 0.0)


registry.register(Cohen())
