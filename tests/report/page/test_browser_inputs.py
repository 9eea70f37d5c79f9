"""The table of inputs and the detail of each, in Chromium, against `load_run`."""

from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pytest
from playwright.sync_api import Page

from doublebubble import load_run
from doublebubble.runs.store import StoredRun
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


def class_name(number: int, label: int) -> str:
    """A class as the page names it; an imported run does not know the names."""
    if label == -1:
        return "none"
    return f"class {label}" if number == 3 else CLASSES[label]


def squeezed(text: str) -> str:
    return " ".join(text.split())


MARKS = {2: "not guaranteed", 3: "guarantee not stated", 4: "not guaranteed"}


@pytest.mark.parametrize("number", range(5))
def test_the_table_holds_every_input_and_sorts_and_filters(shown: Shown, runs: list[StoredRun], number: int) -> None:
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
    mark = f" {MARKS[number]}" if number in MARKS else ""
    for row in rows:
        record = records[int(row[1])]
        failed = record["status"] == "failed"
        assert row[2:4] == [squeezed(class_name(number, record[name])) for name in ("label", "prediction")]
        assert row[4] == floored(record["radius"], 4) + ("" if failed else mark)
        assert row[6] == outcome(record)
        assert row[5] == ("double" if number != 3 and not failed else "")
    for word in ("correct", "wrong", "abstained", "failed"):
        page.locator("#inputs-filter").select_option(word)
        wanted = [index for index, record in records.items() if outcome(record) == word]
        found = all_rows(page)
        assert sorted(int(row[1]) for row in found if len(row) > 1) == wanted
    page.locator("#inputs-filter").select_option("all")
    page.locator(".rows th.index-column button").click()


@pytest.mark.parametrize("number", range(5))
def test_the_detail_of_every_input_is_its_record(shown: Shown, runs: list[StoredRun], number: int) -> None:
    page, run = shown.page, runs[number]
    table = by_index(load_run(run.path))
    for record in run.records:
        select_input(page, number, record.index)
        found, row = read(page), table[record.index]
        failed = record.status == "failed"
        label, predicted = (class_name(number, row[name]) for name in ("label", "prediction"))
        opening = "No class named" if predicted == "none" else f"Predicted {predicted}"
        assert found["verdict"] == squeezed(f"{opening}, label {label}: {outcome(row)}.")
        assert found["radius"] == f"radius {floored(row['radius'], 6)}" + ("" if failed else MARKS.get(number, ""))
        seconds = f"{row['seconds']:.3f} s"
        assert found["cost"] == (f"{row['draws']} draws, {seconds}" if row["draws"] else seconds)
        if failed and number != 3:
            assert found["error"] == squeezed(str(row["error"]))
        if failed or number == 3:
            assert (found["bars"], found["balls"]) == ([], [])
            continue
        votes = record.counts.get("input", record.counts["select"])
        ranked = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
        total = sum(votes.values())
        named = [f"{squeezed(CLASSES[label])}|{count} ({percent(count, total)})" for label, count in ranked]
        radii = [f"{name}|{floored(row[f'radius_{name}'], 6)}" for name in ("cohen", "double")]
        assert found["bars"] == [named, radii]
        purpose = "certify" if "input" in record.counts else "select its class"
        assert found["voters"] == f"{total} draws around the input that {purpose}, and their votes"
        assert found["plan"] == f"double: {record.reason}"
        assert found["balls"] == [
            [
                "the input" if ball.centre is None else "another point",
                str(Decimal(ball.radius).quantize(Decimal("0.000001"), ROUND_FLOOR)),
                str(ball.n),
                f"{ball.alpha:g}",
            ]
            for ball in record.balls
        ]


def read(page: Page) -> dict[str, Any]:
    """All that the detail says, white space squeezed, in one question to the browser."""
    found: dict[str, Any] = page.locator(".detail").evaluate(
        """(detail) => {
          const text = (one) => one ? one.textContent.split(/\\s+/).filter((word) => word).join(" ") : null;
          const all = (where, what) => [...where.querySelectorAll(what)];
          const after = (title) => all(detail, "h4").find((one) => one.textContent.startsWith(title))?.nextSibling;
          const bar = (one) => `${text(one.querySelector(".bar-name"))}|${text(one.querySelector(".bar-value"))}`;
          return {
            verdict: text(detail.querySelector(".verdict")),
            radius: text(detail.querySelector(".radius")),
            error: text(detail.querySelector(".error")),
            bars: all(detail, ".bars").map((list) => all(list, "li").map(bar)),
            voters: text(after("Votes")),
            plan: text(after("Plan")),
            balls: all(detail, ".balls tbody tr").map((row) => all(row, "td").map(text)),
            cost: text(detail.lastChild),
          };
        }"""
    )
    return found


def test_long_names_can_be_read_whole(shown: Shown) -> None:
    """In the table they are cut and stand whole in the title; in the bars they are not cut."""
    page = shown.page
    select_input(page, 0, 1)
    row = page.locator(".rows tr[aria-current]")
    assert row.locator(".label-column").evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert row.locator(".label-column").get_attribute("title") == CLASSES[1]
    assert row.locator(".prediction-column").get_attribute("title") in (*CLASSES, "none")
    shown_whole = "(all) => all.map((one) => one.scrollWidth <= one.clientWidth || one.clientWidth === 0)"
    names = page.locator(".detail .bar-name")
    assert squeezed(CLASSES[1]) in [squeezed(text) for text in names.all_inner_texts()]
    assert names.evaluate_all("(all) => all.every((one) => getComputedStyle(one).whiteSpace === 'normal')")
    assert all(names.evaluate_all(shown_whole))


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
