"""The `doublebubble` command: parsing and printing only.

Each command lives in its own module, which imports what it runs only when it runs, so that `--help` stays fast. To add
one, write its function in a module here and register it below.
"""

import sys
import traceback
from typing import Annotated

import typer

from doublebubble.cli import data
from doublebubble.cli.audit import audit
from doublebubble.cli.certify import certify
from doublebubble.cli.demo import demo
from doublebubble.cli.picture import picture
from doublebubble.cli.plan import plan
from doublebubble.cli.predict import predict
from doublebubble.cli.report import report
from doublebubble.cli.reproduce import reproduce
from doublebubble.cli.runs import export, import_, merge, runs
from doublebubble.cli.train import train
from doublebubble.errors import DoubleBubbleError, SettingError
from doublebubble.freed_memory import keep_freed_memory
from doublebubble.terminal import Terminal

app = typer.Typer(
    name="doublebubble",
    help="How far can an input be moved before a classifier may change its mind, and how sure are we?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(train)
app.command()(certify)
app.command()(plan)
app.command()(predict)
app.command()(picture)
app.command()(reproduce)
app.command()(runs)
app.command()(report)
app.command()(audit)
app.command()(export)
app.command("import")(import_)
app.command()(merge)
app.add_typer(data.app, name="data", no_args_is_help=True)


def _show_version(asked: bool) -> None:
    if asked:
        from doublebubble import __version__

        Terminal().print(f"doublebubble {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error. Works after a command too.")
    ] = False,
) -> None:
    """How far can an input be moved before a classifier may change its mind, and how sure are we?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command: exit 0 on success, 2 on wrong use, 1 on failure with one sentence on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    keep_freed_memory()
    try:
        app([argument for argument in given if argument != "--debug"])
    except DoubleBubbleError as error:
        if "--debug" in given:
            Terminal(stderr=True).print(traceback.format_exc())
        Terminal(stderr=True).print(f"error: {error}")
        sys.exit(2 if isinstance(error, SettingError) else 1)
