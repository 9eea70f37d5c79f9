"""Influence of the first step size: the appendix's figures for CIFAR-10 and Tiny-ImageNet.

Only protocol `paper` has such a step: the search before a sound certificate chooses its own.
"""

import pandas as pd

from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import Panel
from doublebubble.report.measures import mean_gain
from doublebubble.report.plots import BY_STEP, panels_of, spoken, step_lines
from doublebubble.report.tables import EMPTY, Table, length
from doublebubble.reproduce.laboratory import GRADIENTS, Laboratory, Wanted
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame

SOURCE = (
    "The appendix's figures of the average gain over Cohen against the first step size: CIFAR-10 and Tiny-ImageNet."
)
_METHODS = ("single", "boundary", "double")
_BANDS = "Bands: 95 % over the choice of inputs (Student); none below 6 inputs."


def run(lab: Laboratory) -> Results:
    """Certify with every first step, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.stepped):
        every: list[StoredRun] = []
        panels: list[Panel] = []
        rows = []
        for gradient in GRADIENTS:
            frames = {}
            for step in lab.scale.steps:
                found = lab.run(Wanted(study, lab.scale.step_sigma, "paper", gradient, first_step=step))
                every.append(found)
                frames[step] = frame(found)
            title = f"sigma {lab.scale.step_sigma:g}, {gradient} gradient\nprotocol {protocol_name('paper')}"
            panels += panels_of(title, step_lines(frames, _METHODS, gradient))
            rows += _rows(frames, gradient)
        caption = captioned("Mean gain over Cohen's radius, correctly predicted inputs only.", every, _BANDS)
        title = f"Gain over Cohen by first step: {study.name}"
        figures.append(Figure(f"step-size-{study.name}", title, (tuple(panels),), BY_STEP, caption))
        columns = ("protocol", "gradient", "method", "first step", "mean gain, correct inputs", "mean gain, all inputs")
        tables.append((f"step-size-{study.name}", Table(caption, columns, tuple(rows), grouped=True)))
    return Results(SOURCE, tuple(figures), tuple(tables))


def _rows(frames: dict[float, pd.DataFrame], gradient: str) -> list[tuple[str, ...]]:
    rows = []
    for method in _METHODS:
        for step, table in sorted(frames.items()):
            gains = [mean_gain(table, method, correct_only) for correct_only in (True, False)]
            cells = [EMPTY if gain is None else length(gain) for gain in gains]
            rows.append((protocol_name("paper"), gradient, spoken(method), f"{step:g}", *cells))
    return rows
