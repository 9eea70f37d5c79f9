"""MACER against Gaussian training: the publication's figure for CIFAR-10 (Section 5, on alternative training)."""

from doublebubble.report.figure import Panel
from doublebubble.report.plots import ACCURACY
from doublebubble.report.tables import panel_table, share
from doublebubble.reproduce.curves import PROTOCOLS, average_table, best_panel, gather, tables_of
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.runs.statistics import RADII
from doublebubble.runs.store import Run
from doublebubble.training.settings import TrainMethod

SOURCE = "The publication's figure of certified accuracy under MACER training (Section 5), Gaussian training beside it."
_TRAININGS: tuple[tuple[TrainMethod, str], ...] = (("gaussian", "Gaussian training"), ("macer", "MACER"))


def run(lab: Laboratory) -> Results:
    """Train with MACER, certify, then put the figure together."""
    (study,) = lab.available((lab.scale.macer,))
    rows: list[tuple[Panel, ...]] = []
    every: dict[str, tuple[Run, str]] = {}
    for protocol in PROTOCOLS:
        panels = []
        for training, title in _TRAININGS:
            runs = gather(lab, study, protocol, study.curves, training)
            every |= {found.path.name: (found, title) for found in runs.values()}
            panels.append(best_panel(f"{study.dataset}, {title}", protocol, tables_of(runs)))
        rows.append(tuple(panels))
    found = [run for run, _ in every.values()]
    caption = captioned("Certified accuracy of models trained with Gaussian noise and with MACER.", found)
    averages = "Average certified radii. The publication averages over correctly predicted inputs only."
    by_training = {name: title for name, (_, title) in every.items()}
    return Results(
        SOURCE,
        (Figure("macer", f"MACER against Gaussian training: {study.dataset}", tuple(rows), ACCURACY, caption),),
        (
            ("macer", panel_table(rows, RADII, "r", share, caption)),
            ("average-radius", average_table(found, captioned(averages, found, bands=""), by_training)),
        ),
    )
