"""What each method gains over Cohen's radius by itself, under both protocols: a table of the page on claims."""

from collections.abc import Iterator

import pandas as pd

from doublebubble import registry
from doublebubble.report.measures import REPORTED, mean_radius
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.scales import Scale
from doublebubble.types import Protocol

_BASE = "cohen"


def method_table(evidence: Evidence) -> str:
    """By study and sigma the gain of every method under each protocol; empty where nothing was run."""
    published, sound = (_methods(protocol) for protocol in ("paper", "sound"))
    names = [f"`paper`: {name}" for name in published] + [f"`sound`: {name}" for name in sound]
    rows = list(_rows(evidence, published, sound))
    columns = ["gain over Cohen's", *names, "`sound`: the plan"]
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n{''.join(rows)}" if rows else ""


def _methods(protocol: Protocol) -> list[str]:
    return [method for method in registry.names(protocol) if method != _BASE]


def _rows(evidence: Evidence, published: list[str], sound: list[str]) -> Iterator[str]:
    for study in evidence.scale.studies:
        for sigma in study.curves:
            paper = evidence.published(study, sigma, "full")
            ours = evidence.frame(voted(study, sigma))
            if paper is None and ours is None:
                continue
            cells = [_words(paper, method) for method in published] + [_words(ours, m) for m in [*sound, REPORTED]]
            counts = ", ".join(str(_correct(table)) for table in (paper, ours) if table is not None)
            yield f"| {study.name}, sigma {sigma:g} ({counts}) | {' | '.join(cells)} |\n"


def method_draws(scale: Scale) -> int:
    """The draws of `sound` in that table."""
    study = scale.studies[0]
    return voted(study, study.sigmas[0]).draws


def _words(table: pd.DataFrame | None, method: str) -> str:
    gain = gain_over_cohen(table, method, table)
    return NOT_RUN if gain is None else f"{gain:+z.1f} %"


def _correct(table: pd.DataFrame) -> int:
    found = mean_radius(table, _BASE)
    return 0 if found is None else found.n


def gain_over_cohen(table: pd.DataFrame | None, method: str, base: pd.DataFrame | None) -> float | None:
    """By how many percent a method's mean radius in one table exceeds Cohen's in the other."""
    mine = None if table is None else mean_radius(table, method)
    cohen = None if base is None else mean_radius(base, _BASE)
    if mine is None or cohen is None or cohen.value == 0:
        return None
    return 100 * (mine.value / cohen.value - 1)


def gain_words(table: pd.DataFrame | None, method: str, base: pd.DataFrame | None) -> str:
    """The same in words, with the number of correctly predicted inputs."""
    gain, mine = gain_over_cohen(table, method, base), None if table is None else mean_radius(table, method)
    return NOT_RUN if gain is None or mine is None else f"{gain:+z.1f} % ({mine.n})"


def with_cohen(table: pd.DataFrame | None, before: pd.DataFrame | None) -> pd.DataFrame | None:
    """The table that has Cohen's radius of every input: its own, or one of the same inputs and n before it.

    A run of `auto` need not hold Cohen's.
    """
    if table is None or _holds_cohen(table):
        return table
    same = ["index", "alpha", "selected"]
    return before if before is not None and _holds_cohen(before) and table[same].equals(before[same]) else None


def _holds_cohen(table: pd.DataFrame) -> bool:
    return "radius_cohen" in table and not table["radius_cohen"].isna().any()


def spaced(n: int) -> str:
    """A number of draws as the pages write it."""
    return f"{n:,}".replace(",", " ")
