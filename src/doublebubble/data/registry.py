"""The data sets known by name: shape, classes, normalisation, and where their files lie. May import only errors."""

from dataclasses import dataclass

from doublebubble.errors import SettingError

_DIGITS = tuple(str(digit) for digit in range(10))
_FASHION = (
    "t-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
_CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before a file is opened.

    Images are (channels, height, width) with values in `domain`; `mean` and `std` normalise them, per channel, inside
    the model. `top` is the integer that stands for 1.0 in the files. `layout` says which files to put where, `folders`
    in which folders any of them lie. `sizes` counts the images for training and for testing.
    """

    name: str
    shape: tuple[int, int, int]
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    sizes: tuple[int, int]
    layout: str
    folders: tuple[str, ...] = ()
    top: int = 255
    domain: tuple[float, float] = (0.0, 1.0)

    @property
    def num_classes(self) -> int:
        """How many classes the labels name."""
        return len(self.classes)


def _idx_layout(folder: str) -> str:
    return (
        f"{folder}/train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte, plain or with .gz"
    )


DATASETS: dict[str, DatasetInfo] = {
    info.name: info
    for info in (
        DatasetInfo(
            "digits",
            (1, 8, 8),
            _DIGITS,
            mean=(0.3053,),
            std=(0.3761,),
            sizes=(1438, 359),
            layout="nothing: scikit-learn brings it along",
            top=16,
        ),
        DatasetInfo(
            "mnist",
            (1, 28, 28),
            _DIGITS,
            mean=(0.1307,),
            std=(0.3081,),
            sizes=(60_000, 10_000),
            layout=_idx_layout("MNIST/raw"),
            folders=("MNIST/raw",),
        ),
        DatasetInfo(
            "fashion-mnist",
            (1, 28, 28),
            _FASHION,
            mean=(0.2860,),
            std=(0.3530,),
            sizes=(60_000, 10_000),
            layout=_idx_layout("FashionMNIST/raw"),
            folders=("FashionMNIST/raw",),
        ),
        DatasetInfo(
            "cifar10",
            (3, 32, 32),
            _CIFAR10,
            mean=(0.4914, 0.4822, 0.4465),
            std=(0.2470, 0.2435, 0.2616),
            sizes=(50_000, 10_000),
            layout="cifar-10-batches-bin/data_batch_1.bin to data_batch_5.bin and test_batch.bin, "
            "or cifar-10-batches-py/data_batch_1 to data_batch_5 and test_batch",
            folders=("cifar-10-batches-bin", "cifar-10-batches-py"),
        ),
        DatasetInfo(
            "tiny-imagenet",
            (3, 64, 64),
            tuple(f"class {number}" for number in range(200)),
            mean=(0.4802, 0.4481, 0.3975),
            std=(0.2770, 0.2691, 0.2821),
            sizes=(100_000, 10_000),
            layout="tiny-imagenet-200/wnids.txt, words.txt, train/WNID/images/*.JPEG, val/images/*.JPEG and "
            "val/val_annotations.txt",
            folders=("tiny-imagenet-200",),
        ),
    )
}


def dataset_info(name: str) -> DatasetInfo:
    """The registry entry of a name, or an error that lists the names."""
    if name not in DATASETS:
        raise SettingError(f"data set: expected one of {', '.join(DATASETS)} or folder:PATH, got {name!r}")
    return DATASETS[name]
