"""Anyone's model, by every route; and files that would execute code, refused without executing it."""

import io
import json
import pickle
import sys
import types
import warnings
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models import Denoised, ModelCard, Normalised, build, load_classifier, save_model

SHAPE, CLASSES, MEAN, STD = (1, 8, 8), 10, (0.3,), (0.4,)
X = torch.rand(3, *SHAPE, generator=torch.Generator().manual_seed(1))


def load(text: str | Path, weights: Path | None = None) -> nn.Module:
    return load_classifier(str(text), SHAPE, CLASSES, MEAN, STD, weights)


@pytest.fixture
def model() -> Normalised:
    return build("cnn", SHAPE, CLASSES, MEAN, STD, seed=7).eval()


def same(one: nn.Module, other: nn.Module) -> bool:
    with torch.no_grad():
        return torch.equal(one(X), other(X)) and not one.training


class Touches:
    """Unpickled by the book, this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def card(**changes: object) -> ModelCard:
    fields = {"arch": "cnn", "dataset": "digits", "shape": SHAPE, "classes": tuple("0123456789"), "mean": MEAN}
    return ModelCard.model_validate({**fields, "std": STD, "sigma": 0.5, "method": "gaussian", "epoch": 3} | changes)


def test_a_trained_folder(tmp_path: Path, model: Normalised) -> None:
    save_model(tmp_path, model, card())
    assert same(load(tmp_path), model)
    with pytest.raises(SettingError, match="brings its own"):
        load(tmp_path, weights=tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.json", b"{}", r"model\.json: expected the card"),
        ("model.json", b"\xff", r"model\.json: expected the card"),
        ("model.safetensors", b"short", r"model\.safetensors: cannot be read as safetensors"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path: Path, model: Normalised, file: str, content: bytes, message: str) -> None:
    save_model(tmp_path, model, card())
    (tmp_path / file).write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        load(tmp_path)


def test_weights_that_do_not_fit_are_listed(tmp_path: Path, model: Normalised) -> None:
    tensors = dict(model.state_dict())
    tensors["network.8.bias"] = torch.zeros(11)
    tensors["extra"] = tensors.pop("network.0.bias")
    save_file(tensors, tmp_path / "w.safetensors")
    with pytest.raises(CheckpointError, match=r"missing network\.0\.bias, unexpected extra, network\.8\.bias of shape"):
        load("cnn", tmp_path / "w.safetensors")


@pytest.mark.parametrize("prefix", ["network.", ""])
@pytest.mark.parametrize("form", ["safetensors", "plain", "state_dict", "parallel"])
def test_an_architecture_with_weights(tmp_path: Path, model: Normalised, form: str, prefix: str) -> None:
    state = dict(model.state_dict() if prefix else model.network.state_dict())
    path = tmp_path / ("w.safetensors" if form == "safetensors" else "w.pth")
    if form == "safetensors":
        save_file(state, path)
    elif form == "plain":
        torch.save(state, path)
    elif form == "state_dict":
        torch.save({"epoch": 3, "arch": "cnn", "state_dict": state}, path)
    else:
        torch.save({f"module.{name}": tensor for name, tensor in state.items()}, path)
    assert same(load("cnn", path), model)


def test_weights_that_would_execute_code_are_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    torch.save({"state_dict": {"a": torch.zeros(1)}, "extra": Touches(victim)}, tmp_path / "w.pth")
    (tmp_path / "raw.pkl").write_bytes(pickle.dumps(Touches(victim), protocol=2))
    for name in ("w.pth", "raw.pkl"):
        with pytest.raises(CheckpointError, match=f"{name}: refused, since reading it could execute code"):
            load("cnn", tmp_path / name)
    assert not victim.exists()
    torch.load(tmp_path / "w.pth", weights_only=False)
    assert victim.exists()


def test_a_whole_pickled_model_is_refused(tmp_path: Path, model: Normalised) -> None:
    torch.save(model, tmp_path / "m.pth")
    with pytest.raises(CheckpointError, match="needs an architecture"):
        load(tmp_path / "m.pth")
    with pytest.raises(CheckpointError, match="refused, since reading it could execute code"):
        load("cnn", tmp_path / "m.pth")


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_weights_that_are_no_weights(tmp_path: Path, content: bytes) -> None:
    for name in ("w.pth", "w.safetensors"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CheckpointError, match=name):
            load("cnn", tmp_path / name)
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(CheckpointError, match="expected a dictionary of tensors, got list"):
        load("cnn", tmp_path / "list.pth")


def test_a_factory_in_the_current_folder(tmp_path: Path, model: Normalised, monkeypatch: pytest.MonkeyPatch) -> None:
    make = "from doublebubble.models import build\nmake = lambda: build('cnn', (1, 8, 8), 10, (0.3,), (0.4,), 7)\n"
    (tmp_path / "mine_for_the_test.py").write_text(make + "wrong = lambda: 3\n")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    assert same(load("mine_for_the_test:make"), model)
    assert sys.path == path
    with pytest.raises(ModelError, match="expected a torch module, got int"):
        load("mine_for_the_test:wrong")
    with pytest.raises(SettingError, match="cannot be imported"):
        load("mine_for_the_test:nothing")
    with pytest.raises(SettingError, match="cannot be imported"):
        load("no_such_module_here:make")


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


def test_timm_by_name(tmp_path: Path, model: Normalised, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def create_model(name: str, **options: object) -> nn.Module:
        if name == "nothing":
            raise RuntimeError("Unknown model (nothing)")
        asked.append((name, options))
        return build("cnn", SHAPE, CLASSES, MEAN, STD).network

    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(SettingError, match="timm is not installed"):
        load("timm:tiny")
    stand_in = types.ModuleType("timm")
    monkeypatch.setattr(stand_in, "create_model", create_model, raising=False)
    monkeypatch.setitem(sys.modules, "timm", stand_in)
    save_file(model.network.state_dict(), tmp_path / "w.safetensors")
    assert same(load("timm:tiny", tmp_path / "w.safetensors"), model)
    assert asked == [("tiny", {"pretrained": False, "num_classes": 10, "in_chans": 1})]
    with pytest.raises(SettingError, match="Unknown model"):
        load("timm:nothing")


def test_what_is_none_of_these_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="expected a folder, a file, module:factory, timm:NAME or one of cnn"):
        load("nowhere")
    with pytest.raises(SettingError, match="cnn is an architecture and needs a file of weights"):
        load("cnn")
    with pytest.raises(CheckpointError, match=r"found no model\.json in it"):
        load(tmp_path)


def test_a_denoiser_goes_before_the_classifier() -> None:
    class Halve(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 2

    both = Denoised(Halve(), nn.Flatten())
    assert torch.equal(both(X), (X / 2).flatten(1))
    assert [name for name, _ in both.named_children()] == ["denoiser", "classifier"]
