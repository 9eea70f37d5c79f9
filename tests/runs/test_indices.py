import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.errors import DoubleBubbleWarning, SettingError
from doublebubble.runs.indices import format_indices, parse_indices


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", (7,)),
        ("0:3", (0, 1, 2)),
        ("0:100:20", (0, 20, 40, 60, 80)),
        ("5,1,2", (1, 2, 5)),
        (":", tuple(range(100))),
        ("90:", tuple(range(90, 100))),
        ("::50", (0, 50)),
        ("0:2, 10:12", (0, 1, 10, 11)),
    ],
)
def test_pieces_read_like_slices(text: str, expected: tuple[int, ...]) -> None:
    assert parse_indices(text, 100) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "100",
        "100:110",
        "200:",
        "0:5,100:110",
        "5:2",
        "0:10:0",
        "-1",
        "-5:",
        "0:-1",
        "0:10:-1",
        "1:2:3:4",
        "3:3",
        "1.5",
    ],
)
def test_what_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="indices: "):
        parse_indices(text, 100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("95:101", tuple(range(95, 100))), ("0:1000000000000:50", (0, 50)), ("7,98:200", (7, 98, 99)), ("99:101", (99,))],
)
def test_a_slice_that_ends_beyond_the_data_is_cut_with_a_warning(text: str, expected: tuple[int, ...]) -> None:
    with pytest.warns(DoubleBubbleWarning, match="ends beyond the data, which have 100 inputs; it is cut there"):
        assert parse_indices(text, 100) == expected


def test_a_slice_whose_end_costs_no_input_is_taken_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_indices("0:110:55,99:100", 100) == (0, 55, 99)


def test_an_input_named_twice_is_refused() -> None:
    with pytest.raises(SettingError, match="names input 3 twice"):
        parse_indices("0:5,3", 100)


@given(st.sets(st.integers(0, 199), min_size=1))
def test_the_text_gives_the_inputs_back(chosen: set[int]) -> None:
    indices = sorted(chosen)
    assert list(parse_indices(format_indices(indices), 200)) == indices


@given(st.integers(0, 50), st.integers(3, 20), st.integers(1, 9))
def test_a_slice_is_written_as_one_slice(first: int, count: int, step: int) -> None:
    text = format_indices(list(range(first, first + count * step, step)))
    assert "," not in text
    assert len(text.split(":")) == (2 if step == 1 else 3)
