"""Data sets by name: shapes, units, splits, and what is said when files are missing or incomplete."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_digits

from doublebubble.data import DATASETS, check_complete, data_root, dataset_info, load_dataset
from doublebubble.errors import DataError, SettingError


def test_digits_are_all_of_scikit_learns_once() -> None:
    train, test = load_dataset("digits", "train"), load_dataset("digits", "test")
    bunch = load_digits()
    joined = np.concatenate([train.pixels, test.pixels])[:, 0]
    assert sorted(map(bytes, joined)) == sorted(map(bytes, bunch.images.astype(np.uint8)))
    inputs = test.inputs()
    assert inputs.dtype == torch.float32
    assert inputs.min() == 0
    assert inputs.max() == 1
    assert np.allclose(inputs[3, 0] * 16, bunch.images[19])
    assert test.labels[3] == bunch.target[19]


def test_the_registered_normalisation_of_digits_is_that_of_its_training_images() -> None:
    inputs = load_dataset("digits", "train").inputs()
    info = dataset_info("digits")
    assert inputs.mean().item() == pytest.approx(info.mean[0], abs=2e-3)
    assert inputs.std().item() == pytest.approx(info.std[0], abs=2e-3)


def test_inputs_can_be_chosen() -> None:
    data = load_dataset("digits", "test")
    assert torch.equal(data.inputs(torch.tensor([5, 2])), data.inputs()[[5, 2]])
    assert torch.equal(data.inputs(slice(0, 100, 10)), data.inputs()[0:100:10])


def write_mnist(root: Path, count: int) -> None:
    """The test split, all black and all zero, `count` images."""
    folder = root / "MNIST" / "raw"
    folder.mkdir(parents=True)
    images = struct.pack(">4I", 2051, count, 28, 28) + bytes(count * 784)
    labels = struct.pack(">2I", 2049, count) + bytes(count)
    (folder / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(images, 1))
    (folder / "t10k-labels-idx1-ubyte").write_bytes(labels)


def test_fewer_images_than_published_are_read_but_not_called_complete(tmp_path: Path) -> None:
    write_mnist(tmp_path / "whole", 10_000)
    whole = load_dataset("mnist", "test", tmp_path / "whole")
    assert whole.pixels.shape == (10_000, 1, 28, 28)
    check_complete(whole)
    write_mnist(tmp_path / "part", 9_999)
    with pytest.raises(DataError, match="expected 10000 images in its test split, got 9999"):
        check_complete(load_dataset("mnist", "test", tmp_path / "part"))


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "digits"])
def test_missing_files_are_said_with_what_to_put_where(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=f"run `doublebubble data download {name}`, or put there") as caught:
        load_dataset(name, "test", tmp_path)
    assert dataset_info(name).folders[0] in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_the_data_folder_is_the_argument_then_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOUBLEBUBBLE_DATA", str(tmp_path / "environment"))
    assert data_root() == tmp_path / "environment"
    assert data_root(tmp_path) == tmp_path
    monkeypatch.delenv("DOUBLEBUBBLE_DATA")
    assert data_root().name == "doublebubble"


def test_unknown_names_and_splits_are_refused() -> None:
    with pytest.raises(SettingError, match="expected one of digits, mnist"):
        load_dataset("imagenet", "test")
    with pytest.raises(SettingError, match="expected train or test"):
        load_dataset("digits", "validation")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="digits has one size, 8x8; got 16"):
        load_dataset("digits", "test", size=16)


def write_classes(root: Path, value: int) -> None:
    for label in ("no", "yes"):
        (root / label).mkdir(parents=True)
        Image.fromarray(np.full((8, 8), value, np.uint8)).save(root / label / "1.png")


def test_a_folder_with_splits(tmp_path: Path) -> None:
    write_classes(tmp_path / "train", 51)
    write_classes(tmp_path / "val", 102)
    train, test = (load_dataset(f"folder:{tmp_path}", split) for split in ("train", "test"))
    assert train.info.shape == (1, 8, 8)
    assert train.info.classes == ("no", "yes")
    assert train.inputs()[0, 0, 0, 0].item() == pytest.approx(0.2)
    assert test.inputs()[0, 0, 0, 0].item() == pytest.approx(0.4)


def test_a_folder_without_splits_is_for_testing_only(tmp_path: Path) -> None:
    write_classes(tmp_path, 51)
    assert len(load_dataset(f"folder:{tmp_path}", "test")) == 2
    with pytest.raises(DataError, match="expected a folder train with one folder for each class in it, found none"):
        load_dataset(f"folder:{tmp_path}", "train")


def test_a_folder_with_training_images_only_is_not_taken_for_test_images(tmp_path: Path) -> None:
    write_classes(tmp_path / "train", 51)
    with pytest.raises(DataError, match="expected a folder test"):
        load_dataset(f"folder:{tmp_path}", "test")


def test_classes_of_a_folder_are_numbered_as_asked_and_it_is_said_how(tmp_path: Path) -> None:
    write_classes(tmp_path, 51)
    name = f"folder:{tmp_path}"
    assert load_dataset(name, "test").numbering == (
        "the labels are 0 = no, 1 = yes (one folder for each class, numbered in alphabetical order)"
    )
    listed = load_dataset(name, "test", classes=("yes", "perhaps", "no"))
    assert listed.info.num_classes == 3
    assert sorted(listed.labels.tolist()) == [0, 2]
    own = load_dataset(name, "test", model_classes=("yes", "perhaps", "no"))
    assert own.labels.tolist() == listed.labels.tolist()
    assert "numbered in the order of the model's classes" in own.numbering
    with pytest.raises(SettingError, match="classes: digits has its own"):
        load_dataset("digits", "test", classes=("a", "b"))
