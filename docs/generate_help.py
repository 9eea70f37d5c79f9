"""Writes docs/commands.md: the help of every command as a terminal shows it. Run it when a command changes."""

import contextlib
import io
import sys
from pathlib import Path

import typer
from typer import rich_utils

from doublebubble.cli import app

WIDTH = 110
PAGE = Path(__file__).parent / "commands.md"
_HEAD = """# Commands

What `--help` prints, command by command; written by `docs/generate_help.py`.

`doublebubble --install-completion` adds completion of commands and options to the shell in use.
"""


def command_names() -> list[tuple[str, ...]]:
    """Every command, those of groups included, as the words that call it."""
    top = typer.main.get_command(app)
    names: list[tuple[str, ...]] = [()]
    for name, found in top.commands.items():  # type: ignore[attr-defined]
        names.append((name,))
        names += [(name, inner) for inner in getattr(found, "commands", {})]
    return names


def help_text(name: tuple[str, ...]) -> str:
    """What the command prints on --help, at a fixed width and without colours."""
    rich_utils.MAX_WIDTH = WIDTH
    rich_utils.COLOR_SYSTEM = None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        app([*name, "--help"], prog_name="doublebubble")
    return "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").splitlines())


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name in command_names():
        title = " ".join(("doublebubble", *name))
        parts.append(f"## {title}\n\n```text\n{help_text(name)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE.name}: {len(command_names())} commands\n")
