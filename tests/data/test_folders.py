"""Image folders made here, read back pixel for pixel, and every way in which one can be wrong."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.data.folders import named_classes, read_class_folders, read_classes, read_tiny_imagenet
from doublebubble.errors import DataError

RNG = np.random.default_rng(4)


def save(
    path: Path, mode: str = "RGB", size: tuple[int, int] = (6, 4)
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """A random picture of (width, height), returned as (channels, height, width)."""
    channels = len(mode)
    pixels = RNG.integers(0, 256, size=(size[1], size[0], channels), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.squeeze(2) if channels == 1 else pixels, mode=None).save(path)
    return pixels.transpose(2, 0, 1)


def test_classes_are_folders_in_alphabetical_order(tmp_path: Path) -> None:
    dog = save(tmp_path / "dog" / "1.png")
    cats = [save(tmp_path / "cat" / name) for name in ("a.png", "b.bmp")]
    found = read_class_folders(tmp_path)
    assert found.classes == ("cat", "dog")
    assert found.labels.tolist() == [0, 0, 1]
    assert np.array_equal(found.images, np.stack([*cats, dog]))


def test_grey_stays_grey_only_if_all_are(tmp_path: Path) -> None:
    grey = save(tmp_path / "a" / "1.png", "L")
    save(tmp_path / "b" / "1.png", "L")
    assert np.array_equal(read_class_folders(tmp_path).images[0], grey)
    save(tmp_path / "b" / "2.png", "RGB")
    assert np.array_equal(read_class_folders(tmp_path).images[0], np.repeat(grey, 3, axis=0))


def test_differing_sizes_are_refused_unless_resized(tmp_path: Path) -> None:
    save(tmp_path / "a" / "1.png")
    save(tmp_path / "b" / "odd.png", size=(5, 4))
    with pytest.raises(DataError, match=r"odd\.png: expected 6x4 pixels as in 1\.png, got 5x4"):
        read_class_folders(tmp_path)
    assert read_class_folders(tmp_path, size=8).images.shape == (2, 3, 8, 8)


def test_what_is_not_an_image_is_named(tmp_path: Path) -> None:
    save(tmp_path / "a" / "1.png")
    save(tmp_path / "b" / "2.png", size=(60, 40))
    whole = (tmp_path / "b" / "2.png").read_bytes()
    for content in (b"", b"nothing of the kind", whole[: len(whole) // 2]):
        (tmp_path / "b" / "2.png").write_bytes(content)
        with pytest.raises(DataError, match=r"2\.png: cannot be read as an image"):
            read_class_folders(tmp_path)


def test_sixteen_bits_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "a" / "1.png")
    (tmp_path / "b").mkdir()
    Image.fromarray(np.full((4, 6), 300, np.uint16)).save(tmp_path / "b" / "deep.png")
    with pytest.raises(DataError, match=r"deep\.png: expected 8 bits per channel"):
        read_class_folders(tmp_path)


def test_one_class_or_an_empty_one_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a" / "1.png")
    with pytest.raises(DataError, match="expected at least two folders, one for each class, found 1"):
        read_class_folders(tmp_path)
    (tmp_path / "b").mkdir()
    with pytest.raises(DataError, match=r"b: expected images"):
        read_class_folders(tmp_path)
    with pytest.raises(DataError, match="found 0"):
        read_class_folders(tmp_path / "nowhere")


def make_tiny(root: Path, wnids: tuple[str, ...] = ("n02", "n01")) -> dict[str, int]:
    """Tiny-ImageNet's layout with few images; returns the label that each validation image must have."""
    root.mkdir()
    (root / "wnids.txt").write_text("".join(f"{wnid}\n" for wnid in wnids))
    (root / "words.txt").write_text("n01\tgoldfish, Carassius auratus\nn02\ttoad\nn99\tunused\n")
    lines, expected = [], {}
    for number, wnid in enumerate(sorted(wnids)):
        for i in range(3):
            save(root / "train" / wnid / "images" / f"{wnid}_{i}.JPEG", "L" if i == 2 else "RGB", (64, 64))
        name = f"val_{number}.JPEG"
        save(root / "val" / "images" / name, size=(64, 64))
        lines.append(f"{name}\t{wnid}\t0\t0\t62\t62\n")
        expected[name] = number
    (root / "val" / "val_annotations.txt").write_text("".join(reversed(lines)))
    return expected


