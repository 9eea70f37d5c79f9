"""What a ball says it spent."""

from doublebubble.certificate import Ball


def shares_of_alpha(ball: Ball) -> list[float]:
    shares = ball.evidence["alphas"]
    assert isinstance(shares, list)
    return [float(share) for share in shares]
