"""The page that sets each claim of the publication beside what holds: Markdown from committed results, nothing else."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from doublebubble.config import PaperSearch
from doublebubble.report.measures import REPORTED, gain_in_sum, mean_radius
from doublebubble.report.tables import EMPTY, percent, share
from doublebubble.reproduce.claim_cells import NOT_RUN, spaced
from doublebubble.reproduce.claims import CLAIMS
from doublebubble.reproduce.coin_claims import coin_table
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.looking import SIGMA
from doublebubble.reproduce.method_gains import method_draws, method_table, sound_table
from doublebubble.reproduce.networks import networks_section
from doublebubble.reproduce.no_gain import claims_of, gain_of, predicted_claims, predicted_gain
from doublebubble.reproduce.same_inputs import with_cohen
from doublebubble.reproduce.scales import SoundForm
from doublebubble.reproduce.summary import summary

IMAGES = "images/reproduction"
_INSTEAD_FIGURE = {
    "gain-by-draws/gain-by-draws": "The published gain, the same on coins, and what sound gains, against the draws",
}
_NO_GAIN_FIGURES = {
    "no-gain/no-gain-by-looks": "Apparent gain where there is none, against the looks taken, beside its prediction",
    "no-gain/no-gain-claims": "How often the published radius exceeds the truth, against alpha, beside its prediction",
}
_COIN_FIGURES = {
    "coin-votes/coin-votes-mnist-lenet": "The search on MNIST's network, and on coins that vote with its probabilities",
    "coin-votes/coin-votes-cifar10-resnet18": "The search on CIFAR-10's network, and on coins in its place",
    "coin-votes/coin-votes-mnist-resnet18": "The search on MNIST's ResNet-18, and on coins in its place",
}
FIGURES = {
    **_INSTEAD_FIGURE,
    **_NO_GAIN_FIGURES,
    **_COIN_FIGURES,
    **{name: f"Measured for: {claim.claim}" for claim in CLAIMS for name in claim.figures},
}
"""Figures that the page shows if they are there, with what they are in words; `IMAGES` is beside the page."""
_HEAD = """# The publication's claims on real data

*Double Bubble, Toil and Trouble* (NeurIPS 2022) reports larger certificates than Cohen's. This page sets its claims
beside what its own procedure gives here (`paper`, **not a guarantee at any level**) and what holds (`sound`).

## In a minute

{summary}Claim by claim:

{brief}
- *As printed*: do the publication's own procedure and measure give what it says, by more than chance? Each sigma, or
  step to the next sigma, is tried by both kinds of gradient. A try is undecided if its 95 % band over inputs allows
  both answers. Of times no band is due: a try is what all timed inputs say, undecided if they differ. Bands are over
  the choice of inputs: every network was trained once, so that a change with sigma is also one of the network.
- *What holds*: the same measure, on the same inputs, of certificates that are guaranteed: of the plan among all
  methods, fixed before the draws (claims 1 to 3 and 5), of each method by itself (4), of Cohen's radius and the plan
  (6); at the same n and alpha, or by `auto` with the n that is named.
- Under `paper` 6 to 14% is 6% by one kind of gradient and 14% by the other. In brackets: the inputs that a number is
  of, or the least and the most of single inputs. Arrows lead from each sigma to the next: {sigmas}.

