"""Frames like those of `load_run`, made up by hypothesis."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from doublebubble.types import ABSTAIN

METHODS = ("cohen", "single", "double", "first_order")
RADIUS = st.sampled_from([0.0, 0.1, 0.175, 0.25, 0.325, 0.5, 0.9])
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), RADIUS, RADIUS, RADIUS, RADIUS, st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=30,
)
Row = tuple[int, int, float, float, float, float, int, bool]


def table(rows: list[Row]) -> pd.DataFrame:
    """A frame: label, selected class, the four methods' radii, which of them was the plan, whether the input failed."""
    found = []
    for index, (label, selected, *radii, plan, failed) in enumerate(rows):
        radius = 0.0 if failed else radii[plan]
        prediction = selected if radius > 0 else ABSTAIN
        row: dict[str, object] = {
            "index": index,
            "label": label,
            "prediction": prediction,
            "radius": radius,
            "correct": prediction == label,
            "status": "failed" if failed else ("certified" if radius > 0 else "not_separated"),
            "selected": ABSTAIN if failed else selected,
            "method": None if failed else METHODS[plan],
            "guarantee": "none" if failed else "exact",
            "seconds": 0.0 if failed else 1.0 + index,
        }
        row |= {f"radius_{m}": np.nan if failed else r for m, r in zip(METHODS, radii, strict=True)}
        found.append(row)
    return pd.DataFrame(found).astype({"label": "Int64"})
