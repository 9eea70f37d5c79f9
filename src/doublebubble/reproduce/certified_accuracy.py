"""Certified accuracy over radius: the publication's first results figure (Section 5, "Certified accuracy").

For every data set, at two sigmas: Cohen's radius, and the largest radius under approximate and under full gradients;
then every method by itself. `sound` shows, in place of the largest, the plan that was fixed before the draws.
"""

from dataclasses import replace

from doublebubble import registry
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import Panel
from doublebubble.report.measures import REPORTED
from doublebubble.report.plots import ACCURACY, method_lines, panels_of
from doublebubble.report.tables import panel_table, share
from doublebubble.reproduce.curves import average_table, best_panels, furthest, gather
from doublebubble.reproduce.laboratory import GRADIENTS, Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.runs.statistics import RADII
from doublebubble.runs.store import StoredRun

SOURCE = "The publication's figure of certified accuracy over radius (Section 5), for each data set."
_BEST = "Certified accuracy: the proportion of inputs that are right and certified at least so far."
_BY_METHOD = "Certified accuracy of each method by itself: inputs that are right and certified at least so far."


def run(lab: Laboratory) -> Results:
    """Certify, then put the figures together."""
    studies = lab.available(lab.scale.names)
    every: list[StoredRun] = []
    best: list[tuple[Panel, ...]] = []
    figures: list[Figure] = []
    for study in studies:
        found = gather(lab, study, study.curves)
        to = furthest(found)
        rows = [best_panels("", protocol, tables, to) for protocol, tables in found.frames.items()]
        best += [tuple(replace(panel, title=f"{study.name}, {panel.title}") for panel in row) for row in rows]
        title = f"Certified accuracy: {study.name}"
        caption = captioned(_BEST, found.runs)
        figures.append(Figure(f"certified-accuracy-{study.name}", title, tuple(rows), ACCURACY, caption))
        rows = []
        for protocol, tables in found.frames.items():
            methods = registry.names(protocol) if protocol == "paper" else (*registry.names(protocol), REPORTED)
            rows.append(
                tuple(
                    panel
                    for sigma in study.curves
                    for gradient in GRADIENTS
                    for panel in panels_of(
                        f"sigma {sigma:g}, {gradient} gradient\nprotocol {protocol_name(protocol)}",
                        method_lines(tables[sigma, gradient], methods, to),
                    )
                )
            )
        title = f"Certified accuracy by method: {study.name}"
        caption = captioned(_BY_METHOD, found.runs)
        figures.append(Figure(f"by-method-{study.name}", title, tuple(rows), ACCURACY, caption))
        every += found.runs
    return Results(
        SOURCE,
        tuple(figures),
        (
            ("certified-accuracy", panel_table(best, RADII, "r", share, captioned(_BEST, every))),
            ("average-radius", average_table(every)),
        ),
    )
