"""A case in which a profile gains, and the plan that the method makes for it."""

import torch

from doublebubble.audit.cases import orthonormal
from doublebubble.audit.coverage import Case
from doublebubble.audit.oracles import LinearClassifier
from doublebubble.methods.profile.statistic import ProfileStatistic
from doublebubble.search.plan import BallPlan
from tests.methods.made import method, trials

D = 20
GRADUAL = Case("linear", LinearClassifier(orthonormal(5, D), [0.5, 0.1, 0.1, 0.1, 0.1]), torch.zeros(D), 0.5)
"""Four rivals share the rest evenly, so that along the line towards one of them the votes change gradually."""


def planned() -> tuple[ProfileStatistic, BallPlan]:
    proposal = method("profile").propose(trials(GRADUAL, 20_000, 0))
    (ball,) = proposal.plan.balls
    assert isinstance(ball.statistic, ProfileStatistic)
    return ball.statistic, ball
