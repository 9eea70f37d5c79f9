"""What the page should say, computed anew from the frames of `load_run`, and how well a text can be read."""

import math
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pandas as pd
from playwright.sync_api import Page
from scipy.stats import binomtest


def certified(table: pd.DataFrame, radius: float, column: str = "radius") -> int:
    count = 0
    for _, row in table.iterrows():
        right = row["prediction"] == row["label"]
        if column != "radius":
            right = right and row[column] > 0
        count += bool(right and row[column] >= radius)
    return count


def percent(count: int, n: int) -> str:
    return f"{math.floor(1000 * count / n + 0.5 + 1e-12) / 10:.1f} %"


def limits(count: int, n: int) -> str:
    exact = binomtest(count, n).proportion_ci(0.95, "exact")
    low = math.floor(1000 * exact.low - 1e-8) if count else 0
    high = math.ceil(1000 * exact.high + 1e-8) if count < n else 1000
    return f"{low / 10:.1f} to {high / 10:.1f} %"


def floored(radius: float, decimals: int) -> str:
    return str(Decimal(str(radius)).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_FLOOR))


def expected_curve(table: pd.DataFrame, column: str = "radius") -> list[tuple[float, float]]:
    right = table[table["prediction"] == table["label"]]
    lengths = [float(value) for value in right[column] if column == "radius" or value > 0]
    corners = sorted({0.0, *lengths})
    points = [(radius, sum(length >= radius for length in lengths) / len(table)) for radius in corners]
    return [*points, (corners[-1], 0.0)]


def by_index(table: pd.DataFrame) -> dict[int, dict[str, Any]]:
    return {int(row["index"]): {str(name): value for name, value in row.items()} for _, row in table.iterrows()}


def outcome(row: Mapping[str, Any]) -> str:
    if row["status"] == "failed":
        return "failed"
    if row["prediction"] == -1:
        return "abstained"
    return "correct" if row["prediction"] == row["label"] else "wrong"


def contrast(page: Page, selector: str) -> float:
    """The contrast of an element's text with the first ground behind it that is not transparent."""
    colours = page.locator(selector).first.evaluate(
        """(one) => {
          const numbers = (text) => text.match(/[0-9.]+/g).map(Number);
          let under = one;
          while (numbers(getComputedStyle(under).backgroundColor)[3] === 0) under = under.parentElement;
          return [numbers(getComputedStyle(one).color), numbers(getComputedStyle(under).backgroundColor)];
        }"""
    )
    light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def average_radius(table: pd.DataFrame) -> float:
    """Rounded down to 6 decimals."""
    total = sum(float(row["radius"]) for _, row in table.iterrows() if row["prediction"] == row["label"])
    return math.floor(1e6 * total / len(table) + 1e-6) / 1e6
