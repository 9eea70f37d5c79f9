"""Docstrings as the API page shows them: their `>>>` examples as code, and the pages that they name as links.

Used by mkdocstrings, as mkdocs.yml says. The text in the source stays as `help` and the tests read it.
"""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)
_PAGE = re.compile(r"\bdocs/(\w+)\.md\b")


def shown(text: str) -> str:
    """A docstring in Markdown: left alone, `>>>` would be read as quotations and lose its lines."""
    fenced = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
    return _PAGE.sub(lambda found: f"[{found[1]}]({found[1]}.html)", fenced)


class Shown(griffe.Extension):
    """Rewrites every docstring that is loaded for the site."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)
