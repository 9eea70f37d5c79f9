"""A method in one file: Cohen's binary radius at half of alpha. Nothing else in the package knows of it."""

from dataclasses import dataclass

from doublebubble import registry
from doublebubble.bounds import VotesRule, votes_bound
from doublebubble.method import SOUND, SmoothingMethod
from doublebubble.search.plan import Finding, Proposal, plan_at_input
from doublebubble.search.trials import Trials
from doublebubble.tally import Request, Tally


@dataclass(frozen=True)
class ToyStatistic:
    """Votes of all draws, at half of the alpha that is there."""

    rule: VotesRule
    name: str = "toy"

    @property
    def top(self) -> int:
        return self.rule.top

    def asks(self, request: Request) -> Request:
        return request

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        return Finding(tuple(votes_bound(tally.counts, self.rule, alpha / 2, sigma)))


class Toy(SmoothingMethod):
    name = "toy"
    uses = "half of alpha, for the fun of it"
    protocols = SOUND
    label, colour, marker, rank = "toy method", "#123456", "*", 99

    def propose(self, trials: Trials) -> Proposal:
        statistic = ToyStatistic(VotesRule(trials.top, binary=True))
        return Proposal(plan_at_input(self.name, trials.x, trials.config.n, statistic, "a toy", part=self.name), -1.0)


registry.register(Toy())
