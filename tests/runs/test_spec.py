import json
from collections.abc import Callable
from typing import Any

import pytest

from doublebubble.config import CertifyConfig
from doublebubble.errors import RunError, SettingError
from doublebubble.runs.probe import Probe
from doublebubble.runs.spec import ImportSpec, differences, parse_spec, spec_hash, spec_text
from tests.runs.samples import spec


def test_the_file_gives_the_specification_back() -> None:
    imported = ImportSpec(source="a.tsv", digest="00", size=9, indices="0:9")
    for each in (spec(), spec(domain=None, config=CertifyConfig(protocol="paper", methods=("single",))), imported):
        assert '"classes"' not in spec_text(each)
        assert parse_spec(spec_text(each), "spec.json") == each
    folder = spec(classes=("cat", "dog", "zebra"))
    assert parse_spec(spec_text(folder), "spec.json") == folder
    assert differences(spec(), folder) == ["classes: None -> ['cat', 'dog', 'zebra']"]


def test_every_field_changes_the_hash() -> None:
    base = spec()
    changes: dict[str, Any] = {
        "model_digest": "00",
        "dataset": "mnist",
        "split": "train",
        "data_digest": "00",
        "size": 101,
        "indices": "0:21",
        "sigma": 0.25,
        "num_classes": 4,
        "shape": (4,),
        "domain": None,
        "batch_size": 8,
        "program": "folded",
        "device": "cuda",
        "config": CertifyConfig(n=100, n0=10, seed=1),
        "simultaneous": 100,
        "centres": False,
        "versions": {"torch": "3"},
        "probe": Probe(logits=(1.0,), tolerance=0.1),
        "classes": ("cat", "dog", "zebra"),
        "noise": "gaussian64",
    }
    assert set(changes) == set(type(base).model_fields) - {"kind", "grid"}
    hashes = {spec_hash(spec(**{name: value})) for name, value in changes.items()}
    hashes |= {spec_hash(spec(noise="lattice", grid=grid)) for grid in (16, 255)}
    assert len(hashes | {spec_hash(base)}) == len(changes) + 3


def test_differences_name_the_fields_down_to_the_setting() -> None:
    other = spec(sigma=0.25, config=CertifyConfig(n=200, n0=10))
    assert differences(spec(), other) == ["sigma: 0.5 -> 0.25", "config.n: 100 -> 200"]
    assert differences(spec(), spec()) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c["spec"].update(sigma=0.75), "was changed after it was written"),
        (lambda c: c["spec"]["config"].update(alpha=0.5), "was changed after it was written"),
        (lambda c: c.update(hash="0" * 64), "was changed after it was written"),
        (lambda c: c["spec"].update(sigma=-1), "greater than 0"),
        (lambda c: c["spec"].pop("dataset"), "dataset"),
        (lambda c: c.update(format=1), "expected a run of format 2, got 1"),
        (lambda c: c.pop("hash"), "expected the fields format, hash and spec"),
    ],
)
def test_an_edit_by_hand_is_found(edit: Callable[[dict[str, Any]], object], message: str) -> None:
    content = json.loads(spec_text(spec()))
    edit(content)
    with pytest.raises(RunError, match=f"^spec.json: .*{message}"):
        parse_spec(json.dumps(content), "spec.json")


def test_a_file_that_is_no_json_is_named() -> None:
    with pytest.raises(RunError, match=r"spec.json: expected JSON, line 1"):
        parse_spec("{", "spec.json")


def test_specifications_are_validated_and_frozen() -> None:
    with pytest.raises(SettingError, match="sigma"):
        spec(sigma=0)
    with pytest.raises(Exception, match="frozen"):
        spec().sigma = 3.0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"domain": [1.0, 0.0]}, "low < high"),
        ({"domain": [0.0]}, "low < high"),
        ({"domain": "01"}, "low < high"),
        ({"domain": [0.0, 10**400]}, "low < high"),
        ({"num_classes": 10**12}, "less than or equal"),
        ({"shape": [-1]}, "greater than or equal"),
        ({"size": 10**18, "indices": ":"}, "at most 4000000 inputs"),
        ({"indices": "\ud800"}, r"got '\\ud800'"),
    ],
)
def test_files_that_claim_what_cannot_be_are_refused(change: dict[str, object], why: str) -> None:
    content = json.loads(spec_text(spec()))
    content["spec"].update(change)
    with pytest.raises(RunError, match=why):
        parse_spec(json.dumps(content), "spec.json")


def test_a_specification_nested_without_end_is_refused() -> None:
    for text in ("[" * 100_000, '{"format":2,"hash":"","spec":' + "[" * 900 + "]" * 900 + "}"):
        with pytest.raises(RunError, match=r"spec\.json: "):
            parse_spec(text, "spec.json")
