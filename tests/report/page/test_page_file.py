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
from doublebubble.report.page import Gallery, page_text, write_page
from doublebubble.runs.picture_files import picture_path
from doublebubble.runs.store import RunStore, StoredRun, read_run
from tests.report.page.samples import CLASSES, NASTY, large, stored, stored_paper
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
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return stored(tmp_path_factory.mktemp("runs") / NASTY.replace("/", "_"), inputs=range(30))


def test_only_scripts_named_by_their_digest_may_run_and_nothing_may_be_fetched(run: StoredRun) -> None:
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


def test_names_of_runs_and_classes_are_text(run: StoredRun) -> None:
    text = page_text([run], {"cd" * 32: Gallery(CLASSES)})
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


def test_a_run_that_is_not_complete_says_so(run: StoredRun, tmp_path: Path) -> None:
    assert "10 of its inputs are still to be certified" in page_text([run], {})
    assert "still to be certified" not in page_text([stored(tmp_path / "whole")], {})


def test_runs_that_share_no_finished_input_have_no_envelope_but_a_reason(tmp_path: Path) -> None:
    runs = [stored(tmp_path / "half", 0.5, range(20)), stored(tmp_path / "late", 0.25, range(20, 40))]
    text = page_text(runs, {})
    assert "No input is finished in all of half, late" in shown(text)
    assert data(text)["envelopes"] == []
    assert "No input is finished" not in page_text([runs[0], stored(tmp_path / "whole", 0.25)], {})


def test_pictures_and_thumbnails_are_in_the_file(tmp_path: Path) -> None:
    run = stored(tmp_path / "run")
    for index in (3, 99):  # the run has no input 99
        path = picture_path(run.path, index)
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), (200, 10, 10)).save(path)
    images = np.zeros((40, 1, 2, 2), np.uint8)
    content = data(page_text([run], {"cd" * 32: Gallery(CLASSES, tuple(range(40)), images)}))
    runs, thumbnails = content["runs"], content["thumbnails"]
    assert isinstance(runs, list)
    assert isinstance(thumbnails, dict)
    assert list(runs[0]["pictures"]) == ["3"]
    assert runs[0]["pictures"]["3"].startswith("data:image/webp;base64,")
    assert thumbnails["cd" * 32]["indices"] == list(range(40))
    picture_path(run.path, 3).write_bytes(b"no picture")
    with pytest.raises(RunError, match=r"3\.png: expected a picture"):
        page_text([run], {})


def test_a_page_replaces_another_and_failures_leave_it(run: StoredRun, tmp_path: Path) -> None:
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


def draw(run: StoredRun, count: int, seed: int, edge: int = 500) -> None:
    """Pictures of noise, which takes more bytes than any drawing, in the folder of a run."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        path = picture_path(run.path, index)
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (edge, edge, 3), np.uint8)).save(path, compress_level=1)


def test_ten_thousand_colour_images_fit_beside_two_runs_and_their_pictures(tmp_path: Path) -> None:
    """Noise is the hardest to compress: pictures and thumbnails shrink, and the page keeps within 15 MB."""
    runs = [large(tmp_path / "a", 0.25), large(tmp_path / "b", 0.5)]
    for seed, run in enumerate(runs):
        draw(run, 15, seed)
    images = np.random.default_rng(0).integers(0, 256, (10_000, 3, 32, 32), np.uint8)
    text = page_text(runs, {"cd" * 32: Gallery(CLASSES, tuple(range(10_000)), images)})
    assert 13_000_000 < len(text.encode()) < 15_000_000
    content = data(text)
    assert isinstance(content["runs"], list)
    assert isinstance(content["thumbnails"], dict)
    for shown_run, run in zip(content["runs"], runs, strict=True):
        assert shown_run["radius"] == [round(record.radius * 1e6) for record in run.records]
        assert sorted(map(int, shown_run["pictures"])) == list(range(15))
    made = content["thumbnails"]["cd" * 32]
    assert made["indices"] == list(range(10_000))
    assert f"compressed, at {made['width']} x {made['height']} pixels" in shown(text)
    assert "left out" not in shown(text)


def test_what_does_not_fit_is_left_out_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = stored(tmp_path / "run")
    draw(run, 12, 0, edge=200)
    galleries = {"cd" * 32: Gallery(CLASSES, tuple(range(40)), np.zeros((40, 1, 2, 2), np.uint8))}
    whole = page_text([run], galleries)
    assert not re.search("left out|coarser|compressed|numbers of these runs alone", shown(whole))
    bare = len(page_text([stored(tmp_path / "bare")], {}).encode())
    monkeypatch.setattr("doublebubble.report.page.page_file.LIMIT", bare + 120_000)
    coarser = page_text([run], galleries)
    assert len(coarser.encode()) < bare + 120_000 < len(whole.encode())
    assert "Drawn pictures are coarser" in shown(coarser)
    assert "left out" not in shown(coarser)
    monkeypatch.setattr("doublebubble.report.page.page_file.LIMIT", bare + 20_000)
    fewer = page_text([run], galleries)
    assert len(fewer.encode()) < bare + 20_000
    kept = pictures(fewer)
    assert 0 < len(kept) < 12
    assert kept == list(range(len(kept)))
    assert f"{12 - len(kept)} of 12 drawn pictures did not fit into this file" in shown(fewer)
    assert data(fewer)["thumbnails"]


def test_a_page_whose_numbers_pass_the_limit_is_written_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stored(tmp_path / "run")
    draw(run, 2, 0, edge=50)
    galleries = {"cd" * 32: Gallery(CLASSES, tuple(range(40)), np.zeros((40, 1, 2, 2), np.uint8))}
    monkeypatch.setattr("doublebubble.report.page.page_file.LIMIT", 3_000_000)
    text = page_text([run], galleries)
    said = re.search(
        r"The numbers of these runs alone take ([0-9.]+) MB, while such a file should have less than 3 MB", shown(text)
    )
    assert said
    assert float(said[1]) == pytest.approx(len(text.encode()) / 1e6, abs=0.06)
    assert "2 of 2 drawn pictures did not fit" in shown(text)
    assert "Images of the inputs did not fit" in shown(text)
    assert pictures(text) == []
    assert data(text)["thumbnails"] == {}


def pictures(text: str) -> list[int]:
    """The inputs of the first run that have a drawn picture."""
    runs = data(text)["runs"]
    assert isinstance(runs, list)
    return [int(index) for index in runs[0]["pictures"]]
