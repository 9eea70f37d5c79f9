"""Claims about gains: their numbers are those of the records, counted here again by hand."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from doublebubble import registry
from doublebubble.reproduce.claim_cells import (
    cell,
    in_brief,
    percents,
    share,
)
from doublebubble.reproduce.claim_measures import improved_share, mean_percent, percent_in_sum, share_won
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import average_gain, boundary_wins, growth, improved, not_improvable
from doublebubble.reproduce.laboratory import GRADIENTS, Wanted
from doublebubble.reproduce.packed import pack_runs
from doublebubble.reproduce.scales import SoundForm, Study, Which
from doublebubble.reproduce.trials import in_a_word, median_grows, wins_more
from doublebubble.runs.tables import load_run
from doublebubble.types import GradientKind
from tests.reproduce.invented import SCALE, STUDY, invent


def radii(made: Path, wanted: Wanted, inputs: int | None = None) -> tuple[list[float], list[float]]:
    """Cohen's and the reported radii of correctly predicted inputs that have the former, or of the first ones."""
    table = load_run(made / "made" / wanted.name)[:inputs]
    columns = (table[name].tolist() for name in ("selected", "label", "radius_cohen", "radius"))
    rows = [
        (cohen, mine) for selected, label, cohen, mine in zip(*columns, strict=True) if selected == label and cohen > 0
    ]
    return [a for a, _ in rows], [b for _, b in rows]


