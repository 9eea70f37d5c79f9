"""`sound` on the inputs of the published form: what stands side by side on the page is of the same inputs."""

from collections.abc import Iterable
from itertools import chain

import pandas as pd

from doublebubble import registry
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import GRADIENTS
from doublebubble.reproduce.scales import SoundForm, Study


def on_inputs(table: pd.DataFrame, chosen: Iterable[int]) -> pd.DataFrame:
    """The rows of these inputs."""
    return table[table["index"].isin(list(chosen))].reset_index(drop=True)


def beside_published(
    evidence: Evidence, study: Study, sigma: float, form: SoundForm | None = None
) -> pd.DataFrame | None:
    """`sound` with the same draws, or in another form, on the inputs that were given the published form.

    Each row has Cohen's radius of the same draws. None if one of these inputs was not run, or Cohen's radii were not.
    """
    table = evidence.sound(study, sigma, form)
    published = next((one for kind in GRADIENTS if (one := evidence.published(study, sigma, kind)) is not None), None)
    if table is None or published is None:
        return None
    rows = on_inputs(table, published["index"])
    return compared(evidence, rows, study, sigma, form) if len(rows) == len(published) else None


def compared(
    evidence: Evidence, rows: pd.DataFrame, study: Study, sigma: float, form: SoundForm | None
) -> pd.DataFrame | None:
    """The same rows with Cohen's radii: their own, or those of another run of so many draws."""
    forms = [other for other in study.sound_forms if form is not None and other.n == form.n]
    runs = (held(study, sigma, other) for other in forms for held in (evidence.sound, evidence.sound_on_all))
    for other in chain([rows], runs):
        if other is not None:
            base = with_cohen(rows, on_inputs(other, rows["index"]))
            if base is not None:
                return rows.assign(radius_cohen=base["radius_cohen"])
    return None


def longest_auto(study: Study) -> SoundForm | None:
    """The form of a study with most draws that leaves the method to `auto`, on the inputs of the published form."""
    forms = [form for form in study.sound_forms if form.methods == (registry.AUTO,) and form.which != "other"]
    return max(forms, key=lambda form: form.n, default=None)


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
