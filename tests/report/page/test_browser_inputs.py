"""The table of inputs and the detail of each, in Chromium, against `load_run`."""

from decimal import ROUND_FLOOR, Decimal

import pytest
from playwright.sync_api import Page

from doublebubble import load_run
from doublebubble.runs.store import Run
from tests.report.page.looking import Shown, select_input
from tests.report.page.samples import CLASSES, SIZE
from tests.report.page.truth import by_index, floored, outcome, percent

pytestmark = pytest.mark.browser


def listed(page: Page) -> list[list[str]]:
    rows = page.locator(".rows tbody tr").all()
    return [[" ".join(text.split()) for text in row.locator("td").all_inner_texts()] for row in rows]


def all_rows(page: Page) -> list[list[str]]:
    found = listed(page)
    while page.locator(".pager button").nth(2).is_enabled():
        page.locator(".pager button").nth(2).click()
        found += listed(page)
    if page.locator(".pager button").first.is_enabled():
        page.locator(".pager button").first.click()
    return found


@pytest.mark.parametrize("number", range(4))
def test_the_table_holds_every_input_and_sorts_and_filters(shown: Shown, runs: list[Run], number: int) -> None:
    page, table = shown.page, load_run(runs[number].path)
    page.locator("#inputs-run").select_option(str(number))
    page.locator("#inputs-filter").select_option("all")
    head = page.locator(".rows th.radius-column")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    rows = all_rows(page)
    radii = [float(row[4].split()[0]) for row in rows]
    assert radii == sorted(radii, reverse=True)
    assert sorted(int(row[1]) for row in rows) == table["index"].tolist()
    records = by_index(table)
    mark = {2: " not guaranteed", 3: " guarantee not stated"}.get(number, "")
    for row in rows:
        record = records[int(row[1])]
        failed = record["status"] == "failed"
        assert row[4] == floored(record["radius"], 4) + ("" if failed else mark)
        assert row[6] == outcome(record)
        assert row[5] == ("double" if number < 3 and not failed else "")
    for word in ("correct", "wrong", "abstained", "failed"):
        page.locator("#inputs-filter").select_option(word)
        wanted = [index for index, record in records.items() if outcome(record) == word]
        found = all_rows(page)
        assert sorted(int(row[1]) for row in found if len(row) > 1) == wanted
    page.locator("#inputs-filter").select_option("all")
    page.locator(".rows th.index-column button").click()


@pytest.mark.parametrize("number", range(3))
def test_the_detail_of_every_input_is_its_record(shown: Shown, runs: list[Run], number: int) -> None:
    page, run = shown.page, runs[number]
    table = by_index(load_run(run.path))
    for record in sorted(run.records, key=lambda one: one.index)[:16]:
        select_input(page, number, record.index)
        detail, row = page.locator(".detail"), table[record.index]
        text = " ".join(detail.inner_text().split())
        assert f"radius {floored(row['radius'], 6)}" in text
        assert outcome(row) in detail.locator(".verdict").inner_text()
        assert ("not guaranteed" in text) == (number == 2)
        if record.status == "failed":
            continue
        bars = [" ".join(one.split()) for one in detail.locator(".bars").nth(1).locator("li").all_inner_texts()]
        assert bars == [f"{name} {floored(row[f'radius_{name}'], 6)}" for name in ("cohen", "double")]
        votes = record.counts.get("input", record.counts["select"])
        ranked = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
        names = [" ".join(CLASSES[label].split()) for label, _ in ranked]
        bars = [" ".join(one.split()) for one in detail.locator(".bars").nth(0).locator("li").all_inner_texts()]
        total = sum(votes.values())
        assert bars == [
            f"{name} {count} ({percent(count, total)})" for name, (_, count) in zip(names, ranked, strict=True)
        ]
        assert record.reason in text
        for line, ball in zip(detail.locator(".balls tbody tr").all(), record.balls, strict=True):
            cells = line.locator("td").all_inner_texts()
            own = "the input" if ball.centre is None else "another point"
            assert cells == [
                own,
                str(Decimal(ball.radius).quantize(Decimal("0.000001"), ROUND_FLOOR)),
                str(ball.n),
                f"{ball.alpha:g}",
            ]
        assert f"{row['draws']} draws" in text


def test_a_stored_picture_and_the_thumbnail_are_shown(shown: Shown) -> None:
    page = shown.page
    page.locator("#inputs-run").select_option("0")
    page.locator("#inputs-filter").select_option("with a drawn picture")
    assert [row[1] for row in listed(page)] == ["5"]
    select_input(page, 0, 5)
    assert (
        page.locator(".detail img.picture").evaluate("async (one) => { await one.decode(); return one.naturalWidth }")
        == 60
    )
    page.wait_for_timeout(200)
    pixel = "(one) => [...one.getContext('2d').getImageData(0, 0, 1, 1).data]"
    assert page.locator(".detail canvas").evaluate(pixel) == [0, 30, 0, 255]
    page.locator(".detail .enlarge").press("Enter")
    assert page.locator("dialog[open] img").is_visible()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    select_input(page, 0, 6)
    assert page.locator(".detail img.picture").count() == 0
    page.wait_for_timeout(200)
    assert page.locator(".detail canvas").evaluate(pixel) == [0, 36, 0, 255]


def test_the_table_works_by_keyboard(shown: Shown) -> None:
    page = shown.page
    select_input(page, 0, 0)
    page.locator(".rows tbody button[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "2"
    assert page.locator(".detail h3").inner_text() == "Input 0"
    page.keyboard.press("Enter")
    assert page.locator(".detail h3").inner_text() == "Input 2"
    assert page.locator(".rows tr[aria-current]").count() == 1
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == str(SIZE - 1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert page.locator(".detail h3").inner_text() == f"Input {SIZE - 2}"
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.textContent") == "0"
    assert page.locator(".rows tbody button[tabindex='0']").count() == 1
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    assert shown.troubles == []
