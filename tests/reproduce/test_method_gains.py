"""What each method gains by itself: every cell is a ratio of sums over the records that predict correctly."""

from pathlib import Path

import pandas as pd

from doublebubble import registry
from doublebubble.reproduce.claim_cells import NOT_RUN, spaced
from doublebubble.reproduce.claims_page import claims_page
from doublebubble.reproduce.coin_votes import voted
from doublebubble.reproduce.evidence import Evidence
from doublebubble.reproduce.laboratory import Wanted
from doublebubble.reproduce.method_gains import gain_words, method_table, sound_table
from doublebubble.reproduce.packed import pack_runs
from doublebubble.runs.record import Record
from doublebubble.runs.store import read_run
from doublebubble.types import Protocol
from tests.reproduce.invented import SCALE, STUDY


def right(made: Path, wanted: Wanted, inputs: int | None = None) -> list[Record]:
    """The records, or the first ones, whose class under test is the label: as invented, it has most select draws."""
    records = read_run(made / "made" / wanted.name).records[:inputs]
    return [record for record in records if record.counts["select"].get(record.label or 0) == 60]


def gained(records: list[Record], radii: list[float]) -> str:
    return f"{100 * (sum(radii) / sum(record.radii['cohen'] for record in records) - 1):+.1f} %".replace("-0.0", "+0.0")


def test_a_row_has_the_gain_of_every_method_under_both_protocols(made: Path) -> None:
    evidence = Evidence(made, SCALE)
    head, _, *rows = method_table(evidence).splitlines()
    assert len(rows) == len(STUDY.curves)
    protocols: tuple[Protocol, ...] = ("paper", "sound")
    columns = [f"`{protocol}`: {name}" for protocol in protocols for name in registry.names(protocol)[1:]]
    assert head == f"| gain over each protocol's own Cohen | {' | '.join(columns)} | `sound`: the plan |"
    for sigma, row in zip(STUDY.curves, rows, strict=True):
        published, sound = right(made, Wanted(STUDY, sigma, "paper", "full")), right(made, voted(STUDY, sigma), 12)
        runs: dict[Protocol, list[Record]] = {"paper": published, "sound": sound}
        cells = [
            gained(records, [record.radii[method] for record in records])
            for protocol, records in runs.items()
            for method in registry.names(protocol)[1:]
        ]
        cells.append(gained(sound, [record.radius or 0.0 for record in sound]))
        counts = dict.fromkeys(str(len(records)) for records in (published, sound))
        name = f"{STUDY.name}, sigma {sigma:g} ({', '.join(counts)})"
        assert row == f"| {name} | {' | '.join(cells)} |"
    assert method_table(evidence) in claims_page(evidence)


def test_sound_has_a_table_of_all_its_inputs_and_sigmas(made: Path, tmp_path: Path) -> None:
    evidence = Evidence(made, SCALE)
    _, _, *rows = sound_table(evidence).splitlines()
    assert len(rows) == len(STUDY.sigmas) > 1
    for sigma, row in zip(STUDY.sigmas, rows, strict=True):
        records = right(made, voted(STUDY, sigma))
        methods = registry.names("sound")[1:]
        cells = [gained(records, [record.radii[method] for record in records]) for method in methods]
        cells.append(gained(records, [record.radius or 0.0 for record in records]))
        assert row == f"| {STUDY.name}, sigma {sigma:g} ({len(records)}) | {' | '.join(cells)} |"
    assert sound_table(evidence) in claims_page(evidence)
    assert sound_table(Evidence(tmp_path, SCALE)) == ""


def test_what_was_not_run_is_said_and_nothing_is_an_empty_table(made: Path, tmp_path: Path) -> None:
    assert method_table(Evidence(tmp_path, SCALE)) == ""
    wanted = voted(STUDY, STUDY.curves[0])
    pack_runs([made / "made" / wanted.name], tmp_path / "runs")
    (row,) = method_table(Evidence(tmp_path, SCALE)).splitlines()[2:]
    published = registry.names("paper")[1:]
    assert row.startswith(f"| {STUDY.name}, sigma {wanted.sigma:g} ({len(right(made, wanted))}) |")
    assert row.count(NOT_RUN) == len(published)


def test_a_gain_in_words_has_its_inputs_and_no_minus_before_a_zero() -> None:
    base = pd.DataFrame({"selected": [3, 4, 5], "label": [3, 4, 6], "radius_cohen": [1.0, 0.5, 9.0]})
    table = base.assign(radius_single=[1.2, 0.6, 0.0])
    assert gain_words(table, "single", base) == "+20.0 % (2)"
    assert gain_words(table, "single", base, counted=False) == "+20.0 %"
    assert gain_words(table.assign(radius_single=[0.9999, 0.5, 0.0]), "single", base) == "+0.0 % (2)"
    assert gain_words(table, "single", base.assign(radius_cohen=0.0)) == NOT_RUN
    assert gain_words(None, "single", base) == gain_words(table, "single", None) == NOT_RUN


def test_draws_are_written_in_groups_of_three() -> None:
    assert [spaced(n) for n in (150, 1500, 10_000, 100_000)] == ["150", "1500", "10 000", "100 000"]
