"""What mkdocs does not do by itself: notebooks as pages, and the files beside the README as pages of the site."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
if str(DOCS.parent) not in sys.path:
    sys.path.insert(0, str(DOCS.parent))
notebooks = importlib.import_module("docs.notebooks")

BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Show each notebook, and the files beside the README, as pages."""
    for path in sorted(notebooks.TUTORIALS.glob("*.ipynb")):
        text = notebooks.markdown(nbformat.read(path, as_version=4))
        files.append(File.generated(config, f"tutorials/{path.stem}.md", content=text))
    for name in BESIDE:
        text = (DOCS.parent / name).read_text("utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to the files beside the README lead to their pages here, and pages are called by their titles."""
    for name in BESIDE:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    return titled(markdown, dict(_titles(config.nav)))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Figures open in full size by a click, which a narrow screen needs; options in text break nowhere."""
    return whole_options(opened(html))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say what the dialog of the search is, which the theme leaves without a name."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def titled(markdown: str, titles: dict[str, str]) -> str:
    """Links whose words are the name of a file, as the repository has them, under the title of its page."""
    return re.sub(
        r"\[((?:\w+/)*\w+\.md)\](?=\()", lambda found: f"[{titles.get(found[1].split('/')[-1], found[1])}]", markdown
    )


def opened(html: str) -> str:
    """Each image that is a file and no link yet, as a link to that file."""

    def link(found: re.Match[str]) -> str:
        before, image, source = found.groups()
        return found[0] if before or source.startswith("data:") else f'<a href="{source}">{image}</a>'

    return re.sub(r'(<a [^>]*>\s*)?(<img [^>]*?src="([^"]+)"[^>]*>)', link, html)


def whole_options(html: str) -> str:
    """Options such as --help within code of one line, marked so that no line ends inside one."""

    def mark(found: re.Match[str]) -> str:
        return re.sub(r"(?<![\w-])--?\w[\w-]*", r'<span class="option">\g<0></span>', found[0])

    return re.sub(r"<code>[^<]*</code>", mark, html)


def _titles(nav: Any) -> Iterator[tuple[str, str]]:
    """The file name and the title of each page that the navigation names."""
    for entry in nav:
        for title, inside in entry.items() if isinstance(entry, dict) else ():
            if isinstance(inside, str):
                yield inside.split("/")[-1], title
            else:
                yield from _titles(inside)
