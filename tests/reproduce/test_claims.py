"""The page of claims: each stands there once, in brief and at length; what is missing is not run."""

from pathlib import Path

import pytest

from docs import generate_reproduction
from doublebubble.errors import DataError
from doublebubble.reproduce import EXPERIMENTS, chosen_scale
from doublebubble.reproduce.archive import Archive
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.claims import CLAIMS
from doublebubble.reproduce.claims_page import FIGURES, claims_page, image_of
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import model_name
from doublebubble.reproduce.networks import trainings
from doublebubble.reproduce.results import listing
from tests.reproduce.invented import SCALE, Silent


def test_the_page_says_not_run_where_nothing_is(tmp_path: Path, made: Path) -> None:
    empty = claims_page(Evidence(tmp_path, chosen_scale("cpu")))
    assert empty.count(f"\n{NOT_RUN.capitalize()}\n") == len(CLAIMS)
    assert "%" not in empty.split("## 1.")[1].split("|---|---|")[1].split("## 2.")[0]
    full = claims_page(Evidence(made, SCALE))
    for number in range(1, len(CLAIMS) + 1):
        assert f"\n## {number}. " in full
    assert full.count("`paper`: as published, not guaranteed") == len(CLAIMS)


def test_the_committed_page_is_what_the_command_gives() -> None:
    kept = generate_reproduction.evidence()
    page = generate_reproduction.page(kept)
    assert generate_reproduction.PAGE.read_text() == page, "run docs/generate_reproduction.py"
    for study, method, sigma in trainings(kept.scale):
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {model_name(study, method, sigma)} |"))
        assert " - " not in row, "a network without runs, or without a note of its training"
    for name in filter(kept.has_figure, FIGURES):
        shown = generate_reproduction.PAGE.parent / image_of(name)
        assert shown.read_bytes() == kept.figure(name).read_bytes(), "run docs/generate_reproduction.py"
    readme = generate_reproduction.README.read_text()
    assert generate_reproduction.readme(readme, kept) == readme, "run docs/generate_reproduction.py"
    size = sum(path.stat().st_size for path in generate_reproduction.RESULTS.rglob("*") if path.is_file())
    assert size < generate_reproduction.MOST_BYTES


def test_a_readme_without_its_table_is_an_error_that_names_it(made: Path) -> None:
    with pytest.raises(
        DataError, match=r"^README.md: expected a table that begins .\| gain over each protocol's own Cohen"
    ):
        generate_reproduction.readme("# doublebubble\n\n| other |\n|---|\n\n", Evidence(made, SCALE))


def test_committed_figures_and_tables_are_what_the_records_give() -> None:
    results, scale = generate_reproduction.RESULTS, chosen_scale(generate_reproduction.SCALE)
    archive = Archive(scale, results, results / "models", Quiet())
    committed = {path.name: (path / "README.md").read_text() for path in (results / "figures").iterdir()}
    assert committed.pop(generate_reproduction.TIMED)
    for name, page in committed.items():
        assert page == listing(archive.perform(EXPERIMENTS[name]), name, scale.name), (
            f"{name}: run docs/generate_reproduction.py figures"
        )


class Quiet(Silent):
    """Says nothing of runs that are missing."""

    def missing(self, sentence: str) -> None:
        pass
