"""The page's table of networks and their coins: each number is that of the records and of the file."""

from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_claims import coin_table, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import improved
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported
from doublebubble.runs.store import read_run
from tests.reproduce.invented import SCALE, STUDY, TOSSED


def test_networks_stand_beside_their_coins(made: Path, tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    records = {
        record.index: record
        for record in read_run(made / "made" / Wanted(STUDY, TOSSED, "paper", "approximate").name).records
    }
    later, first = (records[index] for index in one.coins.shares)
    assert later.index > first.index
    assert one.network.cohen == (later.radii["cohen"], first.radii["cohen"])
    assert one.network.largest == (later.radii["single"], first.radii["single"])
    gain = sum(one.network.largest) / sum(one.network.cohen) - 1
    cells = [cell.strip() for cell in one.row.strip().strip("|").split("|")]
    assert cells[:3] == [STUDY.name, "0.5", "2"]
    assert cells[3] == f"{100 * gain:+.2f} %"
    tossed_gains = [100 * (0.8 / 0.75 - 1), 0.0, 20.0]
    assert cells[4] == f"{sum(tossed_gains) / 3:+.2f} % (+0.00 to +20.00)"
    assert cells[5] == f"{sum(each >= 100 * gain for each in tossed_gains)} of 3"
    assert cells[6] == f"{one.coins.predicted:+.2f} %"
    assert cells[7] == f"{sum(a < b for a, b in zip(one.network.cohen, one.network.largest, strict=True)) / 2:.0%}"
    assert cells[8] == "50%"


def test_throws_that_gain_as_much_as_the_network_are_counted_and_equal_ones_too(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    for gain, count in ((0.0, 3), (0.1, 1), (0.2, 1), (0.3, 0)):
        network = Reported(cohen=(1.0, 1.0), largest=(1.0 + 2 * gain, 1.0), looks=(0, 0))
        assert f"| {count} of 3 |" in replace(one, network=network).row


def test_a_network_without_a_cohen_radius_to_gain_on_is_left_out(
    tossed: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tossed.published(STUDY, TOSSED, "approximate")
    assert table is not None
    monkeypatch.setattr(Evidence, "published", lambda *_: table.assign(radius_cohen=0.0))
    assert thrown(tossed, STUDY) == []


def test_the_first_claim_is_set_beside_the_coins_of_its_network(tossed: Evidence) -> None:
    assert "improves 50% of 2 at sigma 0.5 (single, approximate gradients)." in improved(tossed).sentence


def test_the_page_has_the_table_where_coins_were_thrown(tossed: Evidence, made: Path) -> None:
    assert coin_table(tossed) in claims_page(tossed)
    assert coin_table(tossed).count(f"| {STUDY.name} |") == 1
    assert coin_table(Evidence(made, SCALE)) == ""
    assert "### On networks" not in claims_page(Evidence(made, SCALE))


def test_coins_have_the_votes_of_the_longest_run_on_all_inputs() -> None:
    study = chosen_scale("cpu").study("cifar10-resnet18")
    wanted = voted(study, 1.0)
    assert (wanted.draws, wanted.inputs, wanted.methods) == (10_000, study.wide, None)
