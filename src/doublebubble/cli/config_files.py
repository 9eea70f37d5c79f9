"""The options of a command in a file: `--config run.toml` reads them, `--save-config run.toml` writes them.

A key is an option without its dashes. What stands on the command line goes before what stands in the file.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import typer

from doublebubble.errors import SettingError
from doublebubble.files import write_whole

CONFIG_HELP = "Take options from this TOML file; those on the command line go before."
SAVE_HELP = "Write all options in use to this TOML file, for --config."
_NOT_SAVED = ("config", "save-config", "dry-run", "help")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of the file the defaults of the command's options; what is no option is an error."""
    if path is None or context.resilient_parsing:
        return path
    parameters = {_option(parameter.name): parameter.name for parameter in context.command.params}
    values: dict[str, str] = {}
    for key, value in _content(path).items():
        name = parameters.get(key.replace("_", "-"))
        if name is None or _option(name) in _NOT_SAVED:
            raise SettingError(f"{path}: {key}: expected an option of {context.info_name}, there is none of this name")
        values[name] = _text(path, key, value)
    context.default_map = {**(context.default_map or {}), **values}
    return path


def save_config(context: typer.Context, path: Path) -> None:
    """Write the value of every option, chosen or usual, so that the file means the same under other defaults."""
    chosen = {_option(name): value for name, value in context.params.items() if value is not None}
    lines = [f"{key} = {_toml(value)}\n" for key, value in chosen.items() if key not in _NOT_SAVED]
    try:
        write_whole(path, "".join(lines).encode())
    except OSError as error:
        raise SettingError(f"save-config: {path} could not be written ({error})") from error


def _option(name: str | None) -> str:
    """How an option is spelled: `as_json` and `config_file` are the names of --json and --config in Python."""
    return (name or "").removeprefix("as_").removesuffix("_file").replace("_", "-")


def _content(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"config: {path} cannot be read as TOML ({error})") from error
    except RecursionError:
        raise SettingError(f"config: {path} cannot be read as TOML (nested too deeply)") from None


def _text(path: Path, key: str, value: object) -> str:
    """The value as one would type it, so that it is checked as what is typed: 1.5 is no number of draws."""
    if isinstance(value, list):
        return ",".join(_text(path, key, item) for item in value)
    if not isinstance(value, str | int | float):
        raise SettingError(f"{path}: {key}: expected a string, a number, true, false or a list of these")
    return str(value)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    # JSON escapes what a basic string of TOML must escape, the delete character excepted.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
