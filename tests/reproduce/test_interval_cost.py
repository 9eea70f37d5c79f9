"""What the price of intervals is measured on."""

from doublebubble.reproduce.interval_cost import typical_votes


def test_the_votes_that_intervals_are_timed_on() -> None:
    for classes in (10, 200):
        votes = typical_votes(classes, 1000)
        assert (int(votes.sum()), len(votes), int(votes.argmax())) == (1000, classes, 0)
        assert (votes < 5).any()
        assert votes.tolist() == typical_votes(classes, 1000).tolist()
