"""Tests marked `browser` are left out, and loudly so, where there is no Chromium; in continuous integration never.

Certificates that tests make are verified again (`tests/reverified.py`).
"""

from collections.abc import Iterator

import pytest

from tests.chromium import HOW, find_chromium, must_have
from tests.reverified import Made, failures, watched


@pytest.fixture(scope="session", autouse=True)
def _certificates() -> Iterator[list[Made]]:
    made: list[Made] = []
    with watched(made):
        yield made


@pytest.fixture(autouse=True)
def _reverified(request: pytest.FixtureRequest, _certificates: list[Made]) -> Iterator[None]:
    yield
    made = list(_certificates)
    _certificates.clear()
    if request.node.get_closest_marker("not_reverified") is None and (found := failures(made)):
        pytest.fail("certificates that do not follow from what they store:\n" + "\n".join(found), pytrace=False)


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
