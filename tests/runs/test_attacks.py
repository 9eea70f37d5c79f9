"""Attacks as a run keeps them: given back exactly, tied to the run, never rounded down."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doublebubble.errors import RunError, SettingError
from doublebubble.runs.attacks import (
    Attacked,
    AttackSettings,
    ceil_distance,
    nearest,
    point_text,
    store_attack,
    stored_attacks,
)
from doublebubble.runs.memory import MemoryStore
from doublebubble.runs.store import RunStore, StoredRun, read_run
from tests.runs.samples import certificate, spec


def attacked(index: int = 0, distance: float | None = 0.6, radius: float = 0.4, **changes: Any) -> Attacked:
    """An attack on the sample certificate of this input, made up."""
    found: dict[str, Any] = {}
    if distance is not None:
        found = {"rival": 2, "votes": (700, 300), "p_value": 1e-9, "point": point_text(np.full((1, 2, 2), 0.1 * index))}
    values = {"index": index, "prediction": 1, "radius": radius, "distance": distance, "searched": 0.9, **found}
    spent = {"settings": AttackSettings(), "draws": 10, "forward_equivalents": 20, "seconds": 0.5}
    return Attacked(**{**values, **spent, **changes})


def stored(path: Path, **changes: Any) -> StoredRun:
    with RunStore(path, spec(**changes)) as store:
        for index in (3, 0, 11):
            store.append(certificate(index))
    return read_run(path)


@given(st.floats(0, 1e6))
def test_distances_are_rounded_up_by_less_than_a_millionth(distance: float) -> None:
    found = ceil_distance(distance)
    assert found >= distance
    assert Decimal(f"{found:.6f}") < Decimal(distance) + Decimal("0.0000011")
    assert ceil_distance(found) == pytest.approx(found, abs=1.1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1])
def test_what_is_no_distance_is_an_error(bad: float) -> None:
    with pytest.raises(RunError, match="distance: expected a finite number >= 0"):
        ceil_distance(bad)


def test_inside_is_strictly_nearer_than_the_radius() -> None:
    assert attacked(distance=0.399999).inside
    assert not attacked(distance=0.4).inside
    assert not attacked(distance=0.6).inside
    assert not attacked(distance=None).inside
    assert attacked(distance=0.6).gap == pytest.approx(0.2)
    assert attacked(distance=None).gap is None


def test_a_success_is_whole_or_not_at_all() -> None:
    with pytest.raises(SettingError, match="a success has a distance, a rival"):
        attacked(rival=None)
    with pytest.raises(SettingError, match="a success has a distance, a rival"):
        attacked(distance=None, rival=3)
    point = np.random.default_rng(0).random((1, 2, 2))
    found = attacked(point=point_text(point)).where((1, 2, 2))
    assert found is not None
    assert np.array_equal(found, point)
    assert attacked(distance=None).where((1, 2, 2)) is None


def test_they_come_back_by_input_and_settings(tmp_path: Path) -> None:
    run = stored(tmp_path / "run")
    assert stored_attacks(run) == {}
    harder = attacked(3, 0.5, settings=AttackSettings(steps=20))
    made = [attacked(11, None), attacked(3), harder]
    for one in made:
        store_attack(run, one)
    assert stored_attacks(run) == {3: (made[1], harder), 11: (made[0],)}
    assert list(stored_attacks(run)) == [3, 11]
    assert stored_attacks(read_run(tmp_path / "run")) == stored_attacks(run)
    assert nearest(stored_attacks(run)[3]) == harder
    assert nearest([attacked(0, None), attacked(0, 0.7)]).distance == 0.7
    assert nearest([attacked(0, None), attacked(0, None, searched=2.0)]).searched == 2.0
    assert len(read_run(tmp_path / "run").records) == 3, "records are left alone"


def test_an_attack_on_another_radius_than_the_record_has_does_not_count(tmp_path: Path) -> None:
    run = stored(tmp_path / "run")
    store_attack(run, attacked(3, radius=0.3))
    assert stored_attacks(run) == {}


def test_damage_and_attacks_of_another_run_are_found(tmp_path: Path) -> None:
    run, other = stored(tmp_path / "run"), stored(tmp_path / "other", model_digest="ef" * 32)
    store_attack(run, attacked(3))
    file = tmp_path / "run" / "attacks" / "3.jsonl"
    (tmp_path / "other" / "attacks").mkdir()
    (tmp_path / "other" / "attacks" / "3.jsonl").write_bytes(file.read_bytes())
    with pytest.raises(RunError, match=r"3\.jsonl: line 1: damaged, the record does not match its checksum"):
        stored_attacks(other)
    (tmp_path / "run" / "attacks" / "0.jsonl").write_bytes(file.read_bytes())
    with pytest.raises(RunError, match=r"0\.jsonl: holds attacks on another input"):
        stored_attacks(run)
    (tmp_path / "run" / "attacks" / "0.jsonl").unlink()
    file.write_bytes(file.read_bytes().replace(b'"distance":0.6', b'"distance":0.1'))
    with pytest.raises(RunError, match=r"3\.jsonl: line 1: damaged"):
        stored_attacks(run)


def test_a_run_in_memory_keeps_none() -> None:
    with MemoryStore(spec()) as store:
        store.append(certificate(3))
    run = store.run()
    store_attack(run, attacked(3))
    assert stored_attacks(run) == {}
    assert not replace(run, kept=None).path.exists()
