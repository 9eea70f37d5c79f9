"""The README and the links of the package, as an index shows them.

Links in README.md are relative, so that they work in any clone. An index needs whole ones: they are made here, at build
time, from one place, the variable DOUBLEBUBBLE_URL (https://HOST/OWNER/doublebubble). Without it the package is built
with the text alone: an address that leads nowhere is worse than none. docs/release.md says when it must be set.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def readme(text: str, url: str) -> str:
    """The README with whole links, images to their files; without a URL links become their text and images go."""

    def whole(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if url:
            return f"{image}[{words}]({url}/{'raw' if image else 'blob'}/main/{target})"
        return "" if image else words

    return _LINK.sub(whole, text)


def links(url: str) -> dict[str, str]:
    """The project's links; none where the URL is not known."""
    if not url:
        return {}
    pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
    return {"Source": url, "Issues": f"{url}/issues"} | {
        name: f"{url}/blob/main/{path}" for name, path in pages.items()
    }


class CustomMetadataHook(MetadataHookInterface):
    """Fills in what pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling for every build."""
        url = os.environ.get("DOUBLEBUBBLE_URL", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme(text, url)}
        metadata["urls"] = links(url)
