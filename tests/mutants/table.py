"""Writes docs/mutants.md: every planted bug and the tests that catch it. Run it when a mutant changes."""

from tests.mutants.mutant import ROOT, Mutant, by_area

PAGE = ROOT / "docs" / "mutants.md"
_HEAD = """# Planted bugs

Bugs that would make a certificate, a record or a report say more than is true. Each is planted by itself in a copy of
the package, and the tests beside it must then fail; `make mutants` does so for all {count} and prints which test
caught which. Written by `python -m tests.mutants.table` from `tests/mutants/planted`.
"""


def page() -> str:
    """The page as it should be."""
    areas = by_area()
    sections = [_HEAD.format(count=sum(map(len, areas.values())))]
    for area, mutants in areas.items():
        rows = ["| mutant | file | why it is unsound | tests that must fail |", "|---|---|---|---|"]
        rows += [_row(mutant) for mutant in mutants]
        sections.append(f"## {area.replace('_', ' ').capitalize()}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(sections)


def _row(mutant: Mutant) -> str:
    tests = "<br>".join(f"`{test}`" for test in mutant.tests)
    return f"| {mutant.name} | `{mutant.file}` | {mutant.why} | {tests} |"


if __name__ == "__main__":
    PAGE.write_text(page())
