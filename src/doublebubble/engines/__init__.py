"""Where a run's inputs are certified: in this process, or by the workers of a Ray cluster. One writer either way."""
