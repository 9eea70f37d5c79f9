"""The table of decisions against the wealths themselves, evaluated at every count."""

import numpy as np
import pytest

from doublebubble.bounds.edges import Edges
from doublebubble.bounds.ladder import Ladder, looks, vote_ladder
from doublebubble.bounds.leader import open_levels
from doublebubble.bounds.sequences import spread_bet, target
from doublebubble.errors import SettingError

RADII = (0.1, 0.5, 1.0, 2.0)


@pytest.mark.parametrize("alpha", [0.3, 0.001])
@pytest.mark.parametrize("at", [tuple(range(1, 201)), tuple(looks(200)), (7, 50, 200)])
def test_the_edge_is_where_the_wealth_crosses(alpha: float, at: tuple[int, ...]) -> None:
    ladder = vote_ladder(RADII, 1.0, alpha, 0.05, 200, open_levels(RADII, 1.0, alpha))
    edges = Edges(ladder, at)
    some_decided = 0
    for look, n in list(enumerate(at))[:: max(1, len(at) // 12)]:
        edge = edges[look]
        assert edge.draws == n
        for hits in range(n + 1):
            wealth = ladder.log_wealth([[hits, n - hits]])[:, 0]
            against = ladder.log_refusal([[hits, n - hits]])[:, 0]
            won = [float(w) >= target(level) for w, level in zip(wealth, ladder.levels, strict=True)]
            assert [hits >= most for most in edge.hits] == won
            assert [n - hits >= most for most in edge.misses] == [float(w) >= target(0.05) for w in against]
            some_decided += sum(won)
    assert some_decided > 0


def test_edges_may_be_asked_for_in_any_order() -> None:
    ladder = vote_ladder(RADII, 1.0, 0.01, 0.05, 500, open_levels(RADII, 1.0, 0.01))
    at = tuple(looks(500))
    last = Edges(ladder, at)
    in_order = Edges(ladder, at)
    first_to_last = [in_order[look] for look in range(len(at))]
    assert last[len(at) - 1] == first_to_last[-1]
    assert last[3] == first_to_last[3]
    assert np.all(np.diff([last[i].hits for i in range(len(at))], axis=0) >= 0)


def test_what_does_not_fit_is_refused() -> None:
    ladder = vote_ladder((0.5,), 1.0, 0.01, 0.05, 50)
    for at in ((), (0, 50), (5, 5, 50), (5, 40)):
        with pytest.raises(SettingError, match="looks"):
            Edges(ladder, at)
    claim = refusal = spread_bet((0.4, -0.6, -0.1), 0.01, 50, 0.2)
    with pytest.raises(SettingError, match="counts votes"):
        Edges(Ladder((0.5,), ((claim,),), ((refusal,),), (0.01,), 0.05, 50), (50,))
