"""Where the published gain comes from: the published search on classifiers with no gain to be had.

A half-space, where no ball beats Cohen's exact radius, and coins, whose probabilities are the same everywhere. What the
search reports there beyond Cohen's radius is the luck of its draws. It is set against the law of the largest of so many
looks, and against the truth.
"""

import functools
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.stats import norm

from doublebubble.errors import RunError
from doublebubble.report.axes import AxesStyle
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import (
    BLACK,
    BLUE,
    DASHED,
    DOTTED,
    ORANGE,
    SOLID,
    UNJOINED,
    VERMILION,
    DrawnLine,
    Panel,
)
from doublebubble.report.measures import Estimate, proportion
from doublebubble.report.tables import Table, percent, share
from doublebubble.reproduce.laboratory import Laboratory
from doublebubble.reproduce.looking import SIGMA, Looked, Looking, Reported, Subject, simulated
from doublebubble.reproduce.results import Figure, Results
from doublebubble.reproduce.selection import first_order_gain, two_class_law
from doublebubble.runs.statistics import BAND_ALPHA

SOURCE = (
    "No figure of the publication: its search where there is nothing to gain. By Fact L of docs/math.md no ball about "
    "another point beats the exact radius of Cohen in free space."
)
Swept = Literal["looks", "n", "alpha"]
_WORDS: dict[Swept, str] = {
    "looks": "looks that a search takes",
    "n": "draws n of one look",
    "alpha": "alpha of one look",
}
_SHARE = AxesStyle("nominal alpha", "proportion above the truth", log_x=True, y_range=(0.0, 1.02))
_STYLES: dict[Subject, tuple[str, str]] = {"half-space": (BLUE, "o"), "coins": (ORANGE, "s"), "slab": (VERMILION, "^")}
_BARS = "Bars: 95 % over the repetitions."
_WARNING = "Protocol paper (not guaranteed): each radius is not a guarantee at any level."
_NOTHING_TO_GAIN: tuple[Subject, ...] = ("half-space", "coins")
_WITH_TRUTH: tuple[Subject, ...] = ("half-space", "slab")
_TITLE = f"protocol {protocol_name('paper')}"


def run(lab: Laboratory) -> Results:
    """Simulate what is not on disk, then put the figures together."""
    scale = lab.scale.no_gain
    base = Looking(
        subject="half-space", p=scale.p, n=scale.n, looks=scale.looks[-1], alpha=lab.scale.alpha, times=scale.times
    )
    sweeps: dict[Swept, Sequence[float]] = {"looks": scale.looks, "n": scale.draws, "alpha": scale.alphas}
    figures, every = list[Figure](), list[Looked]()
    for swept, values in sweeps.items():
        found = {s: _sweep(lab, base, s, swept, values) for s in _NOTHING_TO_GAIN}
        figures.append(_gain_figure(base, swept, found))
        every += [one for row in found.values() for one in row]
    claims = {s: _sweep(lab, base, s, "alpha", scale.alphas) for s in _WITH_TRUTH}
    figures.append(_claims_figure(base, claims))
    stopping = base.model_copy(update={"published_stop": True})
    every += claims["slab"] + [_sweep(lab, stopping, s, "n", [scale.n])[0] for s in _STYLES]
    return Results(
        SOURCE, tuple(figures), (("no-gain", _table(list({one.looking.name: one for one in every}.values()))),)
    )


def _sweep(lab: Laboratory, base: Looking, subject: Subject, swept: Swept, values: Sequence[float]) -> list[Looked]:
    found = []
    for value in values:
        looking = base.model_copy(update={"subject": subject, swept: value})
        one = lab.simulation("", looking.name, Looked, functools.partial(simulated, looking))
        if one.looking != looking:
            raise RunError(f"{looking.name}.json: holds another simulation than its name says")
        found.append(one)
    return found


def predicted_gain(looking: Looking) -> float:
    """The apparent gain in percent, by the largest of all looks and Cohen's own, if looks are made at the input itself.

    Exact for the law of votes. A search that walks away loses what it walks, so this is what it can at most report.
    """
    return 100 * two_class_law(looking.p, looking.n, looking.alpha, SIGMA).gain(looking.looks + 1)


def predicted_claims(looking: Looking) -> float:
    """The probability that the largest of all looks and Cohen's own is above the truth, looks made as above."""
    return two_class_law(looking.p, looking.n, looking.alpha, SIGMA).exceeds(looking.truth, looking.looks + 1)


def gain_of(reported: Reported) -> Estimate:
    """The measured gain in percent with a band of 95 % over the repetitions."""
    reach = float(norm.isf(BAND_ALPHA / 2)) * 100 * reported.error
    value = 100 * reported.gain
    return Estimate(value, value - reach, value + reach, len(reported.cohen))


def claims_of(found: Looked) -> Estimate:
    """How often the largest radius kept was above the truth."""
    return proportion(found.reported.above(found.looking.truth), found.looking.times)


