"""What each method gains over Cohen's radius by itself, under both protocols: a table of the page on claims."""

from collections.abc import Iterator

import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import REPORTED, gain_in_sum, mean_radius
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.same_inputs import on_inputs
from doublebubble.reproduce.scales import Scale
from doublebubble.types import Protocol

_BASE = "cohen"


def method_table(evidence: Evidence) -> str:
    """By study and sigma the gain of every method under each protocol; empty where nothing was run."""
    published, sound = (_methods(protocol) for protocol in ("paper", "sound"))
    names = [f"`paper`: {name}" for name in published] + [f"`sound`: {name}" for name in sound]
    rows = list(_rows(evidence, published, sound))
    columns = ["gain over each protocol's own Cohen", *names, "`sound`: the plan"]
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n{''.join(rows)}" if rows else ""


def sound_table(evidence: Evidence) -> str:
    """The columns of `sound` alone, on every input that it was run on; empty where nothing was run."""
    methods = [*_methods("sound"), REPORTED]
    rows = []
    for study in evidence.scale.studies:
        for sigma in study.sigmas:
            table = evidence.frame(voted(study, sigma))
            if table is not None:
                cells = [gain_words(table, method, table, counted=False) for method in methods]
                rows.append(f"| {study.name}, sigma {sigma:g} ({_correct(table)}) | {' | '.join(cells)} |\n")
    columns = ["`sound`, gain over Cohen", *methods[:-1], "the plan"]
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n{''.join(rows)}" if rows else ""


def _methods(protocol: Protocol) -> list[str]:
    return [method for method in registry.names(protocol) if method != _BASE]


def _rows(evidence: Evidence, published: list[str], sound: list[str]) -> Iterator[str]:
    for study in evidence.scale.studies:
        for sigma in study.curves:
            paper = evidence.published(study, sigma, "full")
            ours = evidence.frame(voted(study, sigma))
            if ours is not None and paper is not None:
                ours = on_inputs(ours, paper["index"])
            if paper is None and ours is None:
                continue
            cells = [gain_words(paper, method, paper, counted=False) for method in published]
            cells += [gain_words(ours, method, ours, counted=False) for method in (*sound, REPORTED)]
            counts = ", ".join(dict.fromkeys(str(_correct(table)) for table in (paper, ours) if table is not None))
            yield f"| {study.name}, sigma {sigma:g} ({counts}) | {' | '.join(cells)} |\n"


def method_draws(scale: Scale) -> int:
    """The draws of `sound` in that table."""
    study = scale.studies[0]
    return voted(study, study.sigmas[0]).draws


def _correct(table: pd.DataFrame) -> int:
    found = mean_radius(table, _BASE)
    return 0 if found is None else found.n


def gain_words(table: pd.DataFrame | None, method: str, base: pd.DataFrame | None, counted: bool = True) -> str:
    """The gain in percent of a method in one table over Cohen's radii in the other, and the inputs it is of."""
    gain = None if table is None or base is None else gain_in_sum(table, method, base)
    if gain is None:
        return NOT_RUN
    return f"{gain.value:+z.1f} %" + (f" ({gain.n})" if counted else "")
