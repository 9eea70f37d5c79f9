"""Numbers and guarantees in words: no more is claimed than is held."""

from pathlib import Path

from doublebubble.report.page.run_view import views
from doublebubble.report.page.sentences import headline, promise, state
from doublebubble.runs.statistics import CertifiedAccuracy
from tests.report.page.samples import SIZE, stored, stored_paper


def point(
    radius: float = 0.5, certified: int = 30, n: int = 40, low: float = 0.5, high: float = 0.9
) -> CertifiedAccuracy:
    return CertifiedAccuracy(radius=radius, certified=certified, n=n, low=low, high=high)


def test_only_what_is_guaranteed_is_said_to_hold(tmp_path: Path) -> None:
    sound, paper = views([stored(tmp_path / "sound"), stored_paper(tmp_path / "paper")])
    before, number, after = headline(sound, point())
    assert (before, number) == ("Of 40 inputs, ", "75.0 %")
    assert after == " are classified correctly and stay so under any change of L2 size below 0.5."
    before, _, after = headline(paper, point(n=1, certified=1))
    assert before == "Not guaranteed: of 1 input, "
    assert "stay so" not in after
    assert "Each radius holds with probability at least 1 - alpha" in promise(sound, point())
    assert "Alpha is 0.001 for each input." in promise(sound, point())
    assert "stays within [0, 1]" in promise(sound, point())
    assert "The noise is gaussian. Assumed: the model is a function of one row" in promise(sound, point())
    assert "is not a guarantee at any level" in promise(paper, point())
    assert "Assumed" not in promise(paper, point()), "there is nothing to rest on assumptions"
    assert "Alpha" not in promise(paper, point()), "a level would be read as a promise"


def test_missing_inputs_are_said(tmp_path: Path) -> None:
    whole, part = views([stored(tmp_path / "whole"), stored(tmp_path / "part", inputs=range(SIZE - 3))])
    assert state(whole) == ""
    assert state(part) == "The run is not complete: 3 of its inputs are still to be certified."
