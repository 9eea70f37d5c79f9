"""A page in Chromium: opening it, watching it, finding things on it."""

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Route


@dataclass
class Shown:
    """A page in a browser, and all that went wrong on it or left it."""

    page: Page
    troubles: list[str]


def opened(context: BrowserContext, file: Path) -> Shown:
    page, troubles = context.new_page(), list[str]()

    def route(request: Route) -> None:
        if request.request.url.startswith((file.as_uri(), "data:")):
            request.continue_()
        else:
            troubles.append(f"request: {request.request.url}")
            request.abort()

    page.route("**/*", route)
    page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
    page.goto(file.as_uri())
    return Shown(page, troubles)


def texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def select_input(page: Page, run: int, index: int) -> None:
    page.locator("#inputs-filter").select_option("all")
    page.locator("#inputs-run").select_option(str(run))
    page.locator("input[name=wanted]").fill(str(index))
    page.locator("input[name=wanted]").press("Enter")
    assert page.locator(".detail h3").inner_text() == f"Input {index}"
