"""Results to look at, read from certificates only: nothing here runs a model."""
