"""Image classifiers of Hugging Face: opened from a folder, normalised as it says, its names of classes known."""

import json
import sys
from pathlib import Path

import pytest
import torch

import doublebubble as db
from doublebubble.data import load_dataset
from doublebubble.errors import CheckpointError, SettingError
from doublebubble.models import about_model, class_names, load_classifier, model_classes
from doublebubble.runs.spec import RunSpec
from tests.models.hugging_face_samples import MEAN, NAMES, STD, save_vit, tiny_resnet, tiny_vit

X = torch.rand(5, 3, 8, 8, generator=torch.Generator().manual_seed(1))
HALF = (0.5,)


def expected(x: torch.Tensor) -> torch.Tensor:
    mean, std = (torch.tensor(numbers)[None, :, None, None] for numbers in (MEAN, STD))
    with torch.no_grad():
        logits: torch.Tensor = tiny_vit()((x - mean) / std).logits
    return logits


@pytest.mark.parametrize("channels", [3, 1])
def test_a_folder_gives_the_logits_of_its_model(tmp_path: Path, channels: int) -> None:
    save_vit(tmp_path)
    model = load_classifier(f"hf:{tmp_path}", (channels, 8, 8), 10, HALF * channels, HALF * channels)
    x = X[:, :channels]
    with torch.no_grad():
        assert torch.allclose(model(x), expected(x.expand(-1, 3, -1, -1)), atol=1e-5)
    assert not any(module.training for module in model.modules())
    assert class_names(model) == model_classes(f"hf:{tmp_path}") == NAMES
    about = about_model(f"hf:{tmp_path}")
    assert about is not None
    assert (about.shape, about.classes) == ((3, 8, 8), NAMES)


def test_without_a_description_of_its_images_the_datas_normalisation_is_used(tmp_path: Path) -> None:
    save_vit(tmp_path)
    (tmp_path / "preprocessor_config.json").unlink()
    model = load_classifier(f"hf:{tmp_path}", (3, 8, 8), 10, tuple(MEAN), tuple(STD))
    with torch.no_grad():
        assert torch.allclose(model(X), expected(X), atol=1e-5)


def test_a_model_as_it_is_certifies_with_its_gradients_and_names(tmp_path: Path) -> None:
    data = load_dataset("digits", "test")
    given = (data.inputs(slice(0, 3)), data.labels[:3])
    model = tiny_vit(channels=1)
    run = db.certify(model, given, 0.5, n=200, n0=50, batch_size=32, methods="first_order", quiet=True)
    assert isinstance(run.spec, RunSpec)
    assert run.spec.config.gradient == "full"
    assert len(run.certificates) == 3


def test_a_network_without_a_size_and_with_numbers_for_names(tmp_path: Path) -> None:
    tiny_resnet().save_pretrained(tmp_path)
    model = load_classifier(f"hf:{tmp_path}", (3, 20, 20), 3, HALF * 3, HALF * 3)
    with torch.no_grad():
        assert model(torch.rand(2, 3, 20, 20)).shape == (2, 3)
    assert about_model(f"hf:{tmp_path}") is None


def change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"auto_map": {"AutoModelForImageClassification": "evil.Model"}},
            "refused, since its `auto_map` could have code",
        ),
        ({"quantization_config": {"quant_method": "x"}}, "refused, since its `quantization_config`"),
        ({"id2label": {"0": "a", "2": "b"}}, "expected id2label to name the classes 0 to 1"),
        ({"id2label": {"a": "b"}}, "expected numbers as the keys of id2label"),
        ({"num_channels": 0}, "num_channels: expected a whole number from 1"),
        ({"image_size": "8"}, "image_size: expected a whole number from 1"),
        ({"model_type": "no such"}, "transformers cannot open it"),
        ({"hidden_size": 24}, "transformers cannot open it"),
        ({"num_hidden_layers": 2}, "weights do not fit the model: missing vit"),
    ],
)
def test_configurations_that_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    save_vit(tmp_path)
    change(tmp_path / "config.json", **changes)
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(CheckpointError, match=message):
        load_classifier(f"hf:{tmp_path}", (3, 8, 8), 10, HALF * 3, HALF * 3)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("processor", "message"),
    [
        ({"rescale_factor": 1 / 127.5}, "it scales them in another way"),
        ({"rescale_offset": True}, "it scales them in another way"),
        ({"image_std": [0.0, 1.0, 1.0]}, "expected image_std to be a number for each channel"),
        ({"image_mean": None}, "expected image_mean to be a number for each channel"),
        ({"image_mean": [0.5] * 2, "image_std": [0.5] * 2}, "normalises 2 channels, the model has 3"),
    ],
)
def test_descriptions_of_images_that_are_refused(tmp_path: Path, processor: dict[str, object], message: str) -> None:
    save_vit(tmp_path, **processor)
    with pytest.raises(CheckpointError, match=message):
        load_classifier(f"hf:{tmp_path}", (3, 8, 8), 10, HALF * 3, HALF * 3)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ((3, 8, 8), 10, HALF * 3, HALF * 3)
    with pytest.raises(SettingError, match=r"found no config\.json in it; nothing is downloaded"):
        load_classifier("hf:google/vit", *arguments)
    save_vit(tmp_path)
    with pytest.raises(SettingError, match="brings its own"):
        load_classifier(f"hf:{tmp_path}", *arguments, weights=tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=f"hf:{tmp_path} opens one of Hugging Face"):
        load_classifier(str(tmp_path), *arguments)
    with pytest.raises(SettingError, match="expected images of 1 or 3 channels, got 2"):
        load_classifier(f"hf:{tmp_path}", (2, 8, 8), 10, HALF * 2, HALF * 2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "transformers", None)
        with pytest.raises(SettingError, match=r"transformers is not installed; `pip install 'doublebubble\[hf\]'`"):
            load_classifier(f"hf:{tmp_path}", *arguments)
    state = tiny_vit().state_dict()
    torch.save(state, tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="expected weights as safetensors, found none"):
        load_classifier(f"hf:{tmp_path}", *arguments)
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(CheckpointError, match=r"config\.json: expected JSON"):
        load_classifier(f"hf:{tmp_path}", *arguments)
