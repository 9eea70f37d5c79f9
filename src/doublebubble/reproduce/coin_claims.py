"""How much of the published gain on a network its coins report too: a table of the page on claims."""

from dataclasses import dataclass

import pandas as pd

from doublebubble.report.tables import percent
from doublebubble.reproduce.coin_votes import Coined
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.scales import Study
from doublebubble.runs.statistics import BAND_ALPHA

_HEAD = """### On networks

The same for networks: each input keeps its image and its class probabilities, but votes come from independent coins,
so that nothing can be gained. Gains of single transitivity over Cohen by approximate gradients, in sum over the inputs
that the network predicts correctly, and how many of them are improved. Coins: the mean of all throws, the least and the
most. Were the network's gain luck alone, it would be one more throw; *as much* counts the throws that gain no less.

| study | sigma | inputs | on the network | on its coins | as much | predicted | improved: network | improved: coins |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Thrown:
    """A network at one sigma: what the published search reports on it, and on its coins."""

    study: Study
    sigma: float
    network: Reported
    coins: Coined

    @property
    def as_much(self) -> int:
        """How many throws gain no less than the network."""
        return sum(gain >= 100 * self.network.gain for gain in self.coins.gains)

    @property
    def luck(self) -> bool:
        """Whether luck alone explains the network's gain: were it one more throw, so many would not be rare."""
        return (1 + self.as_much) / (1 + len(self.coins.gains)) > BAND_ALPHA

    @property
    def row(self) -> str:
        """The line of the table."""
        cells = [self.study.name, f"{self.sigma:g}", str(len(self.coins.shares)), f"{100 * self.network.gain:+.2f} %"]
        cells += [percent(self.coins.gain), f"{self.as_much} of {len(self.coins.gains)}"]
        cells += [f"{self.coins.predicted:+.2f} %", f"{self.network.improved:.0%}", f"{self.coins.improved:.0%}"]
        return "| " + " | ".join(cells) + " |\n"


def thrown(evidence: Evidence, study: Study) -> list[Thrown]:
    """A study at each sigma at which its coins were thrown, and they and the network have a Cohen radius to gain on."""
    found = []
    for sigma in study.sigmas:
        coins, table = evidence.coined(study, sigma), evidence.published(study, sigma, "approximate")
        if coins is not None and coins.gains and table is not None:
            found.append(Thrown(study, sigma, _on_network(table, coins), coins))
    return [one for one in found if any(one.network.cohen)]


def _on_network(table: pd.DataFrame, coins: Coined) -> Reported:
    kept = table.set_index("index").loc[list(coins.shares)]
    return Reported(cohen=tuple(kept["radius_cohen"]), largest=tuple(kept["radius_single"]), looks=(0,) * len(kept))


def coin_table(evidence: Evidence) -> str:
    """The part of the page, empty if no coins were thrown."""
    rows = [one.row for study in evidence.scale.studies for one in thrown(evidence, study)]
    return _HEAD + "".join(rows) if rows else ""
