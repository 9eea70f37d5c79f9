"""`dipole`: pairs of opposite draws at the input, (F6). Two counts for each event, no gradients."""

from dataclasses import dataclass, replace

import numpy as np

from doublebubble import registry
from doublebubble.bounds import AlphaBudget, RivalBound, others, pair_mass
from doublebubble.geometry import PairMass, dipole_radius
from doublebubble.method import SOUND, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.search.plan import Finding, Proposal, plan_at_input
from doublebubble.search.trials import Trials
from doublebubble.tally import Request, Tally
from doublebubble.types import Counts


@dataclass(frozen=True)
class PairsStatistic:
    """How often pairs vote for the class, and against each rival; `binary` takes all rivals at once."""

    top: int
    binary: bool
    name: str = "dipole"

    def asks(self, request: Request) -> Request:
        """The request for pairs."""
        return replace(request, antithetic=True)

    def finding(self, tally: Tally, alpha: float, sigma: float) -> Finding:
        """With probability at least 1 - alpha over the draws, g is `top` on the open ball of the finding's radius."""
        assert tally.pairs is not None
        return self.judged(tally.pairs, tally.n // 2, alpha, sigma)

    def judged(self, pairs: Counts, m: int, alpha: float, sigma: float) -> Finding:
        """The finding from the counts of m pairs, certified ones or those to be expected.

        `pairs[k]` says how many voted for class k twice, once and never.
        """
        evidence = {"pairs": {str(k): pairs[k].tolist() for k in np.flatnonzero(pairs[:, :2].sum(1))}}
        both, one, _ = (int(count) for count in pairs[self.top])
        parts = 2 if self.binary else 4
        alphas = AlphaBudget(alpha).take_equal([f"pairs {number + 1}" for number in range(parts)])
        mine = pair_mass(both, one, m, *alphas[:2])
        if self.binary:  # "not the rival" is the class itself
            return Finding((self._bound(mine, mine, alphas, sigma),), evidence)
        # The rival with the smallest masses decides: more pairs without it, or fewer torn ones, never lower (F6).
        against = {tuple(pairs[k].tolist()) for k in others(len(pairs), self.top)}
        found = [self._bound(mine, pair_mass(never, once, m, *alphas[2:]), alphas, sigma) for _, once, never in against]
        return Finding((min(found, key=lambda bound: bound.radius),), evidence)

    @staticmethod
    def _bound(a: PairMass, not_rival: PairMass, alphas: tuple[float, ...], sigma: float) -> RivalBound:
        numbers = {"both": a.both, "single": a.single, "never": not_rival.both, "torn": not_rival.single}
        return RivalBound("dipole", None, alphas, dipole_radius(a, [not_rival], sigma), numbers)


class Dipole(SmoothingMethod):
    """Pairs of opposite draws, where a few of them promise more than votes."""

    name = "dipole"
    uses = "pairs of opposite draws"
    protocols = SOUND
    label, colour, marker, rank = "dipole", "#56B4E9", "P", 40
    on_grid = True
    dashes = "dotted"

    def promising(self, trials: Trials) -> bool:
        """Pairs gain about a third of what gradients do, from half as many pairs as draws: less than a search costs."""
        return False

    def propose(self, trials: Trials) -> Proposal:
        """Pairs at the input, if they promise a gain; both radii are forecast from the same trial pairs."""
        n = trials.config.n // 2 * 2
        if n == 0:
            return fall_back(trials, self.name, "no pair in n")
        tally = trials.pairs(trials.x, "pairs")
        assert tally.pairs is not None
        ahead = trials.outlook(tally.counts)
        statistic = PairsStatistic(trials.top, ahead.rule.binary)
        # Shares are taken with one pair more than was made, and every count is rounded against the class.
        expected = np.floor(tally.pairs * (n // 2) / (tally.n // 2 + 1)).astype(np.int64)
        radius = statistic.judged(expected, n // 2, trials.config.alpha, trials.smoothed.sigma).radius
        gain = radius - max(0.0, ahead.radius)
        if not gain > 0:
            return fall_back(trials, self.name, "pairs of opposite draws promise no gain")
        reason = "pairs of opposite draws promise a gain"
        return Proposal(plan_at_input(self.name, trials.x, n, statistic, reason, part=self.name), gain)


registry.register(Dipole())
