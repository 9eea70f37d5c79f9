"""Soundness bugs planted one at a time, to see that the tests catch each of them.

A mutant is a `Mutant` of `mutant.py`: a name, a file of the package, a text that occurs there exactly once, the text
that takes its place, one sentence that says what is unsound about it, and the tests that must fail. They stand in
`planted/`, a file for each area; every file there is found by itself and holds a tuple `MUTANTS`.

- `python -m tests.mutants.run`, or `make mutants`, plants all of them in copies of the package and prints the table;
  with names behind it, only those.
- `python -m tests.mutants.table` writes docs/mutants.md.

To add one: put it into a file of `planted/`, name the fewest tests that see it (node ids rather than files), run it by
its name, and write the table again. If it survives, the test that should have seen it is missing.
"""
