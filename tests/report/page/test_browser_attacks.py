"""What attacks found, on the page in Chromium: beside each radius, in a sentence, as a curve."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from doublebubble.report.page import write_page
from doublebubble.runs.attacks import store_attack, stored_attacks
from doublebubble.runs.store import StoredRun, read_run
from tests.report.page.looking import Shown, opened, select_input, texts
from tests.report.page.samples import stored
from tests.runs.test_attacks import attacked

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """A run whose certified inputs were attacked: every third in vain, one with a success inside its radius."""
    made = stored(tmp_path_factory.mktemp("attacked") / "half", 0.5)
    for number, record in enumerate(record for record in made.records if record.radius > 0):
        distance = None if number % 3 == 2 else round(record.radius * (0.5 if number == 0 else 1.5) + 1e-6, 6)
        store_attack(
            made, attacked(record.index, distance, record.radius, prediction=record.prediction, rival=distance and 2)
        )
    return read_run(made.path)


@pytest.fixture(scope="module")
def attacks(context: BrowserContext, run: StoredRun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    path = tmp_path_factory.mktemp("page") / "report.html"
    bare = stored(run.path.parent / "bare", 0.25)
    write_page([run, bare], path)
    found = opened(context, path)
    yield found
    assert found.troubles == []


def test_each_input_shows_its_bound_and_the_gap(attacks: Shown, run: StoredRun) -> None:
    page, found = attacks.page, stored_attacks(run)
    for record in run.records:
        select_input(page, 0, record.index)
        said = texts(page, ".detail .attack")
        row = page.locator(".rows tr[aria-current] .attacked-column").inner_text()
        if record.index not in found:
            assert (said, row) == ([], "")
            continue
        (one,) = found[record.index]
        if one.distance is None:
            assert (said, row) == (["No other class was found as far as 0.900000."], "")
            continue
        opening = f"Class 2 is likelier than class {record.prediction} at distance {one.distance:.6f}"
        if one.inside:
            assert said == [f"{opening}, inside the radius."]
        else:
            times = f"{one.distance / one.radius:.2f}"
            assert said == [f"{opening}: a gap of {one.distance - one.radius:.6f}, {times} times the radius."]
        assert float(row) >= one.distance, "an upper bound is never shown smaller than it is"
        assert float(row) - one.distance < 1e-4
    select_input(page, 1, 0)
    assert texts(page, ".detail .attack") == []


def test_the_run_is_told_in_a_sentence_and_as_a_curve_that_never_lies_below_the_certified_one(attacks: Shown) -> None:
    page = attacks.page
    told = " ".join(texts(page, "#attacks p"))
    assert "half: attacked" in told
    assert "1 success inside the radius" in told
    assert "the truth lies between the two curves" in told
    assert texts(page, "#attacks-chart .series-name") == ["half, certified", "half, attacked"]


def test_a_page_without_attacks_says_nothing_of_them(context: BrowserContext, run: StoredRun, tmp_path: Path) -> None:
    write_page([stored(tmp_path / "run", 0.5)], tmp_path / "page.html")
    found = opened(context, tmp_path / "page.html")
    assert found.page.locator("#attacks").count() == 0
    assert found.page.locator(".attacked-column").count() == 0
    assert found.troubles == []
