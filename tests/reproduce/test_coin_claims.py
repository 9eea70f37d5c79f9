"""The page's table of networks and their coins: each number is that of the records and of the file."""

import shutil
from pathlib import Path

import pytest

from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_claims import coin_table, improved_share, thrown
from doublebubble.reproduce.coin_votes import Coined, kept_as, predicted_correctly, voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.gain_claims import improved
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.looking import Reported, keep
from doublebubble.reproduce.packed import SUFFIX, read_packed
from doublebubble.reproduce.summary import summary
from tests.reproduce.invented import SCALE, STUDY

SIGMA = 0.5


@pytest.fixture
def tossed(tmp_path: Path, made: Path) -> Evidence:
    """The invented results, with coins for two inputs that the network predicts correctly, the later one first."""
    wanted = Wanted(STUDY, SIGMA, "paper", "approximate")
    file = f"{wanted.name}{SUFFIX}"
    (tmp_path / "runs").mkdir()
    shutil.copyfile(made / "runs" / file, tmp_path / "runs" / file)
    right = [record.index for record in read_packed(tmp_path / "runs" / file).records if predicted_correctly(record)]
    coins = Coined(
        name=voted(STUDY, SIGMA).name,
        sigma=SIGMA,
        n=400,
        alpha=0.05,
        shares={right[3]: (0.9, 0.1), right[0]: (0.7, 0.3)},
        reported=Reported(cohen=(0.5, 0.25), largest=(0.55, 0.25), looks=(10, 0)),
    )
    keep(tmp_path / "simulations" / f"{kept_as(voted(STUDY, SIGMA))}.json", coins)
    return Evidence(tmp_path, SCALE)


def test_networks_stand_beside_their_coins(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    records = {
        record.index: record
        for record in read_packed(
            tossed.folder / "runs" / f"{Wanted(STUDY, SIGMA, 'paper', 'approximate').name}{SUFFIX}"
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


def test_the_summary_has_what_is_reported_what_coins_report_and_what_holds(tossed: Evidence, made: Path) -> None:
    assert summary(Evidence(made, SCALE)) == ""
    (one,) = thrown(tossed, STUDY)
    row = summary(tossed).splitlines()[-2]
    gains = [100 * (sum(said.largest) / sum(said.cohen) - 1) for said in (one.network, one.coins.reported)]
    cells = [f"{gains[0]:+.1f} % (2)", f"{gains[1]:+.1f} % (2)", NOT_RUN, NOT_RUN]
    assert row == f"| {STUDY.name}, sigma 0.5 | {' | '.join(cells)} |"
    file = f"{voted(STUDY, SIGMA).name}{SUFFIX}"
    shutil.copyfile(made / "runs" / file, tossed.folder / "runs" / file)
    records = read_packed(made / "runs" / file).records
    right = [record for record in records if record.counts["select"].get(record.label or 0) == 60]  # as invented
    plan, cohen = sum(record.radius or 0.0 for record in right), sum(record.radii["cohen"] for record in right)
    row = summary(Evidence(tossed.folder, SCALE)).splitlines()[-2]
    assert row.endswith(2 * f" | {100 * (plan / cohen - 1):+.1f} % ({len(right)})" + " |")
    assert summary(tossed) in claims_page(tossed)
