"""Models stored as files: opened by what they hold, refused where opening them would execute code."""

import io
import json
import warnings
import zipfile
from pathlib import Path

import pytest
import torch
from torch import nn

import doublebubble as db
from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models import Normalised, fixed_batch
from tests.models.subjects import CLASSES, Touches, X, load, same, small_model
from tests.models.test_checkpoints import bomb


@pytest.fixture
def model() -> Normalised:
    return small_model()


def test_a_torchscript_file(tmp_path: Path, model: Normalised) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.trace(model, X), tmp_path / "m.pt")  # type: ignore[no-untyped-call]
    assert same(load(tmp_path / "m.pt"), model)


def export(model: nn.Module, path: Path) -> None:
    batch = torch.export.Dim("batch", min=1, max=1024)
    torch.export.save(torch.export.export(model, (X,), dynamic_shapes=({0: batch},)), path)


def test_an_exported_file_with_a_free_batch_size(tmp_path: Path, model: Normalised) -> None:
    export(model, tmp_path / "m.pt2")
    loaded = load(tmp_path / "m.pt2")
    assert same(loaded, model)
    assert not any(module.training for module in loaded.modules())
    with torch.no_grad():
        assert torch.equal(loaded(X[:1]), model(X[:1]))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_exported_file_of_a_fixed_batch_runs_at_that_batch(tmp_path: Path, model: Normalised, size: int) -> None:
    torch.export.save(torch.export.export(model, (X[:size],)), tmp_path / "m.pt2")
    loaded = load(tmp_path / "m.pt2")
    with torch.no_grad():
        assert torch.allclose(loaded(X), model(X), atol=1e-6)
    assert fixed_batch(loaded) == (size if size > 1 else None)
    if size == 1:
        return
    classifier = db.SmoothedClassifier(loaded, 0.5, CLASSES)
    assert classifier.batch_size == size
    same = db.SmoothedClassifier(model, 0.5, CLASSES, batch_size=size)
    found = [one.counts(X[0], 20, seed=0, index=0).tolist() for one in (classifier, same)]
    assert found[0] == found[1]
    with pytest.raises(SettingError, match=f"exported for batches of {size} and takes no other, got 64"):
        db.SmoothedClassifier(loaded, 0.5, CLASSES, batch_size=64)


def test_a_network_exported_in_training_mode_is_refused(tmp_path: Path) -> None:
    batch_norm = nn.Sequential(nn.BatchNorm2d(1), nn.Flatten(), nn.Linear(64, 10)).train()
    export(batch_norm, tmp_path / "m.pt2")
    with pytest.raises(ModelError, match="was exported in training mode"):
        load(tmp_path / "m.pt2")


def rewrite(path: Path, **replacements: bytes) -> None:
    """Change or add members of an archive, by the ends of their names (`__` for `/`, first match) or as new members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    root = next(iter(members)).split("/", 1)[0]
    for ending, content in replacements.items():
        name = ending.replace("__", "/").replace("_dot_", ".")
        members[f"{root}/{name}"] = content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def poisoned_program(path: Path, field: str, value: object) -> bytes:
    """The program's description with the first `field` found anywhere replaced."""
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith("models/model.json"))
        tree = json.loads(archive.read(name))

    def change(node: object) -> bool:
        if isinstance(node, dict):
            if field in node and (field != "target" or "torch" in str(node[field])):
                node[field] = value
                return True
            return any(change(child) for child in node.values())
        return isinstance(node, list) and any(change(child) for child in node)

    assert change(tree), field
    return json.dumps(tree).encode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("target", "os.system"),
        ("target", "torch.ops.load_library"),
        ("target", "_operator.methodcaller"),
        ("expr_str", "__import__('os').system('true')"),
        ("expr_str", "Symbol('s0', positive=print(1))"),
        ("guards_code", ["__import__('os').system('true') == 0"]),
        ("in_spec", '[1, {"type": "subprocess.Popen", "context": "null", "children_spec": []}]'),
    ],
)
def test_an_exported_program_that_names_more_than_a_network_needs_is_refused(
    tmp_path: Path, model: Normalised, field: str, value: object
) -> None:
    path = tmp_path / "m.pt2"
    export(model, path)
    rewrite(path, models__model_dot_json=poisoned_program(path, field, value))
    with pytest.raises(CheckpointError, match="refused, since opening it could execute code: it"):
        load(path)


