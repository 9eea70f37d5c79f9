"""What the README and the page on gains both say, they say alike."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def table(page: Path, first: str) -> list[str]:
    """The rows of the table whose head begins like this."""
    lines = page.read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(first))
    return lines[begin : begin + next(k for k, line in enumerate(lines[begin:]) if not line.startswith("|"))]


def test_the_table_of_methods_is_the_same_in_both() -> None:
    head = "| method | what it uses |"
    rows = table(ROOT / "README.md", head)
    assert len(rows) >= 10
    assert rows == table(ROOT / "docs" / "gains.md", head)