def test_tiny_imagenet_reads_both_splits(tmp_path: Path) -> None:
    root = tmp_path / "tiny"
    expected = make_tiny(root)
    train, test = read_tiny_imagenet(root, "train"), read_tiny_imagenet(root, "test")
    assert train.classes == ("goldfish", "toad")
    assert train.images.shape == (6, 3, 64, 64)
    assert train.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert test.labels.tolist() == list(reversed(expected.values()))
    first = np.asarray(Image.open(root / "val" / "images" / "val_1.JPEG")).transpose(2, 0, 1)
    assert np.array_equal(test.images[0], first)
    assert read_tiny_imagenet(root, "test", size=60).images.shape == (2, 3, 60, 60)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("wnids.txt", "n01\nn01\n", "expected distinct WordNet ids"),
        ("wnids.txt", "", "expected lines, found none"),
        ("val/val_annotations.txt", "val_0.JPEG\tn77\t0\n", "line 1: expected an image and a WordNet id"),
        ("val/val_annotations.txt", "val_0.JPEG\tn01\nval_0.JPEG\tn02\n", "expected each image once"),
        ("val/val_annotations.txt", "val_9.JPEG\tn01\n", r"val_9\.JPEG: cannot be read as an image"),
    ],
)
def test_a_damaged_tiny_imagenet_is_named(tmp_path: Path, file: str, content: str, message: str) -> None:
    root = tmp_path / "tiny"
    make_tiny(root)
    (root / file).write_text(content)
    with pytest.raises(DataError, match=message):
        read_tiny_imagenet(root, "test")


def test_fewer_folders_than_classes_are_numbered_by_the_list_of_classes(tmp_path: Path) -> None:
    for name in ("cat", "zebra"):
        save(tmp_path / name / "1.png")
    listed = ("zebra", "dog", "cat")
    found = read_class_folders(tmp_path, classes=listed)
    assert (found.classes, found.labels.tolist()) == (listed, [2, 0])
    assert found.order == "in the order of the list of classes"
    with pytest.raises(DataError, match=r"zebra: expected a folder of the list of classes \(0 = dog, 1 = cat\)"):
        read_class_folders(tmp_path, classes=("dog", "cat"))


def test_the_models_own_list_numbers_folders_only_if_it_names_them_all(tmp_path: Path) -> None:
    for name in ("cat", "zebra"):
        save(tmp_path / name / "1.png")
    found = read_class_folders(tmp_path, model_classes=("zebra", "dog", "cat"))
    assert (found.labels.tolist(), found.order) == ([2, 0], "in the order of the model's classes")
    found = read_class_folders(tmp_path, model_classes=("dog", "cat"))
    assert (found.classes, found.order) == (("cat", "zebra"), "in alphabetical order")
    assert read_class_folders(tmp_path, None, ("zebra", "cat"), ("cat", "zebra")).labels.tolist() == [1, 0]


def test_a_list_of_classes_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("zebra\n  dog \n\ncat\n")
    assert read_classes(path) == ("zebra", "dog", "cat")
    for wrong in ("cat\n", "cat\ndog\ncat\n", "\n"):
        path.write_text(wrong)
        with pytest.raises(DataError, match="expected at least two different classes, one per line"):
            read_classes(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_classes(tmp_path / "nowhere")


def test_long_lists_of_classes_are_named_in_short() -> None:
    assert named_classes(("cat", "dog")) == "0 = cat, 1 = dog"
    assert named_classes([str(k) for k in range(200)]).endswith("5 = 5, ..., 198 = 198, 199 = 199")