def share_with_band(gains: list[float]) -> tuple[float, float]:
    """Clopper and Pearson's band of the share above 0."""
    k, n = sum(gain > 0 for gain in gains), len(gains)
    return float(beta.ppf(0.025, k, n - k + 1)), float(beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0


def in_sum(rows: tuple[list[float], list[float]]) -> str:
    average = np.mean([100 * (b / a - 1) for a, b in zip(*rows, strict=True)])
    return f"{average:+.1f} %, in sum {100 * (sum(rows[1]) / sum(rows[0]) - 1):+.1f} %"


def test_numbers_are_those_of_the_records(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    cohen, largest = radii(made, Wanted(STUDY, 0.5, "paper", "full"))
    table = evidence.published(STUDY, 0.5, "full")
    assert table is not None
    part, average = improved_share(table), mean_percent(table)
    assert part is not None
    assert average is not None
    assert part.value == sum(b > a for a, b in zip(cohen, largest, strict=True)) / len(cohen)
    gain = float(np.mean([100 * (b / a - 1) for a, b in zip(cohen, largest, strict=True)]))
    assert average.value == pytest.approx(gain)
    answer = average_gain(evidence)
    assert 0 < len(cohen) < 12, "some inputs are wrong or have no radius"
    total = 100 * (sum(largest) / sum(cohen) - 1)
    assert f"/ {gain:+.1f} %, in sum {total:+.1f} % (" in answer.paper
    assert f"{len(cohen)} of 12 inputs)" in answer.paper
    every = Wanted(STUDY, 0.5, "sound", "full", which="all")
    same, plan = radii(made, every, 12), radii(made, every)
    assert answer.sound == (
        f"digits, sigma 0.5: {in_sum(same)} ({len(same[0])} of 12 inputs)<br>"
        f"digits, more inputs, sigma 0.5: {in_sum(plan)} ({len(plan[0])} of 20 inputs)"
    )
    narrow = in_sum(same).replace(" %", "\u00a0%")
    assert answer.brief.sound == f"digits: {narrow}"
    thrifty = radii(made, Wanted(STUDY, 0.5, "paper", "full", which="all", thrifty=True))
    aside = float(np.mean([100 * (b / a - 1) for a, b in zip(*thrifty, strict=True)]))
    assert "digits, thrifty form, sigma 0.5: " in answer.paper
    assert "thrifty" not in answer.brief.paper
    assert f"/ {aside:+.1f} %, " in answer.paper
    assert f"{len(thrifty[0])} of 20 inputs)" in answer.paper
    assert "was not run" in improved(evidence).sentence, "no coins were thrown"


def test_shares_that_methods_win_are_of_all_methods_that_were_asked_for(made: Path) -> None:
    for wanted in (Wanted(STUDY, 0.5, "paper", "full"), Wanted(STUDY, 0.5, "sound", "full", which="all")):
        table, protocol = load_run(made / "made" / wanted.name), wanted.protocol
        found = {method: share_won(table, method) for method in registry.names(protocol)}
        shares = {method: 0.0 if one is None else one.value for method, one in found.items()}
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
    counts, bands = [], []
    for gradient in GRADIENTS:
        for sigma in STUDY.curves:
            gains = [b / a - 1 for a, b in zip(*radii(made, Wanted(STUDY, sigma, "paper", gradient)), strict=True)]
            shares[gradient, sigma] = sum(gain > 0 for gain in gains) / len(gains)
            bands.append(share_with_band(gains))
            counts.append(len(gains))
    brief = improved(evidence).brief
    sides = [[f"{100 * shares[gradient, sigma]:.0f}" for gradient in GRADIENTS] for sigma in STUDY.curves]
    line = "\u00a0→ ".join(" to ".join(dict.fromkeys(sorted(both, key=float))) + "%" for both in sides)
    least, most = min(counts), max(counts)
    among = f"{least}" if least == most else f"{least} to {most}"
    assert brief.paper == f"digits ({among}): {line}"
    said = [low > 0.8 or (None if high > 0.8 else False) for low, high in bands]
    assert brief.as_printed == f"not run; {in_a_word(said)} on digits", "the claim is of Tiny-ImageNet"
    assert "proves nothing" in boundary_wins(evidence).sentence
    assert not_improvable(evidence).brief.paper.endswith("% not improved")


def test_growth_is_tried_from_each_sigma_to_the_next_by_either_gradient(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    steps = []
    for gradient in GRADIENTS:
        tables = [load_run(made / "made" / Wanted(STUDY, sigma, "paper", gradient).name) for sigma in STUDY.sigmas]
        steps += list(pairwise(tables))
    assert len(steps) == 2 * (len(STUDY.sigmas) - 1) > 0
    grown = in_a_word(median_grows(*step) for step in steps)
    assert growth(evidence).brief.as_printed == f"growth: {grown} on digits; shape: not tested"
    methods = registry.names("paper")
    won = in_a_word(wins_more(*step, "boundary", methods) for step in steps)
    assert boundary_wins(evidence).brief.as_printed == f"{won} on digits"


def test_a_step_over_a_sigma_that_was_not_run_is_none(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scale = replace(SCALE, studies=(replace(STUDY, sigmas=(0.5, 0.75, 1.0)),))
    evidence = Evidence(made, scale)
    assert evidence.published(STUDY, 0.75, "full") is None
    assert evidence.published(STUDY, 1.0, "full") is not None
    assert growth(evidence).brief.as_printed == "not run"


def test_an_average_gain_must_be_one_in_sum_too(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One input with hardly any Cohen radius moves the mean of percentages and not the sum of radii."""
    real = Evidence.published

    def judged(gains: list[float], cohen: list[float]) -> str:
        def held(evidence: Evidence, study: Study, sigma: float, gradient: GradientKind) -> pd.DataFrame | None:
            table = real(evidence, study, sigma, gradient)
            if table is None:
                return None
            base = pd.Series(cohen)
            return table.assign(selected=3, label=3, radius_cohen=base, radius=base * (1 + pd.Series(gains) / 100))

        with monkeypatch.context() as patch:
            patch.setattr(Evidence, "published", held)
            return average_gain(Evidence(made, SCALE)).brief.as_printed

    even = [0.5] * 12
    assert judged([9.0, 10.0] * 6, even) == "yes on digits"
    assert judged([1.0, 2.0] * 6, even) == "no on digits"
    assert judged([0.0, 11.0] * 6, even) == "undecided on digits"
    assert judged([90.0, 91.0] * 3 + [0.0, 1.0] * 3, [1e-6] * 6 + [1.0] * 6) == "undecided on digits"


class WithAuto(Evidence):
    """`sound` by `auto` at most draws: a tenth more than Cohen on the inputs of the published form, or on all."""

    form = SoundForm(900, 0.001, ("auto",), which="first")
    there: tuple[Which, ...] = ("first",)

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        table = super().frame(replace(wanted, methods=None, n=None, alpha=None, which="all") if wanted.n else wanted)
        if wanted.n is None or table is None:
            return table
        part = {"first": table[:12], "other": table[12:]}[wanted.which]
        return part.assign(radius=1.1 * part["radius_cohen"]) if wanted.which in self.there else None


def test_auto_at_most_draws_stands_beside_claims_about_gains(made: Path) -> None:
    scale = replace(SCALE, studies=(replace(STUDY, sound_forms=(WithAuto.form,)),))
    evidence = WithAuto(made, scale)
    answer = average_gain(evidence)
    long = "+10.0 %, in sum +10.0 %"
    count = len(radii(made, Wanted(STUDY, 0.5, "sound", "full", which="all"), 12)[0])
    assert answer.sound.endswith(f"<br>digits, n = 900, sigma 0.5: {long} ({count} of 12 inputs)")
    assert answer.brief.sound.endswith("; n = 900: " + long.replace(" %", "\u00a0%"))
    nothing = average_gain(WithAuto(made.parent / "nowhere", scale))
    assert nothing.sound == nothing.brief.sound == "not run"
    assert "n = 900" not in boundary_wins(evidence).sound, "auto runs one method: shares of methods need them all"
    assert "digits, n = 900, sigma 0.25: 0% not improved" in not_improvable(evidence).sound
    evidence.there = ("first", "other")
    count = len(radii(made, Wanted(STUDY, 0.5, "sound", "full", which="all"), 20)[0])
    every = f"<br>digits, n = 900, more inputs, sigma 0.5: {long} ({count} of 20 inputs)"
    assert average_gain(evidence).sound == answer.sound + every


def test_nothing_is_of_more_inputs_where_all_are_given_the_published_form(tmp_path: Path) -> None:
    study = replace(STUDY, published_on_all=True, sound_forms=(WithAuto.form,))
    paper = Wanted(study, 0.5, "paper", "full")
    wishes = [*paper.parts, replace(paper, protocol="sound", which="all"), replace(paper, which="all", thrifty=True)]
    made = [invent(tmp_path / "made" / one.name, one, SCALE.alpha, False) for one in wishes]
    pack_runs([run.path for run in made[1:]], tmp_path / "runs")
    scale = replace(SCALE, studies=(study,))
    assert average_gain(Evidence(tmp_path, scale)).brief.paper == "not run", "one of two parts is not there"
    pack_runs([made[0].path], tmp_path / "runs")
    evidence = WithAuto(tmp_path, scale)
    evidence.there = ("first", "other")
    answer = average_gain(evidence)
    count = sum(len(radii(tmp_path, one, 20)[0]) for one in wishes[:2])
    assert "digits, sigma 0.5: not run, not run / " in answer.paper
    assert f"({count} of 20 inputs)<br>digits, thrifty form, sigma 0.5: " in answer.paper
    assert "more inputs" not in answer.paper + answer.sound
    assert answer.sound.count("of 20 inputs)") == 2, "by the same draws, and by most of them"


def test_a_line_in_brief_names_what_was_not_run(made: Path, tmp_path: Path) -> None:
    shown = share(improved_share)
    for evidence in (Evidence(made, SCALE), Evidence(tmp_path, SCALE)):
        for parts in in_brief(evidence, STUDY, shown, (0.5, 7.0), longest=False):
            assert cell(parts).count("not run") == 1
            assert cell(parts).endswith("not run")


def test_what_is_shown_is_the_least_and_the_most() -> None:
    empty = pd.DataFrame({"selected": [1], "label": [2], "radius": [0.5], "radius_cohen": [0.5]})
    (average, total) = percents(on_average=mean_percent, in_sum=percent_in_sum)
    assert average.said([empty, None]) is None
    low, high = (empty.assign(label=1, radius=0.5 * (1 + gain)) for gain in (-0.125, 0.25))
    assert average.said([high, empty, low]) == "-12.5 to +25.0 %"
    assert total.said([high]) == "in sum +25.0 %"
    (part,) = share(improved_share, " of them")
    assert part.said([low, high]) == "0 to 100% of them"
