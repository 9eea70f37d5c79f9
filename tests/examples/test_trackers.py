"""The trackers' example, with stand-ins for the two packages that write down every call."""

import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import doublebubble as db
from examples.trackers import main


class Calls(types.ModuleType):
    """A module, and a run, whose every function notes its name and arguments."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.pages: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def noted(*arguments: Any, **named: Any) -> Any:
            self.made.append((name, arguments, named))
            if name == "log_artifact":
                self.pages.append(Path(arguments[0]).read_text())
            if name == "Html":
                self.pages.append(arguments[0])
            return self

        return noted

    def named(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(arguments, named) for called, arguments, named in self.made if called == name]


def tracked(tracker: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Calls, db.Run]:
    calls = Calls(tracker)
    monkeypatch.setitem(sys.modules, tracker, calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", db.DoubleBubbleWarning)  # the first look says that the model guesses: it does
        return calls, main(tracker)


def test_mlflow_gets_settings_curves_and_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, run = tracked("mlflow", monkeypatch)
    (((settings,), _),) = calls.named("log_params")
    assert (settings["sigma"], settings["n"], settings["alpha"]) == (0.25, 200, 0.001)
    metrics = calls.named("log_metrics")
    assert [named["step"] for _, named in metrics] == list(range(1, 21))
    last = metrics[-1][0][0]
    assert last["accuracy"] == pytest.approx(run.certified_accuracy(0.0))
    assert last["average_radius"] == pytest.approx(run.average_radius)
    assert calls.named("end_run") == [((), {"status": "FINISHED"})]
    assert "Certified accuracy on digits" in calls.pages[0]


def test_wandb_gets_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, run = tracked("wandb", monkeypatch)
    ((_, opened),) = calls.named("init")
    assert opened["config"]["dataset"] == "digits"
    logged = [(arguments[0], named) for arguments, named in calls.named("log") if "step" in named]
    assert [named["step"] for _, named in logged] == list(range(1, 21))
    assert logged[-1][0]["average_radius"] == pytest.approx(run.average_radius)
    assert calls.named("finish") == [((), {"exit_code": 0})]
    assert "Certified accuracy on digits" in calls.pages[0]


def test_a_package_that_is_not_there_is_named() -> None:
    for tracker in ("mlflow", "wandb"):
        if tracker not in sys.modules:
            with pytest.raises(ModuleNotFoundError, match=tracker):
                main(tracker)
