"""Runs that last: what determines them, one record per input, a store that survives, and what can be said of them."""

from doublebubble.runs.tables import load_run

__all__ = ["load_run"]
