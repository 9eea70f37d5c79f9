"""Writes the page of a run as a wide and as a narrow browser shows it, docs/images/page-1280.png and page-390.png.

And page-top.png, how it begins, large enough to be read in the text of the quick start.

Usage: python docs/make_screenshots.py RUN. Needs Chromium: on PATH, or named in DOUBLEBUBBLE_CHROMIUM.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from doublebubble.cli import app

IMAGES = Path(__file__).parent / "images"
_WIDTHS = (1280, 390)
_TOP: ViewportSize = {"width": 960, "height": 1300}
_COLOURS = 200


def shoot(run: Path) -> None:
    """Write the page to a temporary folder, photograph all of it at both widths, and keep the pictures small."""
    program = os.environ.get("DOUBLEBUBBLE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        app(["report", str(run), "--out", str(page)], standalone_mode=False)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for width in _WIDTHS:
            view = browser.new_page(viewport={"width": width, "height": 1500}, reduced_motion="reduce")
            view.goto(page.as_uri(), timeout=120_000)
            _select_a_drawn_input(view)
            view.wait_for_timeout(1500)
            _keep(view, IMAGES / f"page-{width}.png", whole=True)
        top = browser.new_page(viewport=_TOP, device_scale_factor=1.5, reduced_motion="reduce")
        top.goto(page.as_uri(), timeout=120_000)
        top.wait_for_timeout(1500)
        _keep(top, IMAGES / "page-top.png", whole=False)
        browser.close()


def _keep(view: Page, target: Path, whole: bool) -> None:
    view.screenshot(path=target, full_page=whole, timeout=120_000)
    with Image.open(target) as picture:
        small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(target, optimize=True)
    sys.stdout.write(f"{target.name}: {target.stat().st_size // 1000} kB\n")


def _select_a_drawn_input(view: Page) -> None:
    """Select the first input that has a picture, if any has, and show all inputs again."""
    view.select_option("#inputs-filter", "with a drawn picture")
    if view.locator(".rows tbody button").count():
        view.locator(".rows tbody button").first.click()
    view.select_option("#inputs-filter", "all")
    view.evaluate("scrollTo(0, 0)")


if __name__ == "__main__":
    shoot(Path(sys.argv[1]))
