"""What a ball says it spent on the rivals of each of its bounds."""

from doublebubble.certificate import Ball


def shares_of_alpha(ball: Ball) -> list[float]:
    """The parts of alpha that each bound's rivals pay, added up; by Lemma I the bounds do not share alpha."""
    return [sum(rule["alphas"]) for rule in ball.evidence["rules"]]
