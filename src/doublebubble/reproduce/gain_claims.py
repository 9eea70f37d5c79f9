"""The publication's claims about how much larger certificates become: numbers from committed records alone.

Where a run is missing the cell says so, and the sentence says no more than the numbers do. Each sigma, or step from one
sigma to the next, is tried by each kind of gradient.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import Estimate
from doublebubble.reproduce.answers import Answer, Brief
from doublebubble.reproduce.claim_cells import (
    NOT_RUN,
    Measure,
    Parts,
    Shown,
    cell,
    easiest,
    hardest,
    in_brief,
    over,
    percents,
    share,
    sound_over,
)
from doublebubble.reproduce.claim_measures import (
    improved_share,
    kept_share,
    mean_percent,
    median_percent,
    percent_in_sum,
    share_won,
)
from doublebubble.reproduce.coin_claims import thrown
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.trials import Trial, agreed, beyond, median_grows, verdict, wins_more

Asked = Sequence[tuple[Study, Sequence[float]]]
"""The studies that a claim is tried on, each with its sigmas."""
_MORE_THAN, _MOST, _IMPROVED = 5.0, 0.5, 0.8  # percent; more than half; a share


def improved(evidence: Evidence) -> Answer:
    """More than 80 % of Tiny-ImageNet's inputs improved; CIFAR-10 is the hardest set that is run here."""
    study = hardest(evidence)
    asked = [(study, study.curves)]
    found = _judged(evidence, asked, _IMPROVED, improved_share)
    return _answer(
        evidence,
        asked,
        share(improved_share),
        f"Shown is {study.name}. The share is that of inputs on which the best of many looks came out above one look. "
        + _on_coins(evidence, study),
        NOT_RUN if found == NOT_RUN else f"{NOT_RUN}; {found}",
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
        "Cohen radius makes a mean of percentages as large as one likes; it hardly changes the sum of radii. A verdict "
        "is that of both.",
        _judged(evidence, asked, _MORE_THAN, mean_percent, percent_in_sum),
    )


def growth(evidence: Evidence) -> Answer:
    """The median improvement grows quasi-linearly with sigma."""
    asked = _over_sigma(evidence)
    steps = _steps(evidence, asked, median_grows)
    return _answer(
        evidence,
        asked,
        percents(median=median_percent),
        "What is judged is growth from each sigma to the next, by the median change of the gain of an input that is "
        "right at both: of other inputs than the two medians, and with a 95 % band. So few sigmas show no shape.",
        steps if steps == NOT_RUN else f"growth: {steps}; shape: not tested",
    )


def boundary_wins(evidence: Evidence) -> Answer:
    """The boundary treatment wins more often as sigma grows."""
    asked = _over_sigma(evidence)

    def won(table: pd.DataFrame) -> Estimate | None:
        return share_won(table, "boundary")

    def more(earlier: pd.DataFrame, later: pd.DataFrame) -> Trial:
        return wins_more(earlier, later, "boundary", registry.names("paper"))

    return _answer(
        evidence,
        asked,
        share(won),
        "The publication ties this to sigma and shows shares of inputs on which each method is largest; these are read "
        "here, from each sigma to the next, by an exact sign test on inputs where the two differ. The formula as "
        "printed can exceed the truth (math.md, section 3): to win by it proves nothing.",
        _steps(evidence, asked, more),
        longest=False,
    )


def not_improvable(evidence: Evidence) -> Answer:
    """Most MNIST inputs cannot be improved below sigma 0.5."""
    study = easiest(evidence)
    asked = [(study, tuple(sigma for sigma in study.sigmas if sigma < 0.5))]
    return _answer(
        evidence,
        asked,
        share(kept_share, " not improved"),
        "Where all draws of every look agree, each look reports the largest radius that n draws allow: no look can "
        "be luckier than another, and nothing is gained.",
        _judged(evidence, asked, _MOST, kept_share),
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


def _judged(evidence: Evidence, asked: Asked, limit: float, *measures: Measure) -> str:
    """Whether the measures are all above the limit, for every table of the published form."""
    tries = dict[str, list[Trial]]()
    for study, sigmas in asked:
        for table in (evidence.published(study, sigma, gradient) for sigma in sigmas for gradient in GRADIENTS):
            found = [] if table is None else [one for measure in measures if (one := measure(table)) is not None]
            if found:
                tries.setdefault(study.name, []).append(agreed(beyond(one, limit) for one in found))
    return verdict(tries)


def _steps(evidence: Evidence, asked: Asked, grows: Callable[[pd.DataFrame, pd.DataFrame], Trial]) -> str:
    """Whether something grows from each sigma to the next, on every study and by both gradients."""
    tries = dict[str, list[Trial]]()
    for study, sigmas in asked:
        for gradient in GRADIENTS:
            for earlier, later in pairwise([evidence.published(study, sigma, gradient) for sigma in sigmas]):
                if earlier is not None and later is not None:
                    tries.setdefault(study.name, []).append(grows(earlier, later))
    return verdict(tries)


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
