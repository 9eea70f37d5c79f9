"""The browser that tests of pages use: where it is, how it is started, and what to say where there is none."""

import os
import shutil

HOW = (
    "the tests of the page need Chromium: install it (Debian: `apt-get install chromium`), "
    "or name its program in DOUBLEBUBBLE_CHROMIUM"
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The program named by DOUBLEBUBBLE_CHROMIUM, else the first that is found under its usual names."""
    named = os.environ.get("DOUBLEBUBBLE_CHROMIUM")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


def must_have() -> bool:
    """Whether a missing browser is an error: in continuous integration."""
    return bool(os.environ.get("CI"))
