"""What mkdocs does not do by itself: notebooks as pages, and the files beside the README as pages of the site."""

import importlib
import sys
from pathlib import Path

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
    """Links to the files beside the README lead to their pages here."""
    for name in BESIDE:
        markdown = markdown.replace(f"](../{name}", f"]({name}")
    return markdown
