"""JSON from anywhere, read in one way: what is not JSON is a ValueError, however it is wrong. May import nothing."""

import json


def parse_json(text: str | bytes, infinite: bool = False) -> object:
    """The value that the text holds; other encodings, endless digits and endless nesting are refused.

    So are NaN and infinity, which JSON has no words for, unless `infinite` allows those that Python writes.
    """
    try:
        value: object = json.loads(text, parse_constant=float if infinite else _refused)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} is not ({error.msg})") from error
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None
    return value


def _refused(word: str) -> object:
    raise ValueError(f"{word} is not a number of JSON")
