"""JSON from anywhere: a value, or a ValueError of one line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.json_text import parse_json


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("1" * 10_000, "digits"),
        ("[NaN]", "NaN is not a number of JSON"),
        ("-Infinity", "-Infinity is not a number of JSON"),
        (b"\xff\xfe\x00", "decode"),
        ("{", r"line 1 is not \(Expecting"),
    ],
)
def test_what_is_not_json_is_one_kind_of_error(text: str | bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_json(text)


def test_what_python_writes_for_infinity_is_read_where_it_is_allowed() -> None:
    assert parse_json("[Infinity, -Infinity]", infinite=True) == [float("inf"), -float("inf")]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=20))
def test_what_is_json_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
