"""axe-core on the site's front page and on a report page: serious and critical faults are an error.

    python -m docs.accessibility AXE.js SITE      # as `make accessibility` calls it

Light and dark, at 1280 and 390 pixels. Needs Chromium: on PATH, or named in DOUBLEBUBBLE_CHROMIUM.
"""

import itertools
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch
from playwright.sync_api import Browser, sync_playwright

import doublebubble as db
from tests.chromium import ARGUMENTS, HOW, find_chromium

WIDTHS = (1280, 390)
_SERIOUS = ("serious", "critical")
_ASK = "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"


def faults(browser: Browser, script: Path, page: Path) -> Iterator[str]:
    """Each serious fault of a page, in both colour schemes and at both widths."""
    for scheme, width in itertools.product(("light", "dark"), WIDTHS):
        view = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if scheme == "dark" else "light",
            bypass_csp=True,
        )
        view.goto(page.resolve().as_uri())
        view.wait_for_timeout(1000)
        view.add_script_tag(path=str(script))
        for fault in view.evaluate(_ASK):
            if fault["impact"] in _SERIOUS:
                where = "; ".join(node["html"][:160] for node in fault["nodes"][:3])
                yield f"{page.name}, {scheme}, {width} px: {fault['id']} ({fault['impact']}, {len(fault['nodes'])}): {where}"
        view.close()


def report_page(folder: Path) -> Path:
    """A small report page: some digits under an untrained model, which abstains and errs enough to show all of it."""
    from doublebubble.models import build

    model = build("cnn", (1, 8, 8), 10, (0.5,), (0.5,)).eval()
    warnings.simplefilter("ignore", db.DoubleBubbleWarning)  # that it guesses, which is why it is used here
    run = db.certify(model, "digits", sigma=0.25, n=200, n0=50, indices="0:12", out=folder / "run", quiet=True)
    return run.report(folder / "report.html")


def main(words: list[str]) -> None:
    """Print the faults and exit 1, or say that there is none."""
    script, site = Path(words[0]), Path(words[1])
    program = find_chromium()
    if program is None:
        raise SystemExit(HOW)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        pages = [site / "index.html", report_page(Path(folder))]
        found = [fault for page in pages for fault in faults(browser, script, page)]
        browser.close()
    sys.stdout.write("".join(f"{fault}\n" for fault in found))
    if found:
        raise SystemExit(1)
    sys.stdout.write("axe-core finds no serious fault on the front page and on a report page\n")


if __name__ == "__main__":
    main(sys.argv[1:])
