"""How much of the published gain on a network its coins report too: a table of the page on claims."""

from dataclasses import dataclass

import pandas as pd

from doublebubble.report.tables import percent
from doublebubble.reproduce.coin_votes import Coined
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.no_gain import gain_of
from doublebubble.reproduce.scales import Study

_HEAD = """### On networks

The same for networks: each input keeps its image and its class probabilities, but votes come from independent coins,
so that nothing can be gained. Gains of single transitivity over Cohen by approximate gradients, in sum over the inputs
that the network predicts correctly, and how many of them are improved. What coins gain too is luck. Bands are 95 %.

| study | sigma | inputs | on the network | on its coins | predicted | improved: network | improved: coins |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Thrown:
    """A network at one sigma: what the published search reports on it, and on its coins."""

    study: Study
    sigma: float
    network: Reported
    coins: Coined

    @property
    def row(self) -> str:
        """The line of the table."""
        on_coins = self.coins.reported
        cells = [self.study.name, f"{self.sigma:g}", str(len(on_coins.cohen))]
        cells += [percent(gain_of(self.network)), percent(gain_of(on_coins)), f"{self.coins.predicted:+.2f} %"]
        cells += [f"{improved_share(self.network):.0%}", f"{improved_share(on_coins):.0%}"]
        return "| " + " | ".join(cells) + " |\n"


def improved_share(reported: Reported) -> float:
    """The part of inputs whose largest radius is above Cohen's."""
    return sum(a < b for a, b in zip(reported.cohen, reported.largest, strict=True)) / len(reported.cohen)


def thrown(evidence: Evidence, study: Study) -> list[Thrown]:
    """A study at each sigma at which its coins were thrown for some input."""
    found = []
    for sigma in study.sigmas:
        coins, table = evidence.coined(study, sigma), evidence.published(study, sigma, "approximate")
        if coins is not None and coins.shares and table is not None:
            found.append(Thrown(study, sigma, _on_network(table, coins), coins))
    return found


def _on_network(table: pd.DataFrame, coins: Coined) -> Reported:
    kept = table.set_index("index").loc[list(coins.shares)]
    return Reported(cohen=tuple(kept["radius_cohen"]), largest=tuple(kept["radius_single"]), looks=(0,) * len(kept))


def coin_table(evidence: Evidence) -> str:
    """The part of the page, empty if no coins were thrown."""
    rows = [one.row for study in evidence.scale.studies for one in thrown(evidence, study)]
    return _HEAD + "".join(rows) if rows else ""
