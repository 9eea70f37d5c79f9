"""Text from elsewhere as it may be shown: what would steer a terminal is written out instead.

Names of classes, models and files, and the messages of other people's code, are text that somebody else chose. An
escape sequence in them could colour, hide or rewrite what a terminal shows. May import nothing.
"""

import unicodedata

_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control and format characters, also those that turn the direction of writing; halves of characters; line ends."""


def printable(text: str, keep: str = "") -> str:
    """The text, each character that would not be shown as itself in Python's notation, such as `\\x1b` for escape.

    Characters of `keep` stay as they are: `printable(text, "\\n\\t")` leaves lines and columns.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) if character not in keep else character for character in text)


def _shown(character: str) -> str:
    steers = unicodedata.category(character) in _STEERING
    return character.encode("unicode_escape").decode("ascii") if steers else character