Why a claim can be borne out and yet not hold: the published procedure keeps the largest radius of many looks, up to
{looks} for one ball, and that is mostly the luckiest. In free space one ball elsewhere cannot beat Cohen's exact radius
([math.md](math.md), Fact L), and [where nothing can be gained](#where-the-published-gain-comes-from) the procedure
reports gains all the same. [What to use instead](#what-to-use-instead) has every run of `sound`.

## How to read the rest

Written by `python docs/generate_reproduction.py` from the records under `results/`, scale `{scale}`. `paper`: n {n}
draws in each look, alpha {alpha:g}, approximate / full gradients; the thrifty form, fewer draws in the search, is named
where it is shown. `sound`: the same n and alpha, full gradients. Gains are over each protocol's own Cohen radius, on
correctly predicted inputs: "27 of 40 inputs" says that of 40 tried so many are correct and have a Cohen radius.
"""
_BRIEF = """| | the publication says | as printed? | `paper` here, no guarantee | what holds: `sound` |
|---|---|---|---|---|
"""
_NO_GAIN = """## Where the published gain comes from

The published search on classifiers with nothing to gain: a half-space, coins whose probabilities are the same at every
point, and a slab. p {p:g}, sigma {sigma:g}. Predicted: the largest of as many independent looks as were made on
average, all at the input, with no parameter fitted
([reproduce.md](reproduce.md#where-the-published-gain-comes-from)); {missed} of {bands} bands of 95 % miss it.
`paper`, **not a guarantee at any level**.

{figures}| classifier | n | alpha | looks made | apparent gain | predicted | above the truth | predicted |
|---|---|---|---|---|---|---|---|
"""
_INSTEAD = """## What to use instead

`sound`: with probability at least 1 - alpha over the draws of an input the radius holds. Mean radii over correctly
predicted inputs: Cohen's, and that of the plan that was fixed before the certify draws; and the latter over the former.
`auto` computes one method alone: the Cohen radii beside it are those of the row above, of the same inputs and n. Only
radii of rows with the same inputs compare.

{figure}| study | sigma | n | alpha | methods | inputs | Cohen | plan | gain |
|---|---|---|---|---|---|---|---|---|
"""
_METHODS = """### Method by method

What each method certifies by itself, and the plan among them, over Cohen's radius of the same protocol and draws: mean
radii over correctly predicted inputs, whose number stands in brackets, that of `paper` first where the two differ.
`paper`: the published form by full gradients, **not a guarantee at any level**. `sound`: n = {n}. Both on the same
inputs:

{same}
`sound` on all inputs that it was run on:

{every}"""
_ATTACKED = """## Under attack

`doublebubble audit RUN --attack` looks for the nearest input of another class, confirmed by fresh draws at 1e-6, here
on some inputs of each run, correctly predicted or not. A success inside a certified radius would refute it; those
beyond it bound the truth. *Effort*: confirming draws, steps at each radius, starts.

| run | inputs attacked | inside the radius | beyond it | median distance over radius | effort |
|---|---|---|---|---|---|
"""
_TINY = """## Not run

- Tiny-ImageNet: every figure and number of it. Its code path is tested on a generated folder of its real form
  ([reproduce.md](reproduce.md#tiny-imagenet)).
"""


def claims_page(evidence: Evidence) -> str:
    """The whole page."""
    scale = evidence.scale
    answers = {number: (claim, claim.answer(evidence)) for number, claim in enumerate(CLAIMS, start=1)}
    brief = _BRIEF + "".join(
        f"| {number} | {claim.claim} | {answer.brief.as_printed} | {answer.brief.paper} | {answer.brief.sound} |\n"
        for number, (claim, answer) in answers.items()
    )
    settings = {
        "scale": scale.name,
        "n": scale.studies[0].n,
        "alpha": scale.alpha,
        "looks": PaperSearch().iterations,
        "sigmas": "; ".join(f"{', '.join(f'{s:g}' for s in one.sigmas)} on {one.name}" for one in scale.studies),
    }
    parts = [_HEAD.format(summary=summary(evidence), brief=brief, **settings)]
    for number, (claim, answer) in answers.items():
        parts.append(
            f"## {number}. {claim.claim}\n\n| `paper`: as published, not guaranteed | `sound` |\n|---|---|\n"
            f"| {answer.paper} | {answer.sound} |\n\n{answer.sentence}\n"
            + "".join(f"\n{picture}\n" for picture in _pictures(evidence, claim.figures))
        )
    parts += [
        _instead(evidence),
        *_by_method(evidence),
        *filter(None, [networks_section(evidence)]),
        *_attacked(evidence),
        _TINY,
        _no_gain(evidence),
        *_on_networks(evidence),
    ]
    return "\n".join(parts)


def _instead(evidence: Evidence) -> str:
    rows, planned = [], 0
    for study in evidence.scale.studies:
        forms = (
            SoundForm(study.n, evidence.scale.alpha),
            *(form for form in study.sound_forms if form.which != "other"),
        )
        for sigma in study.sigmas:
            cohen: dict[int, pd.DataFrame | None] = {}
            for form in forms:
                planned += 1
                cells = [study.name, f"{sigma:g}", str(form.n), f"{form.alpha:g}", " ".join(form.methods or ("all",))]
                every = evidence.sound_on_all(study, sigma, form)
                table = evidence.sound(study, sigma, form) if every is None else every
                cohen[form.n] = with_cohen(table, cohen.get(form.n))
                radii = _radii(table, cohen[form.n])
                rows += ["| " + " | ".join([*cells, *radii]) + " |\n"] if radii else []
    missing = planned - len(rows)
    rest = (
        f"\n{missing} of the {planned} runs that scale {evidence.scale.name} plans here: {NOT_RUN}.\n"
        if missing
        else ""
    )
    instead = _INSTEAD.format(figure="".join(f"{picture}\n\n" for picture in _pictures(evidence, _INSTEAD_FIGURE)))
    return (instead + "".join(rows) if rows else instead.split("|")[0].rstrip() + "\n") + rest


def _radii(table: pd.DataFrame | None, base: pd.DataFrame | None) -> list[str]:
    """Inputs, the mean radius of Cohen and of the plan, and the gain."""
    plan = None if table is None else mean_radius(table, REPORTED)
    if table is None or plan is None:
        return []
    cohen = None if base is None else mean_radius(base, "cohen")
    gain = None if base is None else gain_in_sum(table, REPORTED, base)
    words = [EMPTY if cohen is None else f"{cohen.value:.4f}", f"{plan.value:.4f}"]
    return [f"{plan.n} of {len(table)}", *words, EMPTY if gain is None else f"{gain.value:+z.2f} %"]


def _by_method(evidence: Evidence) -> list[str]:
    """What each method gains by itself, if the runs are there."""
    same, every = method_table(evidence), sound_table(evidence)
    return [_METHODS.format(n=spaced(method_draws(evidence.scale)), same=same, every=every)] if same else []


def _attacked(evidence: Evidence) -> list[str]:
    """The table of attacks, if there were any."""
    rows = []
    for name, attacks in evidence.attacks().items():
        ratios = [one.distance / one.radius for one in attacks if one.distance is not None]
        inside = sum(one.inside for one in attacks)
        beyond = f"{np.median(ratios):.2f}" if ratios else "-"
        how = sorted({f"{one.settings.n}, {one.settings.steps}, {one.settings.restarts}" for one in attacks})
        cells = [name, str(len(attacks)), str(inside), str(len(ratios) - inside), beyond, " or ".join(how)]
        rows.append(f"| {' | '.join(cells)} |\n")
    return [_ATTACKED + "".join(rows)] if rows else []


def _no_gain(evidence: Evidence) -> str:
    found = evidence.simulations()
    if not found:
        return f"## Where the published gain comes from\n\n{NOT_RUN.capitalize()}.\n"
    rows, held = [], list[bool]()
    for one in sorted(
        found, key=lambda one: (one.looking.subject, one.looking.n, one.looking.alpha, one.looking.looks)
    ):
        at, made = one.looking, float(np.mean(one.reported.looks))
        as_made = at.model_copy(update={"looks": max(1, round(made))})
        coins = at.subject == "coins"
        pairs = [(gain_of(one.reported), predicted_gain(as_made))]
        pairs += [] if coins else [(claims_of(one), predicted_claims(as_made))]
        above = ["-", "-"] if coins else [share(pairs[1][0]), f"{100 * pairs[1][1]:.1f} %"]
        stop = ", published stop" if at.published_stop else ""
        cells = [at.subject, str(at.n), f"{at.alpha:g}", f"{made:.1f}{stop}", percent(pairs[0][0])]
        held += [band.holds(expected) for band, expected in pairs]
        rows.append("| " + " | ".join([*cells, f"{pairs[0][1]:+.2f} %", *above]) + " |")
    shown = "".join(f"{picture}\n\n" for picture in _pictures(evidence, _NO_GAIN_FIGURES))
    head = _NO_GAIN.format(p=found[0].looking.p, sigma=SIGMA, figures=shown, missed=held.count(False), bands=len(held))
    return head + "\n".join(rows) + "\n"


def _on_networks(evidence: Evidence) -> list[str]:
    """Coins in place of networks, if they were thrown."""
    table = coin_table(evidence)
    return [table, *(f"{picture}\n" for picture in _pictures(evidence, _COIN_FIGURES))] if table else []


def _pictures(evidence: Evidence, names: Iterable[str]) -> list[str]:
    """Those figures that are there."""
    return [f"![{FIGURES[name]}]({image_of(name)})" for name in names if evidence.has_figure(name)]


def image_of(name: str) -> str:
    """Where a figure lies beside the page."""
    return f"{IMAGES}/{name.split('/')[-1]}.png"
