"""The first table of the page: every number is that of the records, of the coins' file, or said to be missing."""

import shutil
from pathlib import Path

from doublebubble.reproduce.claim_cells import NOT_RUN
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_claims import thrown
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.packed import SUFFIX, read_packed
from doublebubble.reproduce.summary import summary
from tests.reproduce.invented import SCALE, STUDY, TOSSED


def test_the_summary_has_what_is_reported_what_coins_report_and_what_holds(tossed: Evidence, made: Path) -> None:
    assert summary(Evidence(made, SCALE)) == ""
    (one,) = thrown(tossed, STUDY)
    row = summary(tossed).splitlines()[-2]
    gains = [100 * (sum(one.network.largest) / sum(one.network.cohen) - 1), 100 * (0.8 / 0.75 - 1 + 0.2) / 3]
    cells = [f"{gains[0]:+.1f} % (2)", f"{gains[1]:+.1f} % (2)", NOT_RUN, NOT_RUN]
    assert row == f"| {STUDY.name}, sigma 0.5 | {' | '.join(cells)} |"
    file = f"{voted(STUDY, TOSSED).name}{SUFFIX}"
    shutil.copyfile(made / "runs" / file, tossed.folder / "runs" / file)
    records = read_packed(made / "runs" / file).records
    right = [record for record in records if record.counts["select"].get(record.label or 0) == 60]  # as invented
    plan, cohen = sum(record.radius or 0.0 for record in right), sum(record.radii["cohen"] for record in right)
    row = summary(Evidence(tossed.folder, SCALE)).splitlines()[-2]
    assert row.endswith(2 * f" | {100 * (plan / cohen - 1):+.1f} % ({len(right)})" + " |")
    assert summary(tossed) in claims_page(tossed)


def test_the_summary_says_which_part_of_the_gain_coins_have(tossed: Evidence) -> None:
    (one,) = thrown(tossed, STUDY)
    part = (0.8 / 0.75 - 1 + 0.2) / 3 / (sum(one.network.largest) / sum(one.network.cohen) - 1)
    assert f"**Of what it reports here, {min(1.0, part):.0%} is luck**" in summary(tossed)
