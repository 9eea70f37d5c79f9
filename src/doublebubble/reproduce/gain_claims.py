"""The publication's claims about how much larger certificates become: numbers from committed records alone.

Where a run is missing the cell says so, and the sentence says no more than the numbers do. A verdict counts tries: each
network and sigma, or step from one sigma to the next, by each kind of gradient.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import Estimate, winners
from doublebubble.reproduce.answers import Answer, Brief
from doublebubble.reproduce.claim_cells import (
    NOT_RUN,
    Parts,
    Shown,
    cell,
    easiest,
    hardest,
    in_brief,
    mean_percent,
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
from doublebubble.reproduce.trials import (
    Trial,
    beyond,
    improved_share,
    mean_gain_percent,
    median_grows,
    verdict,
    wins_more,
)

Asked = Sequence[tuple[Study, Sequence[float]]]
"""The studies that a claim is tried on, each with its sigmas."""
_MORE_THAN, _MOST = 5.0, 0.5  # percent; more than half
_IMPROVED = 0.8


def improved(evidence: Evidence) -> Answer:
    """More than 80 % of Tiny-ImageNet's inputs improved; CIFAR-10 is the hardest set that is run here."""
    study = hardest(evidence)
    asked = [(study, study.curves)]
    found = verdict(_judged(evidence, asked, improved_share, _IMPROVED), f"on {study.name}")
    return _answer(
        evidence,
        asked,
        share(share_improved),
        "Tiny-ImageNet was not run. The share is that of inputs on which the best of many looks came out above one "
        "look. " + _on_coins(evidence, study),
        NOT_RUN if found.startswith(NOT_RUN) else f"{NOT_RUN}; {found}",
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
        "Cohen radius makes a mean of percentages as large as one likes, as one or two do on CIFAR-10; it hardly "
        "changes the sum of radii.",
        verdict(_judged(evidence, asked, mean_gain_percent, _MORE_THAN)),
    )


def growth(evidence: Evidence) -> Answer:
    """The median improvement grows quasi-linearly with sigma."""
    asked = _over_sigma(evidence)
    return _answer(
        evidence,
        asked,
        percents(median=median_percent),
        "What is asked here is growth from each sigma to the next: the median change of an input's gain, with a 95 % "
        "band. So few sigmas show no shape.",
        verdict(_steps(evidence, asked, median_grows)),
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
        "The publication ties this to sigma and shows shares of inputs on which each method is largest; these are read "
        "here, from each sigma to the next, by an exact sign test on inputs where the two differ. The formula as "
        "printed can exceed the truth (math.md, section 3): to win by it proves nothing.",
        verdict(
            _steps(
                evidence,
                asked,
                lambda earlier, later: wins_more(earlier, later, "boundary", registry.names("paper")),
            )
        ),
        longest=False,
    )


def not_improvable(evidence: Evidence) -> Answer:
    """Most MNIST inputs cannot be improved below sigma 0.5."""
    study = easiest(evidence)
    asked = [(study, tuple(sigma for sigma in study.sigmas if sigma < 0.5))]

    def kept(table: pd.DataFrame) -> Estimate | None:
        return winners(table, [name for name in registry.names() if f"radius_{name}" in table]).get("cohen")

    return _answer(
        evidence,
        asked,
        share(lambda table: share_won(table, "cohen"), " not improved"),
        "Where all draws of every look agree, each look reports the largest radius that n draws allow: no look can "
        "be luckier than another, and nothing is gained.",
        verdict(_judged(evidence, asked, kept, _MOST), f"on {study.name}"),
        longest=False,
    )


def _answer(
    evidence: Evidence,
    asked: Asked,
    shown: Sequence[Shown],
    sentence: str,
    printed: str,
    longest: bool = True,
) -> Answer:
    """With `longest`, `sound` by `auto` at most draws stands beside `sound` at the same ones."""
    paper, sound, brief = Parts(), Parts(), (Parts(), Parts())
    for study, sigmas in asked:
        paper += over(evidence, study, shown, sigmas)
        sound += sound_over(evidence, study, shown, sigmas, longest)
        for parts, more in zip(brief, in_brief(evidence, study, shown, sigmas, longest), strict=True):
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


def _published(evidence: Evidence, asked: Asked) -> list[list[pd.DataFrame]]:
    """The tables of the published form, a list over sigma for each study and kind of gradient."""
    return [
        [table for sigma in sigmas if (table := evidence.published(study, sigma, gradient)) is not None]
        for study, sigmas in asked
        for gradient in GRADIENTS
    ]


def _judged(
    evidence: Evidence, asked: Asked, measure: Callable[[pd.DataFrame], Estimate | None], limit: float
) -> list[Trial]:
    """Whether the measure is above the limit, for every table of the published form."""
    return [
        beyond(found, limit)
        for tables in _published(evidence, asked)
        for table in tables
        if (found := measure(table)) is not None
    ]


def _steps(evidence: Evidence, asked: Asked, grows: Callable[[pd.DataFrame, pd.DataFrame], Trial]) -> list[Trial]:
    """Whether something grows from each sigma to the next, on every study and by both gradients."""
    return [grows(earlier, later) for tables in _published(evidence, asked) for earlier, later in pairwise(tables)]


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
