"""The registry: names, shapes, classes and normalisation that fit together."""

import pytest

from doublebubble.data import DATASETS, dataset_info
from doublebubble.errors import SettingError


@pytest.mark.parametrize("name", DATASETS)
def test_entries_are_consistent(name: str) -> None:
    info = dataset_info(name)
    assert info.name == name
    assert len(info.mean) == len(info.std) == info.shape[0]
    assert all(0 < mean < 1 for mean in info.mean)
    assert all(0 < std < 1 for std in info.std)
    assert info.num_classes == len(info.classes) == len(set(info.classes))
    assert info.domain == (0.0, 1.0)
    assert all(size > 0 for size in info.sizes)
    assert (name == "digits") == (info.folders == ())
    assert all(folder in info.layout for folder in info.folders)


@pytest.mark.parametrize(
    ("name", "sizes", "shape", "classes"),
    [
        ("mnist", (60_000, 10_000), (1, 28, 28), 10),
        ("fashion-mnist", (60_000, 10_000), (1, 28, 28), 10),
        ("cifar10", (50_000, 10_000), (3, 32, 32), 10),
        ("tiny-imagenet", (100_000, 10_000), (3, 64, 64), 200),
    ],
)
def test_sizes_are_the_published_ones(
    name: str, sizes: tuple[int, int], shape: tuple[int, int, int], classes: int
) -> None:
    info = dataset_info(name)
    assert (info.sizes, info.shape, info.num_classes) == (sizes, shape, classes)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SettingError, match=r"expected one of digits, mnist, .* or folder:PATH, got 'svhn'"):
        dataset_info("svhn")
