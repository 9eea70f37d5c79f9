"""What tests of profiles share."""

import pytest

from doublebubble.search import profile as design


@pytest.fixture
def few_sectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer bins, sectors and rings than usual, for the sake of time; all are valid."""
    monkeypatch.setattr(design, "BINS", 12)
    monkeypatch.setattr(design, "_RINGS", 2)
    monkeypatch.setattr(design, "_NEAR_ENDS", (0.0, 0.3, 0.55, 0.8, 1.1, 1.7))
    monkeypatch.setattr(design, "_SHARES", ((0.15, 0.7),))
