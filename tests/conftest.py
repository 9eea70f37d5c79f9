"""Tests marked `browser` are left out, and loudly so, where there is no Chromium; in continuous integration never."""

import pytest

from tests.chromium import HOW, find_chromium, must_have


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if find_chromium() is not None or must_have():
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if find_chromium() is None and not must_have():
        terminalreporter.section("NOT TESTED: the page in a browser", sep="!", yellow=True, bold=True)
        terminalreporter.line(f"No Chromium was found and {HOW}.", yellow=True)
