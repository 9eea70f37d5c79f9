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


def test_what_the_readme_says_of_coins_is_the_row_of_the_page_on_claims() -> None:
    rows = table(ROOT / "docs" / "reproduction.md", "| mean radius over Cohen's |")
    (row,) = (row for row in rows if row.startswith("| mnist-lenet, sigma 1 |"))
    network, coins = (cell.split("%")[0].strip(" +") for cell in row.split("|")[2:4])
    said = " ".join((ROOT / "README.md").read_text().split())
    assert f"the same search reports {coins} % where it reports {network} % on the network (MNIST, sigma 1;" in said
