"""Reads images from folders: Tiny-ImageNet's layout, and anyone's with one folder per class. May import only errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from doublebubble.data.pictures import open_picture
from doublebubble.errors import DataError

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm", ".webp")
_GREY_MODES = ("1", "L", "LA")
_WIDE_MODES = ("I", "F")


@dataclass(frozen=True)
class ImageFolder:
    """Images (n, channels, height, width), labels, the classes that the labels number, and in which order."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]
    classes: tuple[str, ...]
    order: str


def read_class_folders(
    root: Path, size: int | None = None, classes: Sequence[str] | None = None, model_classes: Sequence[str] = ()
) -> ImageFolder:
    """Every image under `root`, one folder per class.

    Labels are positions in `classes`, which then must hold every folder and may hold more; without it in the model's
    own list if that holds every folder; else in the alphabetical order of the folders. If all images are grey they stay
    grey; otherwise all become RGB. Differing sizes are an error unless `size` resizes them.
    """
    folders = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    names = [folder.name for folder in folders]
    numbered, order = tuple(names), "in alphabetical order"
    if classes is not None:
        numbered, order = tuple(classes), "in the order of the list of classes"
    elif names and set(names) <= set(model_classes):
        numbered, order = tuple(model_classes), "in the order of the model's classes"
    if not folders or len(numbered) < 2:
        raise DataError(f"{root}: expected at least two folders, one for each class, found {len(folders)}")
    if unknown := [name for name in names if name not in numbered]:
        raise DataError(f"{root / unknown[0]}: expected a folder of the list of classes ({named_classes(numbered)})")
    paths, labels = [], []
    for folder in folders:
        found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)
        if not found:
            raise DataError(f"{folder}: expected images ({', '.join(_SUFFIXES)}), found none")
        paths += found
        labels += [numbered.index(folder.name)] * len(found)
    images = read_images(paths, size, "as found")
    return ImageFolder(images, np.array(labels, np.int64), numbered, order)


def read_classes(path: Path) -> tuple[str, ...]:
    """The classes of a model in its own order, from a file with one name per line."""
    names = tuple(line.strip() for line in _lines(path) if line.strip())
    if len(names) < 2 or len(set(names)) != len(names):
        raise DataError(f"{path}: expected at least two different classes, one per line, got {named_classes(names)}")
    return names


def named_classes(classes: Sequence[str]) -> str:
    """Which number stands for which class: `0 = cat, 1 = dog`, the middle of a long list left out."""
    pairs = [f"{number} = {name}" for number, name in enumerate(classes)]
    return ", ".join(pairs if len(pairs) <= 10 else [*pairs[:6], "...", *pairs[-2:]])


def read_tiny_imagenet(root: Path, split: str, size: int | None = None) -> ImageFolder:
    """A split of Tiny-ImageNet-200: `train`, or as `test` its labelled validation images.

    Classes are numbered by WordNet id in alphabetical order, as folder readers elsewhere do, and named by words.txt.
    """
    wnids = sorted(_lines(root / "wnids.txt"))
    if len(set(wnids)) != len(wnids):
        raise DataError(f"{root / 'wnids.txt'}: expected distinct WordNet ids, found one twice")
    number = {wnid: label for label, wnid in enumerate(wnids)}
    words = dict(line.split("\t", 1) for line in _lines(root / "words.txt") if "\t" in line)
    if split == "train":
        pairs = [(path, number[wnid]) for wnid in wnids for path in _train_images(root / "train" / wnid / "images")]
    else:
        pairs = _validation_images(root / "val", number)
    images = read_images([path for path, _ in pairs], size, "RGB")
    labels = np.array([label for _, label in pairs], np.int64)
    names = tuple(words.get(wnid, wnid).split(",")[0] for wnid in wnids)
    return ImageFolder(images, labels, names, "in alphabetical order of their WordNet ids")


def _train_images(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.JPEG"))
    if not found:
        raise DataError(f"{folder}: expected images named *.JPEG, found none")
    return found


def _validation_images(folder: Path, number: dict[str, int]) -> list[tuple[Path, int]]:
    path = folder / "val_annotations.txt"
    pairs = []
    for at, line in enumerate(_lines(path), start=1):
        fields = line.split("\t")
        if len(fields) < 2 or fields[1] not in number:
            raise DataError(f"{path}: line {at}: expected an image and a WordNet id of wnids.txt, got {line!r}")
        pairs.append((folder / "images" / fields[0], number[fields[1]]))
    if len({image for image, _ in pairs}) != len(pairs):
        raise DataError(f"{path}: expected each image once, found one twice")
    return pairs


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    if not lines:
        raise DataError(f"{path}: expected lines, found none")
    return lines


def read_images(paths: Sequence[Path], size: int | None, colours: str) -> npt.NDArray[np.uint8]:
    """The images in one array, all of one size; with `size` each is resized to a square of that side."""
    pictures = [_read_image(path, size) for path in paths]
    mode = "L" if colours == "as found" and all(picture.mode == "L" for picture in pictures) else "RGB"
    expected = pictures[0].size
    for path, picture in zip(paths, pictures, strict=True):
        if picture.size != expected:
            got, wanted = "x".join(map(str, picture.size)), "x".join(map(str, expected))
            raise DataError(
                f"{path}: expected {wanted} pixels as in {paths[0].name}, got {got}; give a size to resize all"
            )
    width, height = expected
    images = np.empty((len(paths), len(mode), height, width), np.uint8)
    for at, picture in enumerate(pictures):
        images[at] = np.asarray(picture.convert(mode)).reshape(height, width, len(mode)).transpose(2, 0, 1)
    return images


def _read_image(path: Path, size: int | None) -> Image.Image:
    opened = open_picture(path)
    if opened.mode.startswith(_WIDE_MODES):
        raise DataError(f"{path}: expected 8 bits per channel, got an image of mode {opened.mode}")
    picture = opened.convert("L" if opened.mode in _GREY_MODES else "RGB")
    return picture if size is None else picture.resize((size, size), Image.Resampling.BILINEAR)
