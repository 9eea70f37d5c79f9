"""A run as the page shows it: named apart from the others, with its own curves, marked as it must be."""

from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.config import CertifyConfig
from doublebubble.report.page.run_view import PLAN, views
from doublebubble.runs.store import StoredRun
from tests.report.page.samples import stored, stored_paper
from tests.runs.samples import spec


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return stored(tmp_path_factory.mktemp("runs") / "one")


def named(run: StoredRun, *paths: str) -> list[str]:
    return [view.name for view in views([replace(run, path=Path(path)) for path in paths])]


def test_names_are_as_short_as_they_can_be(run: StoredRun) -> None:
    assert named(run, "/x/a", "/y/b") == ["a", "b"]
    assert named(run, "/x/a", "/y/a", "/y/b") == ["/x/a", "/y/a", "b"]
    assert named(run, "/x/a", "/x/a") == ["/x/a (1)", "/x/a (2)"]


def test_a_curve_for_the_plan_and_for_each_method_in_the_order_asked_for(run: StoredRun) -> None:
    (view,) = views([run])
    assert list(view.curves) == [PLAN, "cohen", "double"]
    for name, curve in view.curves.items():
        radii = [record.radius if name == PLAN else record.radii.get(name, 0.0) for record in run.records]
        certified = sum(
            record.correct is True and (radius > 0 if name != PLAN else True) and radius >= 0.1
            for record, radius in zip(run.records, radii, strict=True)
        )
        at = [count for radius, count in zip(curve.radii, curve.certified, strict=True) if radius >= 0.1]
        assert (at[0] if at else 0) == certified


def test_the_curve_of_the_plan_is_not_that_of_the_largest_radius(run: StoredRun) -> None:
    (as_it_is,) = views([run])
    larger = [record.model_copy(update={"radii": {"cohen": 9.0, "double": 0.1}}) for record in run.records]
    (view,) = views([replace(run, records=tuple(larger))])
    assert view.curves[PLAN].radii.tolist() == as_it_is.curves[PLAN].radii.tolist()
    assert view.curves[PLAN].certified.tolist() == as_it_is.curves[PLAN].certified.tolist()
    assert view.summary([0.0]) == as_it_is.summary([0.0])


def test_methods_chosen_per_input_have_no_curves_of_their_own(run: StoredRun) -> None:
    auto = replace(run, spec=spec("0:40", config=CertifyConfig(n=1000, n0=10)))
    (view,) = views([auto])
    assert view.methods == ()
    assert list(view.curves) == [PLAN]


def test_marks_and_the_word_for_the_reported_radius(run: StoredRun, tmp_path: Path) -> None:
    sound, paper = views([run, stored_paper(tmp_path / "paper")])
    assert (sound.mark, sound.reported) == ("", "reported radius")
    assert (paper.mark, paper.reported) == ("not guaranteed", "largest, as published")
    assert sound.summary([0.0]).n == len(run.records)
