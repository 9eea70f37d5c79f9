"""What stands side by side is of the same inputs, each with Cohen's radius of its own draws or of so many others."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.same_inputs import beside_published, compared, longest_auto, with_cohen
from doublebubble.reproduce.scales import SoundForm, Study
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY

PLAIN = pd.DataFrame({"index": [0, 5], "alpha": 0.001, "selected": [3, 4], "radius_cohen": [1.0, 0.5]})
AUTO = PLAIN.assign(radius_cohen=[1.0, float("nan")])
SHORT, LONG = SoundForm(400, 0.001, ("cohen",), which="all"), SoundForm(900, 0.001, ("auto",), which="first")
MIXED = replace(STUDY, sound_forms=(SHORT, replace(SHORT, methods=("auto",)), LONG, replace(LONG, methods=("cohen",))))


class Held(Evidence):
    """Results whose runs of `sound` are these tables, by draws and methods."""

    def __init__(self, tables: dict[tuple[int, tuple[str, ...]], pd.DataFrame], published: pd.DataFrame | None) -> None:
        super().__init__(Path("nowhere"), SCALE)
        self.tables, self.paper = tables, published

    def sound(self, study: Study, sigma: float, form: SoundForm | None = None) -> pd.DataFrame | None:
        return self.tables.get((form.n, form.methods or ())) if form else self.tables.get((study.n, ()))

    def published(self, study: Study, sigma: float, gradient: str) -> pd.DataFrame | None:
        return self.paper if gradient == "full" else None


def test_sound_is_cut_to_the_inputs_of_the_published_form(made: Path) -> None:
    found = beside_published(Evidence(made, SCALE), STUDY, 0.5)
    assert found is not None
    assert found["index"].tolist() == list(range(12)), "the run has 20 inputs"
    every = load_run(made / "made" / Wanted(STUDY, 0.5, "sound", "full", which="all").name)
    pd.testing.assert_series_equal(found["radius"], every["radius"][:12])


def test_all_inputs_must_be_there_and_cohens_radii_too() -> None:
    three = pd.DataFrame({"index": [0, 5, 7], "alpha": 0.05, "selected": [3, 4, 5], "radius_cohen": [1.0, 0.5, 0.25]})
    found = beside_published(Held({(STUDY.n, ()): three}, PLAIN), STUDY, 0.5)
    assert found is not None
    assert found["index"].tolist() == [0, 5]
    assert beside_published(Held({(STUDY.n, ()): PLAIN}, three), STUDY, 0.5) is None
    assert beside_published(Held({(STUDY.n, ()): three}, None), STUDY, 0.5) is None
    assert beside_published(Held({}, PLAIN), STUDY, 0.5) is None
    assert beside_published(Held({(STUDY.n, ()): AUTO}, PLAIN), STUDY, 0.5) is None


@pytest.mark.parametrize("draws", [400, 900])
def test_auto_takes_cohens_radii_from_the_run_of_so_many_draws(draws: int) -> None:
    more = pd.concat([PLAIN, PLAIN.assign(index=[8, 9])]).reset_index(drop=True)
    form = SHORT if draws == 400 else LONG
    auto = replace(form, methods=("auto",))
    found = compared(Held({(draws, ("cohen",)): more}, PLAIN), AUTO, MIXED, 0.5, auto)
    assert found is not None
    assert found["radius_cohen"].tolist() == [1.0, 0.5]
    assert compared(Held({(1300 - draws, ("cohen",)): more}, PLAIN), AUTO, MIXED, 0.5, auto) is None
    both = Held({(draws, ("cohen",)): more, (draws, ("auto",)): AUTO}, PLAIN)
    beside = beside_published(both, MIXED, 0.5, auto)
    assert beside is not None
    assert beside["radius_cohen"].tolist() == [1.0, 0.5]


def test_the_longest_auto_is_that_of_most_draws() -> None:
    assert longest_auto(MIXED) == LONG
    assert longest_auto(replace(STUDY, sound_forms=(SHORT,))) is None


def test_auto_stands_beside_the_cohen_radii_of_the_same_inputs() -> None:
    assert with_cohen(PLAIN, None) is PLAIN
    assert with_cohen(AUTO, PLAIN) is PLAIN
    assert with_cohen(PLAIN.drop(columns="radius_cohen"), PLAIN) is PLAIN
    assert with_cohen(AUTO, None) is None
    for other in ({"index": [0, 6]}, {"alpha": 0.01}, {"selected": [3, 3]}):
        assert with_cohen(AUTO, PLAIN.assign(**other)) is None
