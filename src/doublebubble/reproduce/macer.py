"""MACER against Gaussian training: the publication's figure for CIFAR-10 (Section 5, on alternative training)."""

from dataclasses import replace

from doublebubble.report.figure import Panel
from doublebubble.report.plots import ACCURACY
from doublebubble.report.tables import panel_table, share
from doublebubble.reproduce.curves import average_table, best_panels, furthest, gather
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.reproduce.scales import Scale, Study
from doublebubble.reproduce.training_cost import training_cost
from doublebubble.runs.statistics import RADII
from doublebubble.runs.store import StoredRun
from doublebubble.types import TrainMethod

SOURCE = "The publication's figure of certified accuracy under MACER training (Section 5), Gaussian training beside it."
_TRAININGS: tuple[tuple[TrainMethod, str], ...] = (("gaussian", "Gaussian training"), ("macer", "MACER"))


def equal_time_study(scale: Scale, study: Study) -> Study:
    """The same study with Gaussian training for as long as MACER's takes."""
    training = {**study.training, "epochs": scale.equal_time_epochs}
    return replace(study, training=training, label=f"{study.name}-equal-time")


def run(lab: Laboratory) -> Results:
    """Train with MACER, time that, certify, then put the figure together."""
    (study,) = lab.available((lab.scale.macer,))
    study = replace(study, published_on_all=False)  # all trainings on the first inputs
    training_cost(lab, study)
    found: list[StoredRun] = []
    by_training: dict[str, str] = {}
    rows: list[tuple[Panel, ...]] = []
    trained = {title: gather(lab, study, study.curves, training) for training, title in _TRAININGS}
    if lab.scale.equal_time_epochs:
        trained["Gaussian, equal time"] = gather(lab, equal_time_study(lab.scale, study), study.curves)
    to = furthest(*trained.values())
    for title, gathered in trained.items():
        found += gathered.runs
        by_training |= {run.path.name: title for run in gathered.runs}
        rows += [best_panels(f"{title}, ", protocol, tables, to) for protocol, tables in gathered.frames.items()]
    caption = captioned("Certified accuracy of models trained with Gaussian noise and with MACER.", found)
    return Results(
        SOURCE,
        (Figure("macer", f"MACER against Gaussian training: {study.name}", tuple(rows), ACCURACY, caption),),
        (
            ("macer", panel_table(rows, RADII, "r", share, caption)),
            ("average-radius", average_table(found, by_training)),
        ),
    )
