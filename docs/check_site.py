"""Is the built site whole, and does it stand alone? Every link and anchor leads somewhere, nothing loads from a network.

python docs/check_site.py site      # exits 1 and names what is wrong
"""

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href", "use": "href"}
_IN_STYLES = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])(https?:)?//")


@dataclass
class Found:
    """What one page links to, what it loads, and the anchors that it has."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.found.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.found.links.append(values["href"])
        if tag in _LOADS and _LOADS[tag] in values and values.get("rel") not in ("canonical", "prev", "next"):
            self.found.loads.append(values[_LOADS[tag]])


def read(page: Path) -> Found:
    """What stands in a page."""
    reader = _Reader()
    reader.feed(page.read_text("utf-8"))
    return reader.found


def problems(site: Path) -> list[str]:
    """Each thing that is wrong with a site, in one line."""
    pages = {page.resolve(): read(page) for page in sorted(site.rglob("*.html"))}
    wrong = [] if pages else [f"{site}: expected pages, there are none"]
    for page, found in pages.items():
        name = page.relative_to(site.resolve())
        wrong += [f"{name}: loads {load}" for load in found.loads if load.startswith(("http:", "https:", "//"))]
        local = [link for link in found.links + found.loads if not urlsplit(link).scheme and not link.startswith("//")]
        # The page for missing addresses is served at any depth, so its links begin at the root.
        wrong += [
            f"{name}: {link} leads nowhere" for link in local if name.name != "404.html" and _lost(page, link, pages)
        ]
    styles = [path for path in sorted(site.rglob("*.css")) if _IN_STYLES.search(path.read_text("utf-8"))]
    return wrong + [f"{path.relative_to(site)}: loads from a network" for path in styles]


def _lost(page: Path, link: str, pages: dict[Path, Found]) -> bool:
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return True
    return bool(parts.fragment) and target in pages and unquote(parts.fragment) not in pages[target].anchors


def main(words: list[str]) -> None:
    """Print what is wrong and exit 1, or say how much was looked at."""
    site = Path(words[0])
    wrong = problems(site)
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    if wrong:
        raise SystemExit(1)
    sys.stdout.write(
        f"{len(list(site.rglob('*.html')))} pages, every link leads somewhere, nothing loads from a network\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
