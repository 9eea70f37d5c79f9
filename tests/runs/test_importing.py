import csv
import os
from pathlib import Path

import pytest

from doublebubble.errors import DataError
from doublebubble.runs.importing import import_tsv
from doublebubble.runs.statistics import average_radius, certified_accuracy
from doublebubble.runs.store import read_run
from doublebubble.runs.tables import export_text, load_run

# Its `correct` is a running total, as one tool writes it; input 40 is misclassified, 20 abstained.
SAMPLE = """idx\tlabel\tpredict\tradius\tcorrect\ttime
0\t3\t3\t0.3780004\t1\t15.4
20\t7\t-1\t0.0\t1\t0:00:15.6
40\t4\t6\t0.9\t1\t15.7
60\t7\t7\t0.25\t2\t1 day, 0:00:01
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.tsv"
    path.write_text(SAMPLE)
    return path


def test_correct_is_computed_and_not_believed(sample: Path, tmp_path: Path) -> None:
    assert import_tsv(sample, tmp_path / "run") == 4
    table = load_run(tmp_path / "run")
    assert list(table["correct"]) == [True, False, False, True]
    assert list(table["radius"]) == [0.3780004, 0.0, 0.9, 0.25]
    assert list(table["seconds"]) == [15.4, 15.6, 15.7, 86401.0]
    assert set(table["guarantee"]) == {"unstated"}
    assert read_run(tmp_path / "run").spec.indices == "0:61:20"


def test_export_and_import_again_change_nothing(sample: Path, tmp_path: Path) -> None:
    import_tsv(sample, tmp_path / "run")
    text = export_text(read_run(tmp_path / "run"), "tsv")
    (tmp_path / "again.tsv").write_text(text)
    import_tsv(tmp_path / "again.tsv", tmp_path / "again")
    assert export_text(read_run(tmp_path / "again"), "tsv") == text


def test_a_radius_is_imported_as_the_file_has_it(tmp_path: Path) -> None:
    radii = [f"{thousandths / 1000:.3f}" for thousandths in range(400)]  # about half of their doubles lie below
    lines = ["idx\tlabel\tpredict\tradius\tcorrect\ttime", *(f"{i}\t1\t1\t{r}\t1\t0" for i, r in enumerate(radii))]
    (tmp_path / "log.tsv").write_text("\n".join(lines) + "\n")
    import_tsv(tmp_path / "log.tsv", tmp_path / "run")
    assert list(load_run(tmp_path / "run")["radius"]) == [float(radius) for radius in radii]
    exported = export_text(read_run(tmp_path / "run"), "tsv").splitlines()[1:]
    assert [line.split("\t")[3] for line in exported] == [f"{radius}000" for radius in radii]


def test_importing_twice_is_the_same_as_once(sample: Path, tmp_path: Path) -> None:
    import_tsv(sample, tmp_path / "run")
    import_tsv(sample, tmp_path / "run")
    assert len(read_run(tmp_path / "run").records) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("80\t3\t3\tnan\t1\t1", r"line 6: expected idx >= 0, .* a finite radius"),
        ("80\t3\t3\t-0.1\t1\t1", "line 6: expected idx >= 0"),
        ("80\t3\t-2\t0\t1\t1", "line 6: expected idx >= 0"),
        ("80\t3\t-1\t0.1\t1\t1", "line 6: expected radius 0 where no class"),
        ("80\tcat\t3\t0.1\t1\t1", "line 6: label: expected an integer, got 'cat'"),
        ("80\t3\t3\tfar\t1\t1", "line 6: radius: expected a number, got 'far'"),
        ("80\t3\t3\t0.1\t1\tlong", "line 6: time: expected a number, got 'long'"),
        ("80\t3\t3", "line 6: expected 6 values between tabs, got 3"),
        ("40\t3\t3\t0.1\t1\t1", "line 6: input 40 was on an earlier line"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bad.tsv").write_text(SAMPLE + line + "\n")
    with pytest.raises(DataError, match=message):
        import_tsv(tmp_path / "bad.tsv", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="line 1: expected the columns"):
        import_tsv(tmp_path / "a.tsv", tmp_path / "run")
    (tmp_path / "b.tsv").write_text(SAMPLE.splitlines()[0])
    with pytest.raises(DataError, match="at least one line of results"):
        import_tsv(tmp_path / "b.tsv", tmp_path / "run")
    with pytest.raises(DataError, match="cannot be read"):
        import_tsv(tmp_path / "none.tsv", tmp_path / "run")


def plain_statistics(path: Path, radii: tuple[float, ...]) -> tuple[list[float], float]:
    """Certified accuracies and average certified radius by the shortest way: the csv module and two sums."""
    with path.open() as file:
        rows = [(row["label"] == row["predict"], float(row["radius"])) for row in csv.DictReader(file, delimiter="\t")]
    accuracies = [sum(right and radius >= least for right, radius in rows) / len(rows) for least in radii]
    return accuracies, sum(radius for right, radius in rows if right) / len(rows)


def test_statistics_equal_a_ten_line_computation(sample: Path, tmp_path: Path) -> None:
    folder = os.environ.get("DOUBLEBUBBLE_PEER_LOGS")  # more files to check, for whoever has them
    radii = (0.0, 0.25, 0.5, 0.75)
    for number, path in enumerate([sample, *(sorted(Path(folder).glob("*.tsv")) if folder else [])]):
        import_tsv(path, tmp_path / str(number))
        table = load_run(tmp_path / str(number))
        accuracies, average = plain_statistics(path, radii)
        assert [point.accuracy for point in certified_accuracy(table, radii)] == accuracies
        assert average_radius(table) == pytest.approx(average, rel=1e-12)
