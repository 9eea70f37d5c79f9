"""Anyone's model, by every route; and weights that would execute code, refused without executing it."""

import pickle
import sys
import types
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from doublebubble.errors import CheckpointError, ModelError, SettingError
from doublebubble.models import (
    Denoised,
    ModelCard,
    Normalised,
    about_model,
    build,
    build_denoiser,
    class_names,
    load_classifier,
    load_denoiser,
    model_classes,
    save_model,
)
from tests.models.subjects import CLASSES, MEAN, SHAPE, STD, Touches, load, same, small_model


@pytest.fixture
def model() -> Normalised:
    return small_model()


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
    with pytest.raises(
        SettingError, match="expected a folder, a file, module:factory, timm:NAME, hf:FOLDER or one of cnn"
    ):
        load("nowhere")
    with pytest.raises(SettingError, match="cnn is an architecture and needs a file of weights"):
        load("cnn")
    with pytest.raises(CheckpointError, match=r"found no model\.json in it"):
        load(tmp_path)


@pytest.fixture
def denoiser(tmp_path: Path) -> Path:
    folder = tmp_path / "denoiser"
    folder.mkdir()
    save_model(folder, build_denoiser("unet", SHAPE, seed=2), card(arch="unet", method="denoiser"))
    return folder


def test_a_denoiser_goes_before_any_other_route(tmp_path: Path, model: Normalised, denoiser: Path) -> None:
    save_model(tmp_path, model, card())
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    expected = Denoised(load_denoiser(denoiser)[0], model).eval()
    pair = load(f"{denoiser}+{tmp_path}")
    assert same(pair, expected)
    assert class_names(pair) == model_classes(f"{denoiser}+{tmp_path}") == tuple("0123456789")
    assert about_model(f"{denoiser}+{tmp_path}") == about_model(str(tmp_path))
    assert same(load(f"{denoiser}+cnn", tmp_path / "w.safetensors"), expected)


def test_a_folder_with_a_plus_in_its_name_is_a_folder(tmp_path: Path, model: Normalised, denoiser: Path) -> None:
    folder = tmp_path / "denoiser+more"
    folder.mkdir()
    save_model(folder, model, card())
    assert same(load(folder), model)


def test_what_is_no_denoiser_or_no_classifier_is_named(tmp_path: Path, model: Normalised, denoiser: Path) -> None:
    save_model(tmp_path, model, card())
    with pytest.raises(CheckpointError, match=r"expected a denoiser, got a classifier \(cnn\)"):
        load(f"{tmp_path}+{tmp_path}")
    with pytest.raises(CheckpointError, match=r"holds a denoiser, which goes before a classifier: .*\+CLASSIFIER"):
        load(denoiser)
    with pytest.raises(SettingError, match="got 'nonsense'"):
        load(f"{denoiser}+nonsense")
    with pytest.raises(SettingError, match=r"got 'nowhere\+cnn'; of DENOISER\+MODEL the first is a folder"):
        load("nowhere+cnn")
    with pytest.raises(SettingError, match="expected a denoiser for 3 channels, got one for 1"):
        load_classifier(f"{denoiser}+{tmp_path}", (3, 8, 8), CLASSES, MEAN, STD)