def _exact(value: float) -> Estimate:
    return Estimate(value, None, None, 0)


def _between(values: Sequence[float], whole: bool) -> list[float]:
    """The values and some between them, evenly spread where the axis is logarithmic."""
    grid = np.geomspace(min(values), max(values), 25)
    return sorted({*values, *(float(round(x)) if whole else float(x) for x in grid)})


def _gain_figure(base: Looking, swept: Swept, found: dict[Subject, list[Looked]]) -> Figure:
    values = [getattr(one.looking, swept) for one in found["half-space"]]
    whole = swept != "alpha"
    along = {x: base.model_copy(update={swept: int(x) if whole else x}) for x in _between(values, whole)}
    lines = [
        _points(subject, {getattr(one.looking, swept): gain_of(one.reported) for one in row}, f"{subject}")
        for subject, row in found.items()
    ]
    exact = {x: _exact(predicted_gain(looking)) for x, looking in along.items()}
    formula = {
        x: _exact(100 * first_order_gain([at.p, 1 - at.p], at.n, at.alpha, SIGMA, at.looks + 1))
        for x, at in along.items()
    }
    lines += [DrawnLine("predicted", exact, BLACK, SOLID), DrawnLine("first order", formula, BLACK, DOTTED)]
    held = [
        f"{words} {getattr(base, name)}"
        for name, words in (("looks", "looks"), ("n", "n"), ("alpha", "alpha"))
        if name != swept
    ]
    caption = (
        "What the published search (Algorithm 1, approximate gradients) reports beyond Cohen's radius where there is "
        "nothing to gain: a half-space, and coins whose probabilities are the same at every point; "
        f"p {base.p:g}, sigma {SIGMA:g}, {', '.join(held)}, {base.times} repetitions. Predicted: the exact mean of the "
        "largest of all looks and Cohen's own, if every look is made at the input; no parameter is fitted. First "
        f"order: the same in closed form, e_m s / r. {_BARS} {_WARNING}"
    )
    style = AxesStyle(_WORDS[swept], "apparent gain (%)", log_x=True)
    title = f"Apparent gain where there is none, by {_WORDS[swept]}"
    return Figure(f"no-gain-by-{swept}", title, ((Panel(_TITLE, tuple(lines)),),), style, caption)


def _claims_figure(base: Looking, found: dict[Subject, list[Looked]]) -> Figure:
    alphas = [one.looking.alpha for one in found["half-space"]]
    lines = [_points(s, {one.looking.alpha: claims_of(one) for one in row}, s) for s, row in found.items()]
    along = {x: base.model_copy(update={"alpha": x}) for x in _between(alphas, whole=False)}
    exact = {x: _exact(predicted_claims(looking)) for x, looking in along.items()}
    lines += [
        DrawnLine("predicted", exact, BLACK, SOLID),
        DrawnLine("alpha itself", {x: _exact(x) for x in along}, BLACK, DASHED),
    ]
    caption = (
        "How often the radius that the published search keeps is above the truth, the distance to another class: "
        f"half-space and slab, p {base.p:g}, sigma {SIGMA:g}, n {base.n}, {base.looks} looks, {base.times} "
        "repetitions. A radius that held at its level would stay below the dashed line. Predicted: for the half-space, "
        f"1 - F(truth)^(looks + 1), F the exact law of one look. {_BARS} {_WARNING}"
    )
    panel = Panel(_TITLE, tuple(lines))
    return Figure("no-gain-claims", "How often the published radius exceeds the truth", ((panel,),), _SHARE, caption)


def _points(subject: Subject, points: dict[float, Estimate], label: str) -> DrawnLine:
    colour, marker = _STYLES[subject]
    return DrawnLine(label, dict(sorted(points.items())), colour, UNJOINED, marker)


def _table(found: Sequence[Looked]) -> Table:
    rows = []
    for one in found:
        at, made = one.looking, float(np.mean(one.reported.looks))
        as_made = at.model_copy(update={"looks": max(1, round(made))})
        cells = [at.subject, str(at.n), f"{at.alpha:g}", str(at.looks), f"{made:.1f}", percent(gain_of(one.reported))]
        claims = "-" if at.subject == "coins" else share(claims_of(one))
        expected = "-" if at.subject == "coins" else f"{100 * predicted_claims(as_made):.1f} %"
        cells += [f"{predicted_gain(as_made):+.2f} %", claims, expected]
        rows.append((protocol_name("paper"), *cells))
    caption = (
        "The published search where there is nothing to gain: looks allowed and looks made on average (fewer where the "
        "published smallest step ends a search), the apparent gain over Cohen, and how often the radius kept is above "
        f"the truth, each beside its prediction for the looks made. {_BARS} {_WARNING}"
    )
    columns = ("protocol", "classifier", "n", "alpha", "looks allowed", "looks made", "gain", "gain predicted")
    return Table(caption, (*columns, "above the truth", "above, predicted"), tuple(rows), grouped=True)
