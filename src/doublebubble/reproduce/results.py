"""What an experiment leaves behind: figures, tables, and a page that lists them with their captions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from doublebubble.files import write_whole
from doublebubble.report.axes import AxesStyle
from doublebubble.report.captions import BANDS, provenance
from doublebubble.report.figure import Panel, draw, pages, save
from doublebubble.report.tables import Table, markdown, save_table
from doublebubble.runs.store import StoredRun


@dataclass(frozen=True)
class Figure:
    """A figure yet to be drawn."""

    name: str
    title: str
    panels: tuple[tuple[Panel, ...], ...]
    style: AxesStyle
    caption: str


@dataclass(frozen=True)
class Results:
    """What one experiment found; `source` says which figure or table of the publication it is."""

    source: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()


def captioned(what: str, runs: Sequence[StoredRun], bands: str = BANDS) -> str:
    """A caption: what is shown, then where it comes from and what stands behind it."""
    return " ".join(part for part in (what, provenance(runs), bands) if part)


def write(results: Results, folder: Path, title: str, scale: str) -> list[Path]:
    """Draw and write everything; the paths of what was written, the page that lists it last.

    A figure's caption is the file NAME.md beside it; every title and caption names the scale. The numbers of a figure
    are the table NAME-numbers. A figure higher than a page comes in parts with the same axes, NAME-1, NAME-2.
    """
    written: list[Path] = []
    for figure in results.figures:
        for name, heading, panels in _parts(figure, scale):
            drawn = draw(panels, figure.style, heading, figure.panels)
            written += save(drawn, folder / name, _scaled(figure.caption, scale))
    for name, table in _tables(results, scale):
        written += save_table(table, folder / name)
    page = folder / "README.md"
    write_whole(page, listing(results, title, scale).encode())
    return [*written, page]


def listing(results: Results, title: str, scale: str) -> str:
    """The page that lists figures with their captions, and the tables."""
    page = [f"# {title}, scale {scale}", results.source]
    for figure in results.figures:
        for name, heading, _ in _parts(figure, scale):
            page.append(f"## {heading}\n\n![{heading}]({name}.png)\n\n{_scaled(figure.caption, scale)}")
    for name, table in _tables(results, scale):
        page.append(f"## {name.replace('-', ' ').capitalize()}\n\n{markdown(table).rstrip()}")
    return "\n\n".join(page) + "\n"


def _parts(figure: Figure, scale: str) -> Iterator[tuple[str, str, Sequence[Sequence[Panel]]]]:
    """For each page of a figure its name, heading and panels."""
    parts = pages(figure.panels)
    for number, panels in enumerate(parts, start=1):
        part = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        yield (f"{figure.name}-{number}" if part else figure.name), f"{figure.title}{part} (scale {scale})", panels


def _tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    drawn = {figure.name for figure in results.figures}
    for short, plain in results.tables:
        yield (f"{short}-numbers" if short in drawn else short), replace(plain, caption=_scaled(plain.caption, scale))


def _scaled(caption: str, scale: str) -> str:
    return f"{caption} Scale {scale}."
