"""The first table of the page: every number is that of the records, of the coins' file, or said to be missing."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_claims import thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.packed import pack_runs
from doublebubble.reproduce.scales import SoundForm
from doublebubble.reproduce.summary import _luck, _part, summary, summary_table
from doublebubble.runs.store import read_run
from tests.reproduce.invented import SCALE, STUDY, TOSSED


def test_the_summary_has_what_is_reported_what_coins_report_and_what_holds(tossed: Evidence, made: Path) -> None:
    assert summary(Evidence(made, SCALE)) == ""
    (one,) = thrown(tossed, STUDY)
    row = summary_table(tossed).splitlines()[-1]
    gains = [100 * (sum(one.network.largest) / sum(one.network.cohen) - 1), 100 * (0.8 / 0.75 - 1 + 0.2) / 3]
    cells = [f"{gains[0]:+.1f} %", f"{gains[1]:+.1f} %", NOT_RUN, NOT_RUN]
    assert row == f"| {STUDY.name}, sigma 0.5 (2) | {' | '.join(cells)} |"
    run = made / "made" / voted(STUDY, TOSSED).name
    pack_runs([run], tossed.folder / "runs")
    records = [record for record in read_run(run).records if record.index in one.coins.shares]
    assert len(records) == 2, "of all inputs of the run those whose coins were thrown"
    right = [record for record in records if record.counts["select"].get(record.label or 0) == 60]  # as invented
    plan, cohen = sum(record.radius or 0.0 for record in right), sum(record.radii["cohen"] for record in right)
    fewer = "" if len(right) == 2 else f" ({len(right)})"
    row = summary_table(Evidence(tossed.folder, SCALE)).splitlines()[-1]
    assert row.endswith(2 * f" | {100 * (plan / cohen - 1):+.1f} %{fewer}" + " |")
    assert summary(tossed) in claims_page(tossed)


def test_the_summary_says_which_part_of_the_gain_coins_have(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    part = (0.8 / 0.75 - 1 + 0.2) / 3 / (sum(one.network.largest) / sum(one.network.cohen) - 1)
    assert f"all the same:\n  {part:.0%} to {part:.0%} of what it reports on the network, on" in summary(tossed)


def test_luck_explains_a_row_if_many_throws_gain_as_much(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    throw = one.coins.throws[0]
    coins = one.coins.model_copy(
        update={"throws": tuple(throw.model_copy(update={"largest": (0.5 + k / 100, 0.25)}) for k in range(39))}
    )
    gains = sorted(coins.gains)
    assert len(gains) == 39
    rows = {
        at: replace(one, coins=coins, network=Reported(cohen=(1.0,), largest=(1 + gain / 100,), looks=(0,)))
        for at, gain in (("none", 99.0), ("one", gains[-1] - 1e-6), ("two", gains[-2] - 1e-6), ("all", -1.0))
    }
    assert {at: (row.as_much, row.luck) for at, row in rows.items()} == {
        "none": (0, False),
        "one": (1, False),
        "two": (2, True),
        "all": (39, True),
    }
    assert _luck([rows["two"], rows["all"]]) == "Luck explains what it reports here"
    assert _luck([rows["two"], rows["one"]]) == "Luck explains what it reports here on 1 of 2 networks"
    assert _luck([rows["none"]]) == "What it reports here is more than luck explains"
    lost = replace(one, network=Reported(cohen=(1.0,), largest=(1.0,), looks=(0,)))
    assert _part([lost]) == ""
    twice = replace(one, network=Reported(cohen=(1.0,), largest=(1 + one.coins.gain.value / 200,), looks=(0,)))
    assert _part([lost, twice]) == "200% to 200% of what it reports on the network, "


class Held(Evidence):
    """Results whose runs of `sound` are tables made up here, by draws and methods."""

    tables: ClassVar[dict[tuple[int | str | tuple[str, ...], ...], pd.DataFrame]] = {}

    def frame(self, wanted: Wanted) -> pd.DataFrame | None:
        if wanted.methods is None:
            return super().frame(wanted)
        rest = (wanted.which,) if wanted.which == "other" else ()
        return self.tables.get((wanted.draws, wanted.methods, *rest))


def test_auto_with_most_draws_stands_over_the_cohen_radii_of_the_run_beside_it(
    tossed: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ((100, ("auto",)), (400, ("cohen", "profile")), (400, ("auto",)))
    forms = tuple(SoundForm(n, 0.001, methods, which="first") for n, methods in asked)
    evidence = Held(tossed.folder, replace(SCALE, studies=(replace(STUDY, sound_forms=forms),)))
    head, _, row = summary_table(evidence).splitlines()
    assert head.endswith(" | `sound`, same n | `sound`, n = 100 | `sound`, `auto`, n = 400 |")
    assert row.endswith(f" | {NOT_RUN} |")
    (one,) = thrown(tossed, STUDY)
    index = [*sorted(one.coins.shares), max(one.coins.shares) + 1]  # one more that no coin was thrown for
    auto = pd.DataFrame(
        {"index": index, "alpha": 0.001, "selected": [3, 4, 5], "label": [3, 4, 5], "radius": [0.75, 0.75, 9.0]}
    )
    beside = auto.assign(radius=9.0, radius_cohen=[0.5, 0.75, 0.1], radius_profile=9.0)
    monkeypatch.setattr(Held, "tables", dict(zip(asked, (beside, beside, auto), strict=True)))
    *_, row = summary_table(evidence).splitlines()
    assert row.endswith(" | +20.0 % |")
    assert "guaranteed, and gain over Cohen's here +20.0 to +20.0 % with n = 400." in summary(evidence)
    both = {**Held.tables, (400, ("auto",), "other"): auto.assign(index=[17, 18, 19], radius=[1.0, 0.75, 0.5])}
    both[400, ("cohen", "profile"), "other"] = beside.assign(index=[17, 18, 19])
    monkeypatch.setattr(Held, "tables", both)
    gain = 100 * ((0.75 + 0.75 + 9.0 + 2.25) / (2 * 1.35) - 1)
    every = f"+20.0 to +20.0 % with n = 400 ({gain:+.1f} to {gain:+.1f} % on all 6 inputs)."
    assert f"guaranteed, and gain over Cohen's here {every}" in summary(evidence)
    with monkeypatch.context() as patch:
        patch.setattr(type(STUDY), "has_more", False)
        assert "on all 6 inputs" not in summary(evidence), "the table is of all inputs then"
    monkeypatch.setattr(Held, "tables", {asked[2]: auto})
    *_, row = summary_table(evidence).splitlines()
    assert row.endswith(f" | {NOT_RUN} |")
