"""What the README and the page on gains both say, they say alike."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def table(page: Path, first: str) -> list[str]:
    """The rows of the table whose head begins like this."""
    lines = page.read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(first))
    return lines[begin : begin + next(k for k, line in enumerate(lines[begin:]) if not line.startswith("|"))]


def test_the_readme_gives_the_gains_of_auto_at_equal_forward_passes_as_the_page_has_them() -> None:
    said = " ".join((ROOT / "README.md").read_text().split())
    rows = table(ROOT / "docs" / "gains.md", "| data, model | n |")[2:]
    sums = [row.split("|")[3].strip().split(";")[0] for row in rows]
    digits, mnist, cifar = (sums[k + 1 : k + 3] for k in (0, 3, 6))
    assert f"`auto` certifies {cifar[0]} times Cohen's radii in sum at n = 10 000 and {cifar[1]} times at" in said
    assert f"{mnist[0]} and {mnist[1]} times on MNIST (LeNet), and {digits[0]} and {digits[1]} times on" in said
    assert all(sums[k].startswith("1.000") for k in (0, 3, 6))


def test_the_first_tables_of_the_readme_are_of_mnist_and_cifar() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows
    studies = {row.split("-")[0].strip("| ") for row in rows if ", sigma " in row}
    assert studies == {"mnist", "cifar10"}
    assert len(rows) == 4 + sum(", sigma " in row for row in rows)  # two heads, and no other rows


def test_what_the_readme_says_of_coins_is_the_row_of_the_page_on_claims() -> None:
    rows = table(ROOT / "docs" / "reproduction.md", "| gain over each protocol's own Cohen |")
    (row,) = (row for row in rows if row.startswith("| mnist-lenet, sigma 1 ("))
    network, coins = (cell.split("%")[0].strip(" +") for cell in row.split("|")[2:4])
    said = " ".join((ROOT / "README.md").read_text().split())
    assert f"the same search reports {coins} % where it reports {network} % on the network (MNIST, sigma 1;" in said