def test_an_exported_program_with_pickled_code_is_refused(tmp_path: Path, model: Normalised) -> None:
    victim = tmp_path / "victim"
    buffer = io.BytesIO()
    torch.save((Touches(victim),), buffer)
    path = tmp_path / "m.pt2"
    export(model, path)
    rewrite(path, data__sample_inputs__model_dot_pt=buffer.getvalue())
    with pytest.raises(CheckpointError, match=r"model\.pt is more than tensors"):
        load(path)
    export(model, path)
    weights = {"config": {"mean": {"path_name": "weight_0", "is_param": True, "use_pickle": True, "tensor_meta": None}}}
    rewrite(
        path,
        data__weights__model_weights_config_dot_json=json.dumps(weights).encode(),
        data__weights__weight_0=buffer.getvalue(),
    )
    with pytest.raises(CheckpointError, match="weight_0 is more than tensors"):
        load(path)
    export(model, path)
    rewrite(path, data__aotinductor__model__model_dot_so=b"elf")
    with pytest.raises(CheckpointError, match=r"model\.so is no part of a network"):
        load(path)
    export(model, path)
    rewrite(path, data__constants__custom_obj_0=b"?")
    with pytest.raises(CheckpointError, match="custom_obj_0 is no part of a network"):
        load(path)
    export(model, path)
    rewrite(path, data__sample_inputs__MODEL_dot_PT=buffer.getvalue())
    with pytest.raises(CheckpointError, match="it holds two files of one name"):
        load(path)
    assert not victim.exists()


def test_a_damaged_exported_file_is_named(tmp_path: Path, model: Normalised) -> None:
    path = tmp_path / "m.pt2"
    export(model, path)
    rewrite(path, models__model_dot_json=b'{"graph_module": ')
    with pytest.raises(CheckpointError, match=r"m\.pt2: is damaged"):
        load(path)
    export(model, path)
    rewrite(path, models__model_dot_json=b"{}")
    with pytest.raises(CheckpointError, match=r"m\.pt2: cannot be loaded as an exported program"):
        load(path)


def test_a_zip_bomb_is_refused_before_any_member_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb(tmp_path / "m.pt2")

    def read(*_: object) -> bytes:
        raise AssertionError("a member was read")

    monkeypatch.setattr(zipfile.ZipFile, "read", read)
    with pytest.raises(CheckpointError, match=r"m.pt2: refused, its \d+ bytes would unpack to"):
        load(tmp_path / "m.pt2")


def test_a_zip_bomb_inside_an_archive_is_refused(tmp_path: Path, model: Normalised) -> None:
    export(model, tmp_path / "m.pt2")
    bomb(tmp_path / "inner")
    rewrite(tmp_path / "m.pt2", data__sample_inputs__model_dot_pt=(tmp_path / "inner").read_bytes())
    with pytest.raises(CheckpointError, match=r"refused, its \d+ bytes would unpack to"):
        load(tmp_path / "m.pt2")


def test_a_description_nested_without_end_is_refused(tmp_path: Path, model: Normalised) -> None:
    export(model, tmp_path / "m.pt2")
    for content in (b"[" * 200_000, b"[" * 900 + b"]" * 900):
        rewrite(tmp_path / "m.pt2", models__model_dot_json=content)
        with pytest.raises(CheckpointError, match=r"m.pt2: (is damaged|cannot be loaded)"):
            load(tmp_path / "m.pt2")
