"""Claims about gains: their numbers are those of the records, counted here again by hand."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doublebubble import registry
from doublebubble.reproduce.claim_cells import (
    cell,
    in_brief,
    mean_percent,
    percent_in_sum,
    percents,
    share,
    share_improved,
    share_won,
)
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import average_gain, boundary_wins, growth, improved, not_improvable
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted
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


def words(wanted: list[bool]) -> str:
    return {0: "no", len(wanted): "yes"}.get(sum(wanted), "in part")


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
    total = 100 * (sum(largest) / sum(cohen) - 1)
    assert f"/ {gain:+.1f} %, in sum {total:+.1f} % (" in answer.paper
    assert f"{len(cohen)} of 12 inputs)" in answer.paper
    plan = radii(made, Wanted(STUDY, 0.5, "sound", "full", wide=True))
    sound = float(np.mean([100 * (b / a - 1) for a, b in zip(*plan, strict=True)]))
    total = 100 * (sum(plan[1]) / sum(plan[0]) - 1)
    said_of_sound = f"{sound:+.1f} %, in sum {total:+.1f} %"
    assert answer.sound == f"digits, sigma 0.5: {said_of_sound} ({len(plan[0])} of 20 inputs)"
    narrow = said_of_sound.replace(" %", "\u00a0%")
    assert answer.brief.sound == f"digits ({len(plan[0])}): {narrow}"
    thrifty = radii(made, Wanted(STUDY, 0.5, "paper", "full", wide=True, thrifty=True))
    aside = float(np.mean([100 * (b / a - 1) for a, b in zip(*thrifty, strict=True)]))
    assert "digits, thrifty form, sigma 0.5: " in answer.paper
    assert "thrifty" not in answer.brief.paper
    assert f"/ {aside:+.1f} %, " in answer.paper
    assert f"{len(thrifty[0])} of 20 inputs)" in answer.paper
    assert "was not run" in improved(evidence).sentence, "no coins were thrown"


def test_shares_that_methods_win_are_of_all_methods_that_were_asked_for(made: Path) -> None:
    for protocol in ("paper", "sound"):
        table = load_run(made / "made" / Wanted(STUDY, 0.5, protocol, "full", wide=protocol == "sound").name)
        shares = {method: share_won(table, method) or 0.0 for method in registry.names(protocol)}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert set(shares) == {str(name).removeprefix("radius_") for name in table if str(name).startswith("radius_")}
        right = table[table["selected"] == table["label"]]
        held = right[[f"radius_{method}" for method in shares]].max(axis=1)
        chosen = right[held > 0]
        double = (chosen["radius_double"] == held[held > 0]) & (chosen["radius_boundary"] < chosen["radius_double"])
        assert shares["double"] == pytest.approx((double & (chosen["radius_cohen"] < held[held > 0])).mean())


def test_an_answer_in_brief_has_both_gradients_and_a_verdict_of_both(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    shares: dict[tuple[str, float], float] = {}
    medians: dict[str, list[float]] = {}
    counts = []
    for gradient in GRADIENTS:
        for sigma in STUDY.sigmas:
            cohen, largest = radii(made, Wanted(STUDY, sigma, "paper", gradient))
            gains = [100 * (b / a - 1) for a, b in zip(cohen, largest, strict=True)]
            medians.setdefault(gradient, []).append(float(np.median(gains)))
            if sigma in STUDY.curves:
                shares[gradient, sigma] = sum(gain > 0 for gain in gains) / len(gains)
                counts.append(len(gains))
    brief = improved(evidence).brief
    sides = [[f"{100 * shares[gradient, sigma]:.0f}" for gradient in GRADIENTS] for sigma in STUDY.curves]
    line = "\u00a0→ ".join(" to ".join(dict.fromkeys(sorted(both, key=float))) + "%" for both in sides)
    least, most = min(counts), max(counts)
    among = f"{least}" if least == most else f"{least} to {most}"
    assert brief.paper == f"digits ({among}): {line}"
    assert brief.as_printed == words([share > 0.8 for share in shares.values()]) + ", on digits"
    grows = [b > a for values in medians.values() for a, b in pairwise(values)]
    assert growth(evidence).brief.as_printed == words(grows)
    assert "proves nothing" in boundary_wins(evidence).sentence
    assert not_improvable(evidence).brief.paper.endswith("% not improved")


def test_a_line_in_brief_names_what_was_not_run(made: Path, tmp_path: Path) -> None:
    shown = share(share_improved)
    for evidence in (Evidence(made, SCALE), Evidence(tmp_path, SCALE)):
        for parts in in_brief(evidence, STUDY, shown, (0.5, 7.0)):
            assert cell(parts).count("not run") == 1
            assert cell(parts).endswith("not run")


def test_what_is_shown_is_the_least_and_the_most() -> None:
    empty = pd.DataFrame({"selected": [1], "label": [2], "radius": [0.5], "radius_cohen": [0.5]})
    (average, total) = percents(on_average=mean_percent, in_sum=percent_in_sum)
    assert average.said([empty, None]) is None
    low, high = (empty.assign(label=1, radius=0.5 * (1 + gain)) for gain in (-0.125, 0.25))
    assert average.said([high, empty, low]) == "-12.5 to +25.0 %"
    assert total.said([high]) == "in sum +25.0 %"
    (part,) = share(share_improved, " of them")
    assert part.said([low, high]) == "0 to 100% of them"
