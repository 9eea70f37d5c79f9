"""`profile`: how the votes change along one line, and how little off it: Theorem R, (R3), against the near rivals."""

from doublebubble import registry
from doublebubble.method import SOUND, SmoothingMethod
from doublebubble.methods.cohen import fall_back
from doublebubble.methods.first_order import outset
from doublebubble.methods.profile.design import LOOKS, designed, find_sights
from doublebubble.search.lead import vote_shares
from doublebubble.search.plan import Proposal, plan_at_input
from doublebubble.search.profile import usual_gain
from doublebubble.search.trials import Trials

_MOST_LINES = 4  # each costs a backward pass for each draw of a look
_LEAST_LOOK = 60  # draws of one look: fewer show no direction
_LEAST_SEEN = 20  # draws against the class, of all search draws to expect: fewer show nothing of a profile


class Profile(SmoothingMethod):
    """Votes at the input, and how they change along the lines where the leads fall fastest."""

    name = "profile"
    uses = "how votes change along one line, and off it"
    protocols = SOUND
    label, colour, marker, rank = "profile", "#882255", "p", 60
    on_grid = True

    def promising(self, trials: Trials) -> bool:
        """Whether the gain that networks usually show where votes are like this would pay for the search."""
        rivals = outset(trials, trials.selected).near()[:_MOST_LINES]
        if not rivals or _expected_against(trials) < _LEAST_SEEN or trials.per_look < _LEAST_LOOK:
            return False
        votes = vote_shares(trials.selected, trials.top, rivals[0])
        gain = usual_gain(votes, trials.x.numel(), trials.config.n, trials.config.alpha)
        usual = max(0.0, trials.at_input.radius) * gain
        rows = 2 * len(rivals) if trials.config.gradient == "full" else 0
        looks = LOOKS[trials.config.gradient] * (1 + rows) * trials.per_look
        return usual > trials.worth(looks + trials.per_verdict)

    def propose(self, trials: Trials) -> Proposal:
        """All draws at the input, with profiles against the rivals where trial draws expect them to pay."""
        stand = outset(trials, trials.selected)
        rivals = stand.near()[:_MOST_LINES]
        if trials.per_look < _LEAST_LOOK:
            return fall_back(trials, self.name, "looks of so few draws show nothing of a profile")
        if _expected_against(trials) < _LEAST_SEEN or not rivals or not stand.lead_tests(trials.per_verdict):
            return fall_back(trials, self.name, "too few draws against the class to show a profile")
        sights = find_sights(trials, rivals)
        if not sights:
            return fall_back(trials, self.name, "no draw shows a direction in which the lead falls")
        lines, rows = tuple(sight.line for sight in sights), tuple(sight.asked.weights for sight in sights)
        split = sights[0].asked.test.n1
        (tally,) = trials.votes([trials.x], "profile", tuple(dict.fromkeys(rows)), split, tuple(dict.fromkeys(lines)))
        counts = trials.selected + tally.counts
        statistic, radius = designed(trials, sights, tally, counts)
        plain = trials.outlook(counts).radius
        if statistic is None or not radius > plain:
            return fall_back(trials, self.name, "a profile is not expected to gain")
        reason = f"profiles along lines against {len(statistic.profiles)} of the rivals"
        plan = plan_at_input(self.name, trials.x, trials.config.n, statistic, reason)
        return Proposal(plan, radius - plain)


def _expected_against(trials: Trials) -> float:
    """How many of all draws before the certify draws are expected against the class, by those seen."""
    seen, against = int(trials.selected.sum()), int(trials.selected.sum() - trials.selected[trials.top])
    return against * (1 + trials.per_verdict / seen)


registry.register(Profile())
