"""A network's own votes replaced by independent coins of the same probabilities: how much of the gain remains.

Each input's probabilities are the shares of its votes in the run of `sound` with most draws among those on all inputs
of the study. On the coins the published search, the same image, draws and alpha, can gain nothing; what it reports is
set beside what it reports on the network. All coins are thrown many times, since one throw of few inputs says little:
were the network's gain luck alone, it would be one more throw among them.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from doublebubble.config import CertifyConfig, Settings
from doublebubble.data import Dataset
from doublebubble.report.axes import AxesStyle
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import BLACK, BLUE, DASHED, DOTTED, ORANGE, SOLID, DrawnLine, Panel
from doublebubble.report.measures import Estimate
from doublebubble.report.tables import panel_table, percent
from doublebubble.reproduce.coins import Coins
from doublebubble.reproduce.laboratory import Laboratory, Wanted
from doublebubble.reproduce.looking import Reported, searches
from doublebubble.reproduce.results import Figure, Results, captioned
from doublebubble.reproduce.scales import Study
from doublebubble.reproduce.selection import sampled_law
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import StoredRun
from doublebubble.smoothing import SmoothedClassifier
from doublebubble.streams import Stream

SOURCE = "No figure of the publication: its search on a network, and on coins with the network's own probabilities."
_STYLE = AxesStyle("noise sigma (in units of the input)", "gain over Cohen (%)")
_WHAT = (
    "Mean gain of single transitivity over Cohen's radius, approximate gradients: on the network; on coins that vote "
    "with the network's probabilities wherever the input is moved, so that nothing can be gained; and predicted, the "
    "mean of the largest of as many looks as the search on coins made."
)
_BANDS = (
    "Band: from the least to the most of {throws} throws of all coins; a gain that is luck alone lies beyond it with "
    "probability {beyond:.2g}."
)


class Coined(Settings):
    """What the published search reported on coins, input by input, and the shares of votes that the coins have."""

    name: str
    sigma: float
    n: int
    alpha: float
    shares: Mapping[int, tuple[float, ...]]
    throws: Annotated[tuple[Reported, ...], Field(min_length=1)]

    @property
    def gains(self) -> list[float]:
        """The gain in percent over all inputs together, throw by throw; a throw without a Cohen radius has none."""
        return [100 * throw.gain for throw in self.throws if any(throw.cohen)]

    @property
    def gain(self) -> Estimate:
        """Their mean, the least and the most."""
        return Estimate(float(np.mean(self.gains)), min(self.gains), max(self.gains), len(self.gains))

    @property
    def improved(self) -> float:
        """The part of searches whose largest radius is above Cohen's."""
        return float(np.mean([throw.improved for throw in self.throws]))

    @property
    def predicted(self) -> float:
        """The gain in percent that the law of the largest look gives for the looks made, over all inputs together."""
        laws = [
            sampled_law(shares, self.n, self.alpha, self.sigma, Stream(0, index, "audit", "coin_votes"))
            for index, shares in self.shares.items()
        ]
        largest = [np.mean([law.largest(throw.looks[k] + 1) for throw in self.throws]) for k, law in enumerate(laws)]
        return 100 * float(np.mean(largest) / np.mean([law.mean for law in laws]) - 1)


