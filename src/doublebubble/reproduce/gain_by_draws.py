"""What `sound` gains over Cohen as draws grow, beside what the published search reports and what it reports on coins.

No figure of the publication: the whole page of claims in one picture. All points of a panel are of the same inputs,
those of the published form; each protocol's gain is over its own Cohen radius.
"""

from doublebubble.report.axes import AxesStyle
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import BLUE, ORANGE, SOLID, UNJOINED, VERMILION, DrawnLine, Panel
from doublebubble.report.measures import REPORTED, Estimate, gain_in_sum
from doublebubble.report.tables import panel_table, percent
from doublebubble.reproduce.coin_votes import coined
from doublebubble.reproduce.laboratory import Laboratory, Wanted
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.reproduce.same_inputs import on_inputs, with_cohen
from doublebubble.reproduce.scales import SoundForm, Study
from doublebubble.runs.store import StoredRun
from doublebubble.runs.tables import frame

SOURCE = "No figure of the publication: its gain, the part of it that is luck, and what is gained with a guarantee."
_NAME = "gain-by-draws"
_STYLE = AxesStyle("draws n of one input, or of one look", "gain over Cohen (%)", log_x=True)
_WHAT = (
    "Sum of radii over that of Cohen's, in percent, the same correctly predicted inputs in all points of a panel. "
    "Published: single transitivity by approximate gradients, n draws in each look, no guarantee. On coins: the same "
    "search where coins vote with the network's own probabilities and nothing can be gained. Sound: the plan fixed "
    "before the certify draws, among all methods or those that the run names, or that of auto where it was run."
)
_BANDS = (
    "Bars and bands: 95 % over the choice of inputs (Student, for a ratio of means), none below 6 inputs; on coins the "
    "least and the most of {throws} throws."
)
_PROTOCOLS = f"sound; {protocol_name('paper')}"


def run(lab: Laboratory) -> Results:
    """Certify, throw the coins, then put the figure together."""
    rows, runs, draws = list[tuple[Panel, ...]](), list[StoredRun](), set[float]()
    for study in lab.available(lab.scale.names):
        panels = []
        for sigma in study.curves:
            lines, used = _lines(lab, study, sigma)
            panels.append(Panel(f"{study.name}, sigma {sigma:g}\n{_PROTOCOLS}", lines))
            runs += used
            draws |= {n for line in lines for n in line.points}
        rows.append(tuple(panels))
    caption = captioned(_WHAT, runs, _BANDS.format(throws=lab.scale.no_gain.throws))
    figure = Figure(_NAME, "Gain over each protocol's own Cohen by draws", tuple(rows), _STYLE, caption)
    return Results(SOURCE, (figure,), ((_NAME, panel_table(rows, sorted(draws), "n", percent, caption)),))


def _lines(lab: Laboratory, study: Study, sigma: float) -> tuple[tuple[DrawnLine, ...], list[StoredRun]]:
    paper = lab.joined(Wanted(study, sigma, "paper", "approximate"))
    table = frame(paper)
    said, coins = gain_in_sum(table, "single", table), coined(lab, study, paper, sigma)
    held, used = dict[float, Estimate](), [paper]
    for n, forms in sorted(_by_draws(study, lab.scale.alpha).items()):
        base = None
        for form in forms:  # auto comes last, over the Cohen radii of the run before it
            found = lab.joined(_wanted(study, sigma, form))
            used.append(found)
            mine = on_inputs(frame(found), table["index"])
            base = with_cohen(mine, base)
            gain = None if base is None else gain_in_sum(mine, REPORTED, base)
            if gain is not None:
                held[float(n)] = gain
    at = float(study.n)
    lines = (
        DrawnLine("on coins", {at: coins.gain} if coins.gains else {}, ORANGE, UNJOINED, "s"),
        DrawnLine("published", {} if said is None else {at: said}, VERMILION, UNJOINED, "^"),
        DrawnLine("sound", held, BLUE, SOLID, "o"),
    )
    return lines, used


def _by_draws(study: Study, alpha: float) -> dict[int, list[SoundForm]]:
    found = {study.n: [SoundForm(study.n, alpha)]}
    for form in (form for form in study.sound_forms if form.which != "other"):
        found.setdefault(form.n, []).append(form)
    return found


def _wanted(study: Study, sigma: float, form: SoundForm) -> Wanted:
    if form.n == study.n:
        return Wanted(study, sigma, "sound", "full", which="all")
    return Wanted.of_form(study, sigma, form)
