"""Claims about gains: their numbers are those of the records, counted here again by hand."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublebubble.reproduce.claim_cells import mean_percent, points_added, share_improved, share_won, trend
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import average_gain, boundary_wins, growth, improved, macer
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.runs.tables import load_run
from tests.reproduce.invented import SCALE, STUDY


def radii(made: Path, wanted: Wanted) -> tuple[list[float], list[float]]:
    """Cohen's and the reported radii of correctly predicted inputs that have the former."""
    table = load_run(made / "made" / wanted.name)
    columns = (table[name].tolist() for name in ("selected", "label", "radius_cohen", "radius"))
    rows = [
        (cohen, mine) for selected, label, cohen, mine in zip(*columns, strict=True) if selected == label and cohen > 0
    ]
    return [a for a, _ in rows], [b for _, b in rows]


def test_numbers_are_those_of_the_records(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    cohen, largest = radii(made, Wanted(STUDY, 0.5, "paper", "full"))
    table = evidence.published(STUDY, 0.5, "full")
    assert table is not None
    assert share_improved(table) == sum(b > a for a, b in zip(cohen, largest, strict=True)) / len(cohen)
    gain = float(np.mean([100 * (b / a - 1) for a, b in zip(cohen, largest, strict=True)]))
    assert mean_percent(table) == pytest.approx(gain)
    answer = average_gain(evidence)
    assert 0 < len(cohen) < 12, "some inputs are wrong or have no radius"
    assert f"/ {gain:+.1f} % (" in answer.paper
    assert f"{len(cohen)} of 12 inputs)" in answer.paper
    plan = radii(made, Wanted(STUDY, 0.5, "sound", "full", wide=True))
    sound = float(np.mean([100 * (b / a - 1) for a, b in zip(*plan, strict=True)]))
    assert answer.sound == f"digits, sigma 0.5: {sound:+.1f} % ({len(plan[0])} of 20 inputs)"
    sums = [100 * (sum(b) / sum(a) - 1) for a, b in ((cohen, largest), plan)]
    words = " / ".join(f"{value:+.1f} %" for value in sums)
    assert answer.sentence.endswith(f"the sum of radii grows by (`paper`, full gradients / `sound`): digits {words}.")
    thrifty = radii(made, Wanted(STUDY, 0.5, "paper", "full", wide=True, thrifty=True))
    aside = float(np.mean([100 * (b / a - 1) for a, b in zip(*thrifty, strict=True)]))
    assert "thrifty form, sigma 0.5: " in answer.paper
    assert f"/ {aside:+.1f} % (" in answer.paper
    assert f"{len(thrifty[0])} of 20 inputs)" in answer.paper
    assert f": {share_improved(table):.0%} of {len(cohen)} inputs" in improved(evidence).brief.paper
    assert "was not run" in improved(evidence).sentence, "no coins were thrown"
    shares = [share_won(table, method) or 0.0 for method in ("cohen", "single", "boundary", "double")]
    assert sum(shares) == pytest.approx(1.0)


def test_an_answer_in_brief_has_the_numbers_of_full_gradients(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    shares, words = {}, []
    for sigma in STUDY.curves:
        cohen, largest = radii(made, Wanted(STUDY, sigma, "paper", "full"))
        shares[sigma] = sum(b > a for a, b in zip(cohen, largest, strict=True)) / len(cohen)
        words.append(f"sigma {sigma:g}: {shares[sigma]:.0%} of {len(cohen)} inputs")
    brief = improved(evidence).brief
    assert brief.paper == "<br>".join(words)
    expected = {0: "no", len(shares): "yes"}.get(sum(share > 0.8 for share in shares.values()), "in part")
    assert brief.as_printed == expected
    medians = []
    for sigma in STUDY.sigmas:
        cohen, largest = radii(made, Wanted(STUDY, sigma, "paper", "full"))
        medians.append(float(np.median([100 * (b / a - 1) for a, b in zip(cohen, largest, strict=True)])))
    grows = [b > a for a, b in pairwise(medians)]
    assert growth(evidence).brief.as_printed == {0: "no", len(grows): "yes"}.get(sum(grows), "in part")
    assert "proves nothing" in boundary_wins(evidence).sentence


def test_macer(made: Path) -> None:
    answer = macer(Evidence(made, SCALE))
    assert "An epoch of MACER took 5.5 times as long" in answer.sentence
    assert "against Gaussian of equal time: not run" in answer.paper
    means = []
    for kind in ("macer", "gaussian"):
        table = load_run(made / "made" / Wanted(STUDY, 0.5, "paper", "full", kind).name)
        means.append(table.loc[table["selected"] == table["label"], "radius_cohen"].mean())
    change = 100 * (means[0] / means[1] - 1)
    assert f"sigma 0.5: against Gaussian of equal epochs: Cohen's mean radius {change:+.1f} %" in answer.paper
    assert answer.brief.paper.startswith(f"sigma 0.5 at equal epochs: {change:+.1f} %")
    assert answer.brief.as_printed in ("in part", "no"), "an epoch of 5.5 times is not ten times"


def test_macer_at_equal_time_is_beside_the_longer_training(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Evidence.frame

    def with_longer(evidence: Evidence, wanted: Wanted) -> pd.DataFrame | None:
        """The longer Gaussian training has twice the radii of the shorter one."""
        table = real(evidence, replace(wanted, study=STUDY))
        longer = wanted.study.name != STUDY.name
        return table.assign(radius_cohen=2 * table["radius_cohen"]) if longer and table is not None else table

    before = macer(Evidence(made, SCALE)).brief
    monkeypatch.setattr(Evidence, "frame", with_longer)
    brief = macer(Evidence(made, SCALE)).brief
    for words, alone in ((brief.paper, before.paper), (brief.sound, before.sound)):
        epochs, time = (float(part.split(": ")[1].removesuffix(" %")) for part in words.split("<br>")[:2])
        assert words.split("<br>")[1].startswith("sigma 0.5 at equal time: ")
        assert alone.startswith(words.split("<br>")[0])
        assert 1 + time / 100 == pytest.approx((1 + epochs / 100) / 2, abs=1e-3)


def test_points_that_the_search_adds(made: Path) -> None:
    table = load_run(made / "made" / Wanted(STUDY, 0.5, "paper", "full").name)
    assert points_added(table) >= 0
    assert points_added(table.assign(radius=table["radius_cohen"])) == pytest.approx(0.0)


def test_a_trend_is_what_the_values_do(made: Path) -> None:
    assert trend("It", [1.0, 2.0, 3.0]) == "It grows at every step."
    assert trend("It", [1.0, 2.0, 1.5]) == "It does not grow at every step (1, 2, 1.5)."
    assert growth(Evidence(made, SCALE)).sentence.startswith("The median under `paper`, full gradients ")
