"""The file as a whole: what it holds and what it does not; the numbers in it are checked in a browser."""

import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.errors import RunError, SettingError
from doublebubble.report.page import Look, page_text, write_page
from doublebubble.runs.pictures import picture_path
from doublebubble.runs.store import Run, RunStore, read_run
from tests.report.page.samples import CLASSES, NASTY, stored, stored_paper
from tests.runs.samples import spec


def data(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', text)
    assert found
    content = json.loads(found[1])
    assert isinstance(content, dict)
    return content


def shown(text: str) -> str:
    """The page without its data, styles and scripts."""
    return re.sub(r"<(script|style)[ >].*?</\1>", "", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return stored(tmp_path_factory.mktemp("runs") / NASTY.replace("/", "_"), inputs=range(30))


def test_only_scripts_named_by_their_digest_may_run_and_nothing_may_be_fetched(run: Run) -> None:
    text = page_text([run], {})
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; ")
    assert text.index(policy[0]) < text.index("<style")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy[1]
    assert "unsafe-inline" not in policy[1].split("style-src")[0]
    assert not re.search(r"(src|href)\s*=", shown(text))


def test_names_of_runs_and_classes_are_text(run: Run) -> None:
    text = page_text([run], {"cd" * 32: Look(CLASSES)})
    assert "<script>window" not in text
    assert "&lt;script&gt;window.hacked=1&lt;_script&gt;" in shown(text)
    content = data(text)
    assert content["classes"] == {"cd" * 32: list(CLASSES)}


def test_numbers_without_a_guarantee_are_marked(tmp_path: Path) -> None:
    paper = stored_paper(tmp_path / "paper")
    marked = shown(page_text([paper], {}))
    # The run's title, its five tiles and the block on how it was made; the sentence and the average say it themselves.
    assert marked.count('<span class="mark">not guaranteed</span>') == 7
    assert '<p class="headline">Not guaranteed: of 12 inputs' in marked
    assert re.search(r"Average certified radius [0-9.]+ \(not guaranteed\)", marked)
    assert "not a guarantee at any level" in marked
    sound = shown(page_text([stored(tmp_path / "sound")], {}))
    assert "not guaranteed" not in sound
    assert "holds with probability at least 1 - alpha" in sound


def test_a_run_that_is_not_complete_says_so(run: Run, tmp_path: Path) -> None:
    assert "10 of its inputs are still to be certified" in page_text([run], {})
    assert "still to be certified" not in page_text([stored(tmp_path / "whole")], {})


def test_pictures_and_thumbnails_are_in_the_file(tmp_path: Path) -> None:
    run = stored(tmp_path / "run")
    for index in (3, 99):  # the run has no input 99
        path = picture_path(run.path, index)
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), (200, 10, 10)).save(path)
    images = np.zeros((40, 1, 2, 2), np.uint8)
    content = data(page_text([run], {"cd" * 32: Look(CLASSES, tuple(range(40)), images)}))
    runs, thumbnails = content["runs"], content["thumbnails"]
    assert isinstance(runs, list)
    assert isinstance(thumbnails, dict)
    assert list(runs[0]["pictures"]) == ["3"]
    assert runs[0]["pictures"]["3"].startswith("data:image/webp;base64,")
    assert thumbnails["cd" * 32]["indices"] == list(range(40))
    picture_path(run.path, 3).write_bytes(b"no picture")
    with pytest.raises(RunError, match=r"3\.png: expected a picture"):
        page_text([run], {})


def test_a_page_replaces_another_and_failures_leave_it(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.raises(SettingError, match="at least one run"):
        write_page([], page)
    assert page.read_text() == "old"
    write_page([run], page)
    assert page.read_bytes().decode() == page_text([run], {})
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(RunError, match="could not be written"):
        write_page([run], tmp_path / "nowhere" / "page.html")


def test_a_run_without_records_has_no_page(tmp_path: Path) -> None:
    with RunStore(tmp_path / "empty", spec()):
        pass
    with pytest.raises(RunError, match="holds no record yet"):
        page_text([read_run(tmp_path / "empty")], {})


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    runs = [stored(tmp_path / "a" / "run"), stored(tmp_path / "b" / "run", 0.25), stored(tmp_path / "c")]
    content = data(page_text([*runs, runs[0]], {}))
    assert isinstance(content["runs"], list)
    names = [run["name"] for run in content["runs"]]
    assert len(set(names)) == 4
    assert names[2] == "c"


def test_ten_thousand_colour_images_fit(tmp_path: Path) -> None:
    """Noise is the hardest to compress: the images below shrink, and the page keeps within 15 MB."""
    rng = np.random.default_rng(0)
    one = stored(tmp_path / "run", inputs=range(1)).records[0]
    radii = rng.permutation(1_500_000)[:10_000] / 1e6
    same = {"label": 1, "prediction": 1, "status": "certified", "counts": {"input": {0: 1234, 1: 5678, 2: 3088}}}
    records = tuple(
        one.model_copy(update={**same, "index": i, "radius": r, "radii": {"cohen": r, "double": r / 2}})
        for i, r in enumerate(radii.tolist())
    )
    run = Run(tmp_path / "large", spec("0:10000", size=10_000), records, torn=False)
    images = rng.integers(0, 256, (10_000, 3, 32, 32), np.uint8)
    text = page_text([run], {"cd" * 32: Look(CLASSES, tuple(range(10_000)), images)})
    assert len(text.encode()) < 15_000_000
    content = data(text)
    assert isinstance(content["runs"], list)
    assert content["runs"][0]["radius"] == [round(radius * 1e6) for radius in radii]
