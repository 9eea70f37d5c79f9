"""The page's table of networks and their coins: each number is that of the records and of the file."""

from pathlib import Path

import pytest

from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_claims import coin_table, improved_share, thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import improved
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported
from doublebubble.reproduce.packed import SUFFIX, read_packed
from tests.reproduce.invented import SCALE, STUDY, TOSSED


def test_networks_stand_beside_their_coins(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    records = {
        record.index: record
        for record in read_packed(
            tossed.folder / "runs" / f"{Wanted(STUDY, TOSSED, 'paper', 'approximate').name}{SUFFIX}"
        ).records
    }
    later, first = (records[index] for index in one.coins.shares)
    assert later.index > first.index
    assert one.network.cohen == (later.radii["cohen"], first.radii["cohen"])
    assert one.network.largest == (later.radii["single"], first.radii["single"])
    gain = sum(one.network.largest) / sum(one.network.cohen) - 1
    cells = [cell.strip() for cell in one.row.strip().strip("|").split("|")]
    assert cells[:3] == [STUDY.name, "0.5", "2"]
    assert cells[3].startswith(f"{100 * gain:+.2f} %")
    assert cells[4].startswith(f"{100 * (0.8 / 0.75 - 1):+.2f} %")
    assert cells[5] == f"{one.coins.predicted:+.2f} %"
    assert cells[7] == "50%"


def test_improved_counts_the_inputs_whose_radius_grew() -> None:
    assert improved_share(Reported(cohen=(0.5, 0.2, 0.1), largest=(0.6, 0.2, 0.3), looks=(1, 1, 1))) == pytest.approx(
        2 / 3
    )


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
