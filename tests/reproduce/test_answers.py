"""A verdict says how much of a claim is borne out."""

from doublebubble.reproduce.answers import verdict
from doublebubble.reproduce.claim_cells import NOT_RUN, cell, unless_missing


def test_a_verdict_counts_what_is_borne_out() -> None:
    assert verdict([]) == NOT_RUN
    assert verdict([True, True]) == "yes"
    assert verdict([True, False]) == "in part"
    assert verdict([False]) == "no"


def test_what_was_not_run_is_named_once() -> None:
    assert cell([("a", NOT_RUN), ("b", NOT_RUN)]) == NOT_RUN
    assert cell([("a", "1 %"), ("b", NOT_RUN), ("c", NOT_RUN)]) == "a: 1 %<br>not run: b; c"
    assert unless_missing(cell([("a", NOT_RUN)]), "It is so.") == "Not run"
    assert unless_missing(cell([("a", "1 %"), ("b", NOT_RUN)]), "It is so.") == "It is so."
