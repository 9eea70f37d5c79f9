"""A page that was opened from a disk has a worker all the same, which is what the site's search runs in."""

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.chromium import ARGUMENTS, HOW, find_chromium

pytestmark = pytest.mark.browser
ECHO = "addEventListener('message', async (event) => postMessage(await event.data.map((number) => 2 * number)))"
ASK = """() => new Promise((resolve) => {
    const worker = new Worker("echo.js")
    worker.addEventListener("message", (event) => {
        worker.terminate()
        resolve(event.data)
    })
    worker.postMessage([3, 4])
    setTimeout(() => resolve("no answer"), 20_000)
})"""


def test_the_stand_in_of_a_worker_answers(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "docs" / "iframe-worker.js"
    (tmp_path / "echo.js").write_text(ECHO)
    (tmp_path / "page.html").write_text(f"<!doctype html><script>{script.read_text()}</script><p>Hello")
    program = find_chromium()
    if program is None:
        pytest.fail(HOW)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        assert page.evaluate(ASK) == [6, 8]
        assert page.locator("iframe").count() == 0
        browser.close()
