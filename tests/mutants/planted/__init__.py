"""The mutants, a file for each area, each with a tuple `MUTANTS`."""
