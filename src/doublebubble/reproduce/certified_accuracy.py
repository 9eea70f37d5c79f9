"""Certified accuracy over radius: the publication's first results figure (Section 5, "Certified accuracy").

For every data set, at two sigmas: Cohen's radius, and the largest radius under approximate and under full gradients;
then every method by itself. `sound` shows, in place of the largest, the plan that was fixed before the draws.
"""

from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import Panel
from doublebubble.report.measures import REPORTED
from doublebubble.report.plots import ACCURACY, method_lines, reach
from doublebubble.report.tables import panel_table, share
from doublebubble.reproduce.curves import PROTOCOLS, average_table, best_panel, gather
from doublebubble.reproduce.laboratory import GRADIENTS, METHODS, Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.runs.statistics import RADII
from doublebubble.runs.store import Run

SOURCE = "The publication's figure of certified accuracy over radius (Section 5), for each data set."


def run(lab: Laboratory) -> Results:
    """Certify, then put the figures together."""
    studies = lab.available(tuple(study.dataset for study in lab.scale.studies))
    every: list[Run] = []
    best: list[list[Panel]] = [[] for _ in PROTOCOLS]
    figures: list[Figure] = []
    for study in studies:
        found = gather(lab, study, study.curves)
        rows = []
        for row, (protocol, tables) in zip(best, found.frames.items(), strict=True):
            row.append(best_panel(study.dataset, protocol, tables))
            methods = METHODS[protocol] if protocol == "paper" else (*METHODS[protocol], REPORTED)
            to = reach(list(tables.values()))
            rows.append(
                tuple(
                    Panel(
                        f"sigma {sigma:g}, {gradient} gradient\nprotocol {protocol_name(protocol)}",
                        method_lines(tables[sigma, gradient], methods, to),
                    )
                    for sigma in study.curves
                    for gradient in GRADIENTS
                )
            )
        what = "Certified accuracy of each method by itself: inputs that are right and certified at least so far."
        title = f"Certified accuracy by method: {study.dataset}"
        figures.append(Figure(f"by-method-{study.dataset}", title, tuple(rows), ACCURACY, captioned(what, found.runs)))
        every += found.runs
    what = "Certified accuracy: the proportion of inputs that are right and certified at least so far."
    caption = captioned(what, every)
    panels = tuple(tuple(row) for row in best)
    return Results(
        SOURCE,
        (Figure("certified-accuracy", "Certified accuracy", panels, ACCURACY, caption), *figures),
        (
            ("certified-accuracy", panel_table(panels, RADII, "r", share, caption)),
            ("average-radius", average_table(every)),
        ),
    )
