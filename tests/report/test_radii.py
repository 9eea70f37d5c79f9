"""The radii of tables: those asked for, those that a run decides, and round ones elsewhere."""

from pathlib import Path

import pytest

from doublebubble.config import CertifyConfig
from doublebubble.errors import SettingError
from doublebubble.report.radii import parse_radii, radii_that_matter, table_radii
from doublebubble.runs.store import RunStore, StoredRun, read_run
from tests.runs.samples import certificate, spec


def made(path: Path, radius: float, decides: tuple[float, ...] | None = None) -> StoredRun:
    """A run of two inputs: one correct with this radius, one wrong with a far larger one."""
    with RunStore(path, spec("0:2", config=CertifyConfig(n=100, n0=10, radii=decides))) as store:
        store.append(certificate(0, radius))
        store.append(certificate(1, 100 * radius, prediction=2))
    return read_run(path)


def test_radii_that_matter_reach_most_of_the_way() -> None:
    assert radii_that_matter(0.9) == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert radii_that_matter(1.25) == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert radii_that_matter(0.616) == (0.0, 0.15, 0.3, 0.45, 0.6)  # all of 1000 votes at sigma 0.25
    assert radii_that_matter(1.6) == (0.0, 0.5, 1.0, 1.5, 2.0)  # all of 10 000 votes at sigma 0.5
    assert radii_that_matter(0.2) == (0.0, 0.05, 0.1, 0.15, 0.2)
    for largest in (0.0, 0.013, 0.3, 1.0, 3.9, 40.0):
        radii = radii_that_matter(largest)
        assert len(radii) == 5
        assert radii[-1] >= 0.75 * largest
        assert largest < 0.04 or radii[1] <= largest


def test_tables_take_the_radii_of_their_runs(tmp_path: Path) -> None:
    near, far = made(tmp_path / "near", 0.2), made(tmp_path / "far", 0.9)
    decided = made(tmp_path / "decided", 0.3, (0.3, 0.6))
    assert table_radii([near]) == (0.0, 0.05, 0.1, 0.15, 0.2)
    assert table_radii([near, far]) == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert table_radii([decided]) == (0.3, 0.6)
    assert table_radii([decided, near]) == (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.6)
    assert table_radii([near, far], (0.7, 0.1, 0.7)) == (0.1, 0.7)


def test_radii_are_typed_as_numbers() -> None:
    assert parse_radii(None) is None
    assert parse_radii("0.25,0.5") == parse_radii("0.25 0.5") == (0.25, 0.5)
    for text in ("", "far", "0.5,-1", "inf", "nan"):
        with pytest.raises(SettingError, match="expected numbers such as"):
            parse_radii(text)
