"""A network's own votes replaced by independent coins of the same probabilities: how much of the gain remains.

Each input's probabilities are the shares of its votes in the run of `sound` with most draws among those on all inputs
of the study. On the coins the published search, the same image, draws and alpha, can gain nothing; what it reports is
set beside what it reports on the network.
"""

import functools
from collections.abc import Mapping

import numpy as np

from doublebubble.config import CertifyConfig, Settings
from doublebubble.data import Dataset
from doublebubble.report.facts import protocol_name
from doublebubble.report.figure import BLACK, BLUE, DASHED, DOTTED, ORANGE, SOLID, AxesStyle, DrawnLine, Panel
from doublebubble.report.measures import Estimate
from doublebubble.report.tables import panel_table, percent
from doublebubble.reproduce.coins import Coins
from doublebubble.reproduce.laboratory import Laboratory, Wanted
from doublebubble.reproduce.looking import Reported, searches
from doublebubble.reproduce.no_gain import gain_of
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


class Coined(Settings):
    """What the published search reported on coins, input by input, and the shares of votes that the coins have."""

    name: str
    sigma: float
    n: int
    alpha: float
    shares: Mapping[int, tuple[float, ...]]
    reported: Reported

    @property
    def predicted(self) -> float:
        """The gain in percent that the law of the largest look gives for the looks made, over all inputs together."""
        laws = [
            sampled_law(shares, self.n, self.alpha, self.sigma, Stream(0, index, "audit", "coin_votes"))
            for index, shares in self.shares.items()
        ]
        largest = [law.largest(looks + 1) for law, looks in zip(laws, self.reported.looks, strict=True)]
        return 100 * float(np.mean(largest) / np.mean([law.mean for law in laws]) - 1)


def run(lab: Laboratory) -> Results:
    """Certify, throw the coins, then put the figures together."""
    figures, tables = [], []
    for study in lab.available(lab.scale.names):
        network, coins, law = dict[float, Estimate](), dict[float, Estimate](), dict[float, Estimate]()
        runs = []
        for sigma in study.sigmas:
            paper = lab.run(Wanted(study, sigma, "paper", "approximate"))
            found = coined(lab, study, paper, sigma)
            runs.append(paper)
            kept = [record for record in paper.records if record.index in found.shares]
            if not kept:
                continue
            network[sigma] = gain_of(reported_by(kept, study.n))
            coins[sigma] = gain_of(found.reported)
            law[sigma] = Estimate(found.predicted, None, None, len(found.shares))
        lines = (
            DrawnLine("network", network, BLUE, SOLID, "o"),
            DrawnLine("its coins", coins, ORANGE, DASHED, "s"),
            DrawnLine("predicted", law, BLACK, DOTTED, "X"),
        )
        panel = Panel(f"protocol {protocol_name('paper')}", lines)
        caption = captioned(_WHAT, runs)
        name = f"coin-votes-{study.name}"
        figures.append(Figure(name, f"The gain on coins: {study.name}", ((panel,),), _STYLE, caption))
        tables.append((name, panel_table([[panel]], study.sigmas, "sigma", percent, caption)))
    return Results(SOURCE, tuple(figures), tuple(tables))


def coined(lab: Laboratory, study: Study, paper: StoredRun, sigma: float) -> Coined:
    """The search on the coins of every input that the network predicts correctly, from its file if there is one."""
    wanted = voted(study, sigma)
    return lab.simulation(study.name, kept_as(wanted), Coined, functools.partial(_coined, lab, wanted, paper))


def voted(study: Study, sigma: float) -> Wanted:
    """The run whose votes the coins have."""
    best = max((form for form in study.sound_forms if form.wide), key=lambda form: form.n, default=None)
    return Wanted(study, sigma, "sound", "full", wide=True) if best is None else Wanted.of_form(study, sigma, best)


def kept_as(wanted: Wanted) -> str:
    """The stem of the file of the search on coins with the votes of that run."""
    return f"coins-of-{wanted.name}"


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
        reported=_thrown(shares, lab.images(study), sigma, config),
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
