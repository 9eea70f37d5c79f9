"""Wall-clock time of each method: the publication's table of times (Section 5, "Numerical performance").

Each method has runs of its own, so that it pays for everything it needs and for nothing else. Times depend on the
machine; the table names it.
"""

from dataclasses import replace

from doublebubble.report.facts import protocol_name
from doublebubble.report.measures import mean_seconds
from doublebubble.report.tables import EMPTY, Table, seconds
from doublebubble.reproduce.curves import PROTOCOLS
from doublebubble.reproduce.laboratory import GRADIENTS, Laboratory, Wanted
from doublebubble.reproduce.results import Results, captioned
from doublebubble.reproduce.scales import Scale, Study
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame
from doublebubble.types import GradientKind, Method

SOURCE = "The publication's table of average wall-clock times for one input (Section 5), there at 1000 draws on a P100."
_COLUMNS: tuple[tuple[str, Method, GradientKind], ...] = (
    ("Cohen", "cohen", "approximate"),
    *((f"{m}, {gradient}", m, gradient) for gradient in GRADIENTS for m in ("single", "boundary", "double")),
)


def timing_wishes(scale: Scale, study: Study) -> list[Wanted]:
    """The runs behind a study's rows: under each protocol, in the order of the columns."""
    timed = replace(study, n=scale.timing_n, inputs=scale.timing_inputs, wide=0)
    return [
        Wanted(timed, scale.timing_sigma, protocol, gradient, methods=(method,))
        for protocol in PROTOCOLS
        for _, method, gradient in _COLUMNS
    ]


def run(lab: Laboratory) -> Results:
    """Certify with each method alone, then average the times."""
    scale = lab.scale
    rows, every = list[tuple[str, ...]](), list[StoredRun]()
    for study in lab.available(scale.timed or scale.names):
        wishes = timing_wishes(scale, study)
        for protocol in PROTOCOLS:
            cells = []
            for wanted in (wish for wish in wishes if wish.protocol == protocol):
                found = lab.run(wanted)
                every.append(found)
                mean = mean_seconds(frame(found))
                cells.append(EMPTY if mean is None else seconds(mean))
            rows.append((protocol_name(protocol), study.name, *cells))
    devices = ", ".join(sorted({run.spec.device for run in every if isinstance(run.spec, RunSpec)}))
    what = f"Mean wall-clock seconds for one input, on {devices}; inputs left at once for their wrong class excepted."
    caption = captioned(what, every, "In brackets: 95 % over inputs (Student); none below 6 inputs.")
    columns = ("protocol", "data", *(name for name, _, _ in _COLUMNS))
    rows.sort(key=lambda row: row[0])
    return Results(SOURCE, tables=(("timing", Table(caption, columns, tuple(rows), grouped=True)),))
