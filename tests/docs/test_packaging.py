"""The README as an index shows it: whole links where the address is known, none where it is not."""

import re
from pathlib import Path

import pytest

from packaging_metadata import CustomMetadataHook, links, readme

ROOT = Path(__file__).parents[2]
URL = "https://code.example/bubbles/doublebubble"
TEXT = "![a curve](docs/a.png) [math](docs/math.md#one), [there](https://x.example), [here](#here)"


def test_links_become_whole_where_the_address_is_known() -> None:
    assert readme(TEXT, URL) == (
        f"![a curve]({URL}/raw/main/docs/a.png) [math]({URL}/blob/main/docs/math.md#one), "
        "[there](https://x.example), [here](#here)"
    )


def test_without_an_address_nothing_leads_nowhere() -> None:
    assert readme(TEXT, "") == " math, [there](https://x.example), [here](#here)"
    assert links("") == {}


def test_every_link_of_the_readme_is_a_file_here() -> None:
    text = (ROOT / "README.md").read_text()
    whole = readme(text, URL)
    targets = re.findall(rf"\]\({re.escape(URL)}/(?:raw|blob)/main/([^)#]+)", whole)
    assert len(targets) > 10
    assert all((ROOT / target).is_file() for target in targets)
    assert not re.findall(r"\]\((?!https?:|#)", whole)
    paths = [link.split("/main/")[1] for link in links(URL).values() if "/main/" in link]
    assert all((ROOT / path).is_file() for path in paths)


@pytest.mark.parametrize("url", ["", URL + "/"])
def test_the_build_takes_the_address_from_one_place(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOUBLEBUBBLE_URL", url)
    metadata: dict[str, object] = {}
    CustomMetadataHook(str(ROOT), {}).update(metadata)
    assert metadata["urls"] == links(url.rstrip("/"))
    assert metadata["readme"] == {
        "content-type": "text/markdown",
        "text": readme((ROOT / "README.md").read_text(), url.rstrip("/")),
    }
