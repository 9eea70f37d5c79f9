"""The console shows text from elsewhere and obeys none of it: no escapes, no markup, no emoji codes."""

import io

import pytest
from rich.table import Table

from doublebubble.terminal import Terminal

HOSTILE = "\x1b[2J[/red][bold]x[/bold] :smile: \x1b]8;;http://x\x07"
SHOWN = r"\x1b[2J[/red][bold]x[/bold] :smile: \x1b]8;;http://x\x07"


def test_lines_titles_and_cells_are_shown_as_they_are() -> None:
    screen, console = io.StringIO(), Terminal()
    console.file = screen
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE)
    console.print(HOSTILE, style="bold")
    console.print(table)
    text = screen.getvalue()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count(SHOWN) == 4


def test_our_own_colours_and_lines_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    screen, console = io.StringIO(), Terminal()
    console.file = screen
    console.print("one\ntwo\x1b[5m", style="bold")
    assert "\x1b[1mone" in screen.getvalue()
    assert "\x1b[5m" not in screen.getvalue()
