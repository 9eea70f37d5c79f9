"""Whatever bytes a reader is given, it returns or says in one sentence what is wrong. The corpus: what once failed."""

import json
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doublebubble.errors import DoubleBubbleError
from tests.fuzz.changes import changed_bytes, changed_json
from tests.fuzz.readers import READERS, require_one_sentence

CORPUS = Path(__file__).parent / "corpus"
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())
FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
pytestmark = pytest.mark.not_reverified("its certificates are forged")


def check(name: str, content: bytes) -> bool:
    """Whether the reader takes the bytes; an error of ours is as good, anything else is raised."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            READERS[name].read(content, Path(folder))
        except DoubleBubbleError as error:
            require_one_sentence(error)
            return False
    return True


@pytest.mark.parametrize("name", READERS)
def test_some_seed_is_taken(name: str) -> None:
    """A reader that refused everything would pass the other tests."""
    if name not in ("records", "safetensors"):
        assert any(check(name, seed) for seed in READERS[name].seeds())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_once_failed(path: Path) -> None:
    check(path.parent.name, path.read_bytes())


def test_the_corpus_has_files_for_readers_that_there_are() -> None:
    assert {path.parent.name for path in KEPT} <= set(READERS)
    assert len(KEPT) >= 20


@pytest.mark.parametrize("name", READERS)
@FEW
@given(data=st.data())
def test_changed_bytes(name: str, data: st.DataObject) -> None:
    check(name, data.draw(changed_bytes(READERS[name].seeds())))


@pytest.mark.parametrize("name", ["record", "spec", "card", "settings", "hugging-face"])
@settings(FEW, max_examples=150)
@given(data=st.data())
def test_changed_values(name: str, data: st.DataObject) -> None:
    check(name, data.draw(changed_json([seed for seed in READERS[name].seeds() if json.loads(seed)])))
