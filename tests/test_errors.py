"""Errors: one base for the command to print, and the kinds that Python code catches already."""

import inspect
import pickle

import pytest

import doublebubble as db
from doublebubble import errors
from doublebubble.errors import DoubleBubbleError, DoubleBubbleWarning, InputError, SettingError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not issubclass(kind, Warning)])
def test_every_error_is_one_of_ours_and_keeps_its_sentence(kind: type[Exception]) -> None:
    with pytest.raises(DoubleBubbleError, match=r"^input 3: expected one$"):
        raise kind("input 3: expected one")


def test_settings_and_inputs_are_value_errors_and_the_others_are_not() -> None:
    assert {kind for kind in KINDS if ValueError in kind.__mro__} == {SettingError, InputError}


def test_a_warning_is_no_error() -> None:
    assert issubclass(DoubleBubbleWarning, UserWarning)
    assert not issubclass(DoubleBubbleWarning, DoubleBubbleError)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_there_at_top_level(kind: type[Exception]) -> None:
    assert kind.__name__ in db.__all__
    assert getattr(db, kind.__name__) is kind


def test_a_message_is_one_line_and_steers_no_terminal() -> None:
    assert str(DoubleBubbleError("a\x1b[2J\nb")) == r"a\x1b[2J\nb"
    assert pickle.loads(pickle.dumps(InputError("input 3"))).args == ("input 3",)  # noqa: S301  # of our own making
