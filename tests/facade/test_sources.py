"""Every form of data gives the same inputs under the same indices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, SubsetRandomSampler, TensorDataset

from doublebubble.data import load_dataset
from doublebubble.errors import DoubleBubbleWarning, InputError, SettingError
from doublebubble.facade.sources import source_of

X = load_dataset("digits", "test").inputs()[:7]
Y = load_dataset("digits", "test").labels[:7]


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(zip(X, Y, strict=True))


class Jittered(Dataset[Any]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.rand(1, 8, 8), 0


PAIRS = TensorDataset(X, Y)
FORMS = {
    "tensors": (X, Y),
    "list": [X, Y],
    "arrays": (X.numpy(), Y.numpy()),
    "labels as a list": (X, Y.tolist()),
    "data set": PAIRS,
    "loader": DataLoader(PAIRS, batch_size=3),
    "loader that drops the last batch": DataLoader(PAIRS, batch_size=3, drop_last=True),
    "loader without batches": DataLoader(PAIRS, batch_size=None),
    "stream": Stream(),
    "loader of a stream": DataLoader(Stream(), batch_size=3),
    "loader of a stream without batches": DataLoader(Stream(), batch_size=None),
    "subset": Subset(PAIRS, list(range(7))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_inputs(form: str) -> None:
    source = source_of(FORMS[form])  # type: ignore[arg-type]
    assert len(source) == 7
    for index in (3, 0, 6):
        given = source.input(index)
        assert torch.equal(given.x, X[index])
        assert (given.index, given.label) == (index, int(Y[index]))
    assert source.num_classes is None


def test_labels_may_be_missing() -> None:
    for data in (X, X.numpy(), TensorDataset(X), DataLoader(TensorDataset(X), batch_size=2), (X, None)):
        given = source_of(data).input(2)
        assert torch.equal(given.x, X[2])
        assert given.label is None


def test_a_loader_that_shuffles_is_read_in_the_order_of_its_data() -> None:
    with pytest.warns(DoubleBubbleWarning, match="the loader shuffles; inputs are numbered and read in the order"):
        source = source_of(DataLoader(PAIRS, batch_size=3, shuffle=True))
    assert [source.input(index).label for index in range(7)] == Y.tolist()


def test_names_and_folders(tmp_path: Path) -> None:
    named = source_of("digits")
    assert (len(named), named.num_classes, named.name) == (359, 10, "digits")
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        for number in range(2):
            Image.fromarray(np.full((4, 4), 100 + number, np.uint8)).save(tmp_path / label / f"{number}.png")
    for data in (tmp_path, str(tmp_path), f"folder:{tmp_path}"):
        folder = source_of(data)
        assert (len(folder), folder.num_classes, folder.input(2).label) == (4, 2, 1)
    with pytest.raises(SettingError, match="data set: expected one of digits"):
        source_of("no such data")


def test_the_fingerprint_sees_every_input_and_label() -> None:
    def digests(x: Tensor, y: Tensor) -> list[str]:
        return [source_of(data).digest() for data in ((x, y), TensorDataset(x, y))]

    same = digests(X, Y)
    assert digests(X.clone(), Y.clone()) == same
    other_x, other_y = X.clone(), Y.clone()
    other_x[6, 0, 7, 7] += 0.01
    other_y[6] += 1
    for changed in (digests(other_x, Y), digests(X, other_y)):
        assert changed[0] != same[0]
        assert changed[1] != same[1]


def test_an_input_that_changes_between_readings_is_an_error() -> None:
    source = source_of(Jittered())
    source.digest()
    with pytest.raises(InputError, match="input 1: the data set gave another input than before"):
        source.input(1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((X, Y[:3]), r"labels: expected one for each of 7 inputs, got shape \(3,\)"),
        ((X * 16).byte(), r"expected floating-point numbers in the domain's units, got torch.uint8; .* divided by 255"),
        ((X, Y.float()), "input 0: expected a whole number as its label"),
        (Subset(["a", "b"], [0]), "input 0: expected a tensor or an array, got str"),  # type: ignore[arg-type]
        (Subset([{"image": X[0], "label": 3}], [0]), "got a dict of image, label"),  # type: ignore[arg-type]
        (DataLoader(PAIRS, sampler=SubsetRandomSampler([1, 2])), "SubsetRandomSampler does not say which input"),
        (7, "data: expected a pair"),
        ((X, Y, Y), "data: expected a pair"),
    ],
)
def test_what_is_no_data_is_told(data: Any, message: str) -> None:
    with pytest.raises((InputError, SettingError), match=message):
        source_of(data).input(0)
