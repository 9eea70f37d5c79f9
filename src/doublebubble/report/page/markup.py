"""HTML that is escaped by construction: text becomes text, and only elements made here become elements."""

import html
import json


class Markup(str):
    """HTML that was made by `element` or `joined` and is not escaped again."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | bool) -> Markup:
    """One element. Children that are not Markup, and all values of attributes, are escaped.

    `class_` and `for_` stand for the reserved words, `_` inside a name for `-`; True gives an attribute without a
    value and False leaves it out.
    """
    opening = "".join(_attribute(name, value) for name, value in attributes.items() if value is not False)
    return Markup(f"<{tag}{opening}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Markup:
    """Children one after another, escaped where they are plain text."""
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def data_block(name: str, value: object) -> Markup:
    """Data for scripts: JSON in which no character can end or open an element. Numbers must be finite."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only, line separators escaped
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return element("script", Markup(text), type="application/json", id=name)


def _attribute(name: str, value: str | bool) -> str:
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{html.escape(str(value))}"'
