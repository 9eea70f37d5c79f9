"""Which method is largest, over sigma: the publication's figure for Tiny-ImageNet, and the appendix's for the others.

The proportion of correctly predicted inputs for which each method has the largest radius; ties go to the simplest, so
that Cohen has those on which nothing improves.
"""

from doublebubble import registry
from doublebubble.report.plots import WINNERS, winner_lines
from doublebubble.report.tables import panel_table, share
from doublebubble.reproduce.curves import gather, sigma_rows
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned

SOURCE = (
    "The publication's figures of the proportion of inputs on which each approach is largest: Tiny-ImageNet in "
    "Section 5, MNIST and CIFAR-10 in the appendix."
)
_WHAT = (
    "Proportion of correctly predicted inputs on which each method's radius is the largest; among equals the simplest "
    "wins. That a radius is the largest of several does not make it a certificate."
)


def run(lab: Laboratory) -> Results:
    """Certify, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.names):
        found = gather(lab, study, study.sigmas)
        rows = sigma_rows(
            found, study.sigmas, lambda frames, protocol, _: winner_lines(frames, registry.names(protocol))
        )
        caption = captioned(_WHAT, found.runs)
        title = f"Which radius is largest: {study.name}"
        figures.append(Figure(f"winners-{study.name}", title, tuple(rows), WINNERS, caption))
        tables.append((f"winners-{study.name}", panel_table(rows, study.sigmas, "sigma", share, caption)))
    return Results(SOURCE, tuple(figures), tuple(tables))
