"""Median gain over Cohen, over sigma: the publication's last figure of Section 5, and the appendix's for the others."""

from doublebubble.report.plots import BY_SIGMA, sigma_lines
from doublebubble.report.tables import panel_table, percent
from doublebubble.reproduce.curves import average_table, gather, sigma_rows
from doublebubble.reproduce.improvement_by_radius import compared
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned

SOURCE = (
    "The publication's figures of the median percentage improvement over Cohen across sigma: Tiny-ImageNet in "
    "Section 5, MNIST and CIFAR-10 in the appendix."
)
_WHAT = (
    "Gain over Cohen's radius in percent: the median over correctly predicted inputs; no band below 6 inputs. If a "
    "gain or its band exceeds 20 %, heights beyond 10 % are logarithmic."
)


def run(lab: Laboratory) -> Results:
    """Certify, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.names):
        found = gather(lab, study, study.sigmas)
        rows = sigma_rows(
            found,
            study.sigmas,
            lambda frames, protocol, gradient: sigma_lines(frames, compared(protocol, gradient), gradient),
        )
        caption = captioned(_WHAT, found.runs)
        title = f"Gain over each protocol's own Cohen by noise: {study.name}"
        name = f"improvement-by-sigma-{study.name}"
        figures.append(Figure(name, title, tuple(rows), BY_SIGMA, caption))
        tables.append((name, panel_table(rows, study.sigmas, "sigma", percent, caption)))
        tables.append((f"average-radius-{study.name}", average_table(found.runs)))
    return Results(SOURCE, tuple(figures), tuple(tables))