def run(lab: Laboratory) -> Results:
    """Certify, throw the coins, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.names):
        network, coins, law = dict[float, Estimate](), dict[float, Estimate](), dict[float, Estimate]()
        runs = []
        for sigma in study.sigmas:
            paper = lab.joined(Wanted(study, sigma, "paper", "approximate"))
            found = coined(lab, study, paper, sigma)
            runs.append(paper)
            said = reported_by([record for record in paper.records if record.index in found.shares], study.n)
            if not any(said.cohen) or not found.gains:
                continue
            network[sigma] = Estimate(100 * said.gain, None, None, len(said.cohen))
            coins[sigma] = found.gain
            law[sigma] = Estimate(found.predicted, None, None, len(found.shares))
        lines = (
            DrawnLine("network", network, BLUE, SOLID, "o"),
            DrawnLine("its coins", coins, ORANGE, DASHED, "s"),
            DrawnLine("predicted", law, BLACK, DOTTED, "X"),
        )
        panel = Panel(f"protocol {protocol_name('paper')}", lines)
        throws = lab.scale.no_gain.throws
        caption = captioned(_WHAT, runs, _BANDS.format(throws=throws, beyond=2 / (throws + 1)))
        name = f"coin-votes-{study.name}"
        figures.append(Figure(name, f"The gain on coins: {study.name}", ((panel,),), _STYLE, caption))
        tables.append((name, panel_table([[panel]], study.sigmas, "sigma", percent, caption)))
    return Results(SOURCE, tuple(figures), tuple(tables))


def coined(lab: Laboratory, study: Study, paper: StoredRun, sigma: float) -> Coined:
    """The search on the coins of every input that the network predicts correctly, from its file if there is one."""
    wanted = voted(study, sigma)
    name = kept_as(wanted, lab.scale.no_gain.throws)
    return lab.simulation(study.name, name, Coined, functools.partial(_coined, lab, wanted, paper))


def voted(study: Study, sigma: float) -> Wanted:
    """The run whose votes the coins have."""
    best = max((form for form in study.sound_forms if form.which == "all"), key=lambda form: form.n, default=None)
    return Wanted(study, sigma, "sound", "full", which="all") if best is None else Wanted.of_form(study, sigma, best)


def kept_as(wanted: Wanted, throws: int) -> str:
    """The stem of the file of so many throws of coins with the votes of that run, on the inputs published."""
    inputs = sum(part.inputs for part in replace(wanted, which="first").parts)
    return f"coins-of-{wanted.name}-on{inputs}-times{throws}"


def _coined(lab: Laboratory, wanted: Wanted, paper: StoredRun) -> Coined:
    study, sigma = wanted.study, wanted.sigma
    shares = shares_of(lab.run(wanted), {record.index for record in paper.records if predicted_correctly(record)})
    config = CertifyConfig(
        n=study.n, alpha=lab.scale.alpha, protocol="paper", methods=("cohen", "single"), gradient="approximate"
    )
    return Coined(
        name=wanted.name,
        sigma=sigma,
        n=config.n,
        alpha=config.alpha,
        shares=shares,
        throws=tuple(
            _thrown(shares, lab.images(study), sigma, config.model_copy(update={"seed": seed}))
            for seed in range(lab.scale.no_gain.throws)
        ),
    )


def _thrown(shares: Mapping[int, tuple[float, ...]], data: Dataset, sigma: float, config: CertifyConfig) -> Reported:
    cohen, largest, looks = list[float](), list[float](), list[int]()
    for index, p in shares.items():
        smoothed = SmoothedClassifier(Coins(p), sigma, len(p), data.info.domain, batch_size=config.n)
        one = searches(smoothed, config, [data.inputs(slice(index, index + 1))[0]], [index])
        cohen, largest, looks = [*cohen, *one.cohen], [*largest, *one.largest], [*looks, *one.looks]
    return Reported(cohen=tuple(cohen), largest=tuple(largest), looks=tuple(looks))


def predicted_correctly(record: Record) -> bool:
    """Whether the published protocol certified the label."""
    return record.status == "certified" and record.prediction == record.label


def shares_of(run: StoredRun, indices: set[int]) -> dict[int, tuple[float, ...]]:
    """The shares of votes at the inputs themselves, by input."""
    assert isinstance(run.spec, RunSpec)
    found = {}
    for record in run.records:
        votes = record.counts.get("input") or record.counts["select"]
        if record.index in indices:
            total = sum(votes.values())
            found[record.index] = tuple(votes.get(k, 0) / total for k in range(run.spec.num_classes))
    return found


def reported_by(records: list[Record], n: int) -> Reported:
    """The same of a run of the published protocol with n draws in a look."""
    return Reported(
        cohen=tuple(record.radii["cohen"] for record in records),
        largest=tuple(record.radii["single"] for record in records),
        looks=tuple(record.draws.get("search", 0) // n for record in records),
    )
