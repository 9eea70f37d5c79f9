"""The command, called as a shell calls it: the exit code, and what it printed on either stream."""

import pytest

from doublebubble.cli import main


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code, out, err
