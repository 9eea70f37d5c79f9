"""Gain over Cohen against Cohen's radius: the publication's figure for Tiny-ImageNet, the appendix's for the others.

The median over inputs whose Cohen radius is within 0.075 of r, for each method and gradient, at two sigmas.
"""

from doublebubble import registry
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import Panel
from doublebubble.report.measures import REPORTED
from doublebubble.report.plots import BY_RADIUS, panels_of, radius_lines, window_centres
from doublebubble.report.tables import panel_table, percent
from doublebubble.reproduce.curves import gather
from doublebubble.reproduce.laboratory import GRADIENTS, Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.types import Protocol

SOURCE = (
    "The publication's figures of the percentage improvement over Cohen for varying r: Tiny-ImageNet in Section 5, "
    "MNIST and CIFAR-10 in the appendix."
)
_WHAT = (
    "Gain over Cohen's radius in percent: the median over correctly predicted inputs whose Cohen radius is within "
    "0.075 of r; no band where fewer than 6 inputs are, and no line where none is. If a gain exceeds 20 %, heights "
    "beyond 10 % are logarithmic."
)
_COLUMNS = 8


def run(lab: Laboratory) -> Results:
    """Certify, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.names):
        found = gather(lab, study, study.curves)
        rows = []
        centres = window_centres([table for frames in found.frames.values() for table in frames.values()])
        for protocol, frames in found.frames.items():
            panels: list[Panel] = []
            for sigma in study.curves:
                for gradient in GRADIENTS:
                    lines = radius_lines(frames[sigma, gradient], compared(protocol, gradient), gradient, centres)
                    title = f"sigma {sigma:g}, {gradient} gradient\nprotocol {protocol_name(protocol)}"
                    panels += panels_of(title, lines)
            rows.append(tuple(panels))
        title = f"Gain over each protocol's own Cohen by radius: {study.name}"
        caption = captioned(_WHAT, found.runs)
        figures.append(Figure(f"improvement-by-radius-{study.name}", title, tuple(rows), BY_RADIUS, caption))
        filled = sorted({x for row in rows for panel in row for line in panel.lines for x in line.points})
        chosen = filled[:: max(1, -(-len(filled) // _COLUMNS))]
        tables.append((f"improvement-by-radius-{study.name}", panel_table(rows, chosen, "r", percent, caption)))
    return Results(SOURCE, tuple(figures), tuple(tables))


def compared(protocol: Protocol, gradient: str) -> tuple[str, ...]:
    """What is set against Cohen: the methods that the gradient's kind steers, and under `sound` also the others.

    Those are shown once, beside full gradients.
    """
    cards = [card for card in registry.cards(protocol) if card.name != "cohen"]
    steered = tuple(card.name for card in cards if card.steered)
    if protocol == "paper" or gradient != "full":
        return steered
    return (*steered, *(card.name for card in cards if not card.steered), REPORTED)
