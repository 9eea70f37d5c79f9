"""The API page shows examples as code, line by line, and leads to the pages that a docstring names."""

import re
from html import unescape
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from docs.docstrings import shown

ROOT = Path(__file__).parents[2]


def test_an_example_becomes_a_block_of_code() -> None:
    text = "A guarantee.\n\nWords.\n\n>>> x = 1\n>>> x\n1\n\n>>> y = 2"
    blocks = "A guarantee.\n\nWords.\n\n```pycon\n>>> x = 1\n>>> x\n1\n```\n\n```pycon\n>>> y = 2\n```"
    assert shown(text) == blocks


def test_a_page_that_is_named_becomes_a_link() -> None:
    assert shown("exactly (docs/noise.md); so") == "exactly ([noise](noise.html)); so"
    assert shown("words a > b >> c") == "words a > b >> c"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The API page as the site has it."""
    site = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(site)))
    return (site / "api.html").read_text("utf-8")


def test_no_example_of_the_site_is_a_quotation(api: str) -> None:
    assert "<blockquote>" not in api
    assert unescape(re.sub(r"<[^>]+>", "", api)).count(">>> ") > 30


def test_no_name_is_lost_between_angle_brackets(api: str) -> None:
    assert "draws_&lt;stage&gt;" in api
