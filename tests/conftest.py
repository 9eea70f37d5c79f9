"""Tests marked `browser` are left out, and loudly so, where there is no Chromium; in continuous integration never.

Certificates that tests make are verified again, in this process (`tests/reverified.py`) and in those that it starts
(`tests/others_records.py`). Ray's workers are as nice as the tests: at Ray's own niceness of 15 they hardly run where
tests fill all cores, and a test of 7 seconds waits for minutes. Examples of hypothesis have no deadline: how long one
takes tells of the machine's load.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import others_records
from tests.chromium import HOW, find_chromium, must_have
from tests.reverified import Made, failures, watched, watched_workers

os.environ.setdefault("RAY_worker_niceness", "0")
settings.register_profile("no deadline", parent=settings.default, deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session", autouse=True)
def _certificates() -> Iterator[list[Made]]:
    made: list[Made] = []
    with watched(made):
        yield made


@pytest.fixture(scope="session", autouse=True)
def _records() -> Iterator[others_records.Seen]:
    seen = others_records.Seen()
    with others_records.noted(seen):
        yield seen


@pytest.fixture(autouse=True)
def _reverified(
    request: pytest.FixtureRequest, _certificates: list[Made], _records: others_records.Seen
) -> Iterator[None]:
    with watched_workers(_certificates):
        yield
    made = list(_certificates)
    _certificates.clear()
    found = failures(made) if request.node.get_closest_marker("not_reverified") is None else []
    written = others_records.failures(_records, last=request.node.funcargs.get("tmp_path"))
    if request.node.get_closest_marker("forged_records") is None:
        found += written
    if found:
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
