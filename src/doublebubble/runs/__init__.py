"""Runs that last: what determines them, one record an input, a store that survives, and what can be said of them."""
