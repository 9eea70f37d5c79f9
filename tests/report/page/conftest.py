"""The sample runs in a page, and the page in Chromium, for all tests that look at it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from doublebubble.report.page import Gallery, write_page
from doublebubble.runs.importing import import_tsv
from doublebubble.runs.picture_files import picture_path
from doublebubble.runs.store import StoredRun, read_run
from doublebubble.runs.tables import export_file
from tests.chromium import ARGUMENTS, HOW, find_chromium
from tests.report.page.looking import Shown, opened
from tests.report.page.samples import CLASSES, SIZE, stored, stored_paper

DIGEST = "cd" * 32


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[StoredRun]:
    """Two sigma, protocol paper, an imported run with a nasty name, protocol paper at another sigma, not complete."""
    root = tmp_path_factory.mktemp("runs")
    first = stored(root / "half", 0.5)
    export_file(first, "tsv", root / "theirs.tsv")
    import_tsv(root / "theirs.tsv", root / "<script>window.hacked=1<" / "script>")
    drawn = picture_path(first.path, 5)
    drawn.parent.mkdir()
    Image.new("RGB", (60, 40), (250, 20, 20)).save(drawn)
    quarter = stored(root / "quarter", 0.25)
    paper = stored_paper(root / "paper")
    imported = read_run(root / "<script>window.hacked=1<" / "script>")
    late = stored_paper(root / "late", 0.25, [0, 1, 3, 4, 5, 8, 9, 11])
    return [read_run(first.path), quarter, paper, imported, late]


@pytest.fixture(scope="module")
def file(runs: list[StoredRun], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    images = np.zeros((SIZE, 3, 2, 2), np.uint8)
    images[:, 1] = 6 * np.arange(SIZE)[:, None, None]
    write_page(runs, path, {DIGEST: Gallery(CLASSES, tuple(range(SIZE)), images)})
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.fail(HOW)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    made.set_default_timeout(60_000)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shown(context: BrowserContext, file: Path) -> Iterator[Shown]:
    """The page, on which nothing may have gone wrong when the last test has left it."""
    found = opened(context, file)
    yield found
    assert found.troubles == []
