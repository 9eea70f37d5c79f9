"""A pytest plugin for runs on a planted bug: says which tests failed, and whether they failed as tests should.

The package must be the copy, and the module with the bug must be importable: a run in which it is not says nothing
about the tests. So does a test that ends with an error that is neither an assertion nor one of the package: a bug that
only makes Python stumble is not the one that was meant.
"""

import importlib
import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.mutants.run import COPY, MODULE, SEEN

_failed: list[str] = []
_stumbled: list[str] = []


def pytest_configure() -> None:
    """Refuse a package that is not the copy, or that cannot be imported; make examples the same in every run."""
    hypothesis.settings.register_profile("planted", deadline=None, derandomize=True)
    hypothesis.settings.load_profile("planted")
    copy = Path(os.environ[COPY]).resolve()
    try:
        module = importlib.import_module(os.environ[MODULE])
    except Exception as error:
        raise pytest.UsageError(f"the module with the bug cannot be imported: {error!r}") from error
    if module.__file__ is None or not Path(module.__file__).resolve().is_relative_to(copy):
        raise pytest.UsageError(f"the package was imported from {module.__file__}, not from {copy}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be collected is no caught bug."""
    if report.failed:
        _stumbled.append(f"{report.nodeid} (not collected)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Take note of each failure and of what kind it was."""
    report = yield
    if report.failed:
        _failed.append(item.nodeid)
        error = None if call.excinfo is None else call.excinfo.value
        if error is not None and not all(_proper(one) for one in _single(error)):
            _stumbled.append(f"{item.nodeid} ({error!r})")
    return report


def pytest_sessionfinish() -> None:
    """Write down what was seen."""
    Path(os.environ[SEEN]).write_text(json.dumps({"failed": _failed, "stumbled": _stumbled}))


def _single(error: BaseException) -> Iterator[BaseException]:
    """The error, or the ones that it is a group of."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _single(one)
    else:
        yield error


def _proper(error: BaseException) -> bool:
    """Whether a test fails so because of what it asserts or because of what the package says."""
    from doublebubble.errors import DoubleBubbleError, DoubleBubbleWarning

    return isinstance(error, AssertionError | pytest.fail.Exception | DoubleBubbleError | DoubleBubbleWarning)
