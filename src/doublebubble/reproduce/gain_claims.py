"""The publication's claims about how much larger certificates become: numbers from committed records alone.

Where a run is missing the cell says so, and the sentence says no more than the numbers do. A verdict counts what both
kinds of gradient give.
"""

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from doublebubble.reproduce.answers import Answer, Brief, verdict
from doublebubble.reproduce.claim_cells import (
    NOT_RUN,
    Measure,
    Parts,
    Shown,
    cell,
    easiest,
    hardest,
    in_brief,
    mean_percent,
    measured,
    median_percent,
    over,
    percent_in_sum,
    percents,
    share,
    share_improved,
    share_won,
    sound_over,
)
from doublebubble.reproduce.coin_claims import thrown
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.scales import Study

Asked = Sequence[tuple[Study, Sequence[float]]]
"""The studies that a claim is tried on, each with its sigmas."""
_MORE_THAN = 5.0  # percent


def improved(evidence: Evidence) -> Answer:
    """More than 80 % of Tiny-ImageNet's inputs improved; CIFAR-10 is the hardest set that is run here."""
    study = hardest(evidence)
    asked = [(study, study.curves)]
    return _answer(
        evidence,
        asked,
        share(share_improved),
        "The share is that of inputs on which the best of many looks came out above one look. "
        + _on_coins(evidence, study),
        verdict([value > 0.8 for value in _every(evidence, asked, share_improved)], f"on {study.name}"),
    )


def average_gain(evidence: Evidence) -> Answer:
    """More than 5 % on average at sigma 0.5."""
    asked = [(study, (0.5,)) for study in evidence.scale.studies if 0.5 in study.sigmas]

    return _answer(
        evidence,
        asked,
        percents(on_average=mean_percent, in_sum=percent_in_sum),
        "Under `paper` the gain is over the same protocol's Cohen radius, by draws that also chose the ball; under "
        "`sound` it is the plan's, fixed beforehand, over its own Cohen radius at equal n. An input with hardly any "
        "Cohen radius can rule a mean of percentages, as one or two do on CIFAR-10; none can rule the sum of radii.",
        verdict([value > _MORE_THAN for value in _every(evidence, asked, mean_percent)]),
    )


def growth(evidence: Evidence) -> Answer:
    """The median improvement grows quasi-linearly with sigma."""
    asked = _over_sigma(evidence)
    return _answer(
        evidence,
        asked,
        percents(median=median_percent),
        "What is asked here is growth from each sigma to the next; so few sigmas show no shape.",
        verdict(_growing(evidence, asked, median_percent)),
    )


def boundary_wins(evidence: Evidence) -> Answer:
    """The boundary treatment wins more often as sigma grows."""
    asked = _over_sigma(evidence)

    def won(table: pd.DataFrame) -> float | None:
        return share_won(table, "boundary")

    return _answer(
        evidence,
        asked,
        share(won),
        "The publication says so of its gains, and shows these shares. They are of few inputs, and the formula as "
        "printed can exceed the truth (math.md, section 3): to win by it proves nothing.",
        verdict(_growing(evidence, asked, won)),
    )


def not_improvable(evidence: Evidence) -> Answer:
    """Most MNIST inputs cannot be improved below sigma 0.5."""
    study = easiest(evidence)
    asked = [(study, tuple(sigma for sigma in study.sigmas if sigma < 0.5))]

    def kept(table: pd.DataFrame) -> float | None:
        return share_won(table, "cohen")

    return _answer(
        evidence,
        asked,
        share(kept, " not improved"),
        "Where all draws of every look agree, each look reports the largest radius that n draws allow: no look can "
        "be luckier than another, and nothing is gained.",
        verdict([value > 0.5 for value in _every(evidence, asked, kept)]),
    )


def _answer(evidence: Evidence, asked: Asked, shown: Sequence[Shown], sentence: str, printed: str) -> Answer:
    paper, sound, brief = Parts(), Parts(), (Parts(), Parts())
    for study, sigmas in asked:
        paper += over(evidence, study, shown, sigmas)
        sound += sound_over(evidence, study, shown, sigmas)
        for parts, more in zip(brief, in_brief(evidence, study, shown, sigmas), strict=True):
            parts += more
    there = cell(paper) != NOT_RUN
    return Answer(
        cell(paper),
        cell(sound),
        sentence if there else NOT_RUN.capitalize(),
        Brief(printed, *map(cell, brief)),
    )


def _over_sigma(evidence: Evidence) -> Asked:
    return [(study, study.sigmas) for study in evidence.scale.studies]


def _every(evidence: Evidence, asked: Asked, measure: Measure) -> list[float]:
    """The measure of the published form on every study, at every sigma and by both gradients."""
    found = [measured(evidence, study, measure, sigmas, gradient) for study, sigmas in asked for gradient in GRADIENTS]
    return [value for values in found for value in values]


def _growing(evidence: Evidence, asked: Asked, measure: Measure) -> list[bool]:
    """From each sigma to the next, on every study and by both gradients, whether the measure grows."""
    found = [measured(evidence, study, measure, sigmas, gradient) for study, sigmas in asked for gradient in GRADIENTS]
    return [later > earlier for values in found for earlier, later in pairwise(values)]


def _on_coins(evidence: Evidence, study: Study) -> str:
    """How often the same search improves on coins in the network's place, else on those of equal probabilities."""
    tossed = [
        f"{one.coins.improved:.0%} of {len(one.coins.shares)} at sigma {one.sigma:g}"
        for one in thrown(evidence, study)
        if one.sigma in study.curves
    ]
    if tossed:
        return (
            "On coins that vote with the network's own probabilities, where nothing can be improved, the same search "
            f"improves {', '.join(tossed)} (single, approximate gradients)."
        )
    plain = [
        one.reported for one in evidence.simulations() if one.looking.subject == "coins" and one.looking.published_stop
    ]
    if not plain:
        return "The same search on coins, where nothing can be improved, was not run."
    every = Reported(
        cohen=tuple(radius for one in plain for radius in one.cohen),
        largest=tuple(radius for one in plain for radius in one.largest),
        looks=tuple(looks for one in plain for looks in one.looks),
    )
    return f"On coins, where nothing can be improved, the same search improves {every.improved:.0%}."
