"""What would steer a terminal is written out; all else stays as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07\x1b[2J", r"\x1b]0;owned\x07\x1b[2J"),
        ("cat\rdog", r"cat\rdog"),
        ("a\u202eb", r"a\u202eb"),
        ("\x9b31m", r"\x9b31m"),
        ("\ud800", r"\ud800"),
        ("Größe, 数字, 3 €", "Größe, 数字, 3 €"),
    ],
)
def test_escapes_are_shown_and_words_left(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_and_columns_stay_where_they_are_wanted() -> None:
    assert printable("a\tb\n\x1bc", "\n\t") == "a\tb\n\\x1bc"
    assert printable("a\nb") == r"a\nb"


@given(st.text())
def test_nothing_that_steers_is_left(text: str) -> None:
    shown = printable(text)
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert printable(shown) == shown
    shown.encode()
