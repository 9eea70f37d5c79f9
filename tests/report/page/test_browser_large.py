"""A page of ten thousand inputs in Chromium: it opens, sorts and shows them without a word of complaint."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext

from doublebubble.report.page import Gallery, write_page
from tests.report.page.looking import opened, texts
from tests.report.page.samples import CLASSES, large

pytestmark = pytest.mark.browser


def test_ten_thousand_inputs_open_and_sort(context: BrowserContext, tmp_path: Path) -> None:
    run = large(tmp_path / "run", 0.5)
    tone = (np.arange(10_000) % 251).astype(np.uint8)
    images = np.broadcast_to(tone[:, None, None, None], (10_000, 1, 4, 4))
    write_page([run], tmp_path / "page.html", {"cd" * 32: Gallery(CLASSES, tuple(range(10_000)), images)})
    shown = opened(context, tmp_path / "page.html")
    page = shown.page
    assert texts(page, ".pager .quiet") == ["1 to 25 of 10000"]
    ordered = sorted(run.records, key=lambda record: (record.radius, record.index))
    head = page.locator(".rows th.radius-column button")
    for expected in (ordered, ordered[::-1]):
        head.click()
        assert texts(page, ".rows td.index-column") == [str(record.index) for record in expected[:25]]
        page.locator(".pager button").nth(3).click()
        assert texts(page, ".rows td.index-column") == [str(record.index) for record in expected[-25:]]
    assert len({record.radius for record in run.records}) == 10_000
    page.locator("input[name=wanted]").fill("9876")
    page.locator("input[name=wanted]").press("Enter")
    record = run.records[9_876]
    assert texts(page, ".detail .radius") == [f"radius {record.radius:.6f}"]
    assert len(texts(page, ".detail .bars:last-of-type li")) == 6
    page.wait_for_timeout(500)
    pixel = "(one) => [...one.getContext('2d').getImageData(0, 0, 1, 1).data]"
    assert page.locator(".detail canvas").evaluate(pixel) == [tone[9_876]] * 3 + [255]
    assert shown.troubles == []
