"""The console that this package prints on: text from elsewhere is shown there, never obeyed."""

from rich.console import Console, HighlighterType, JustifyMethod, OverflowMethod
from rich.style import Style
from rich.text import Text

from doublebubble.printable import printable


class Terminal(Console):
    """A console on which what would steer a terminal is written out, and text means nothing but itself.

    No markup, no emoji codes, no highlighting, no wrapping: what is printed can be copied as it is.
    """

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, soft_wrap=True, highlight=False, markup=False, emoji=False)

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: HighlighterType | None = None,
    ) -> Text:
        """A string as it will be shown: every line and every cell of a table comes through here."""
        return super().render_str(
            printable(text, "\n\t"),
            style=style,
            justify=justify,
            overflow=overflow,
            emoji=emoji,
            markup=markup,
            highlight=highlight,
            highlighter=highlighter,
        )
