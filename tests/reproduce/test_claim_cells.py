"""What stands in a cell: what was not run is named once, and a number is never beside nothing."""

from doublebubble.reproduce.claim_cells import NOT_RUN, cell, unless_missing


def test_what_was_not_run_is_named_once() -> None:
    assert cell([("a", NOT_RUN), ("b", NOT_RUN)]) == NOT_RUN
    assert cell([("a", "1 %"), ("b", NOT_RUN), ("c", NOT_RUN)]) == "a: 1 %<br>not run: b; c"
    assert unless_missing(cell([("a", NOT_RUN)]), "It is so.") == "Not run"
    assert unless_missing(cell([("a", "1 %"), ("b", NOT_RUN)]), "It is so.") == "It is so."
