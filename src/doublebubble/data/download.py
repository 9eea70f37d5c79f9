"""Downloads data sets from where they are published, each file pinned by its SHA-256. May import only errors.

pooch checks and places the files; the transfer itself is ours because it has to resume where a broken one stopped.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import requests

from doublebubble.data.registry import dataset_info
from doublebubble.errors import DataError
from doublebubble.files import FILE_MODE, open_plain

ReportBytes = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes there so far, and the bytes in all where the server says."""

_CHUNK = 1 << 18
_TIMEOUT = 30
_IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


@dataclass(frozen=True)
class PublishedFile:
    """One published file: where it is, what it must hash to, where it goes, and the folder it unpacks to, if any."""

    url: str
    sha256: str
    target: str
    unpacks_to: str | None = None


def _idx_files(base: str, folder: str, hashes: tuple[str, ...]) -> tuple[PublishedFile, ...]:
    return tuple(
        PublishedFile(f"{base}/{name}.gz", sha256, f"{folder}/{name}.gz")
        for name, sha256 in zip(_IDX_FILES, hashes, strict=True)
    )


PUBLISHED_FILES: dict[str, tuple[PublishedFile, ...]] = {
    "digits": (),
    "mnist": _idx_files(
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "MNIST/raw",
        (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
    "fashion-mnist": _idx_files(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
        "FashionMNIST/raw",
        (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    "cifar10": (
        PublishedFile(
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            "cifar-10-binary.tar.gz",
            unpacks_to="cifar-10-batches-bin",
        ),
    ),
    "tiny-imagenet": (
        PublishedFile(
            "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
            "6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821",
            "tiny-imagenet-200.zip",
            unpacks_to="tiny-imagenet-200",
        ),
    ),
}

UNPACKED: dict[str, str] = {
    "MNIST/raw/train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "MNIST/raw/train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "MNIST/raw/t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "MNIST/raw/t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "cifar-10-batches-bin/data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "cifar-10-batches-bin/data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "cifar-10-batches-bin/data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "cifar-10-batches-bin/data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "cifar-10-batches-bin/data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "cifar-10-batches-bin/test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
"""Hashes of the published files once unpacked, for those who bring them along themselves."""


def download(name: str, root: Path, report: ReportBytes) -> list[Path]:
    """Bring every file of a data set under `root`; what is there already and right is kept, what broke off goes on."""
    layout = dataset_info(name).layout
    places = []
    for source in PUBLISHED_FILES[name]:
        place = root / (source.unpacks_to or source.target)
        plain = source.target.removesuffix(".gz")
        if plain in UNPACKED and (root / plain).is_file() and sha256(root / plain) == UNPACKED[plain]:
            place = root / plain
        elif not (source.unpacks_to and place.is_dir()):
            archive = _retrieve(source, root, report, layout)
            if source.unpacks_to:
                _unpack(archive, place)
        places.append(place)
    return places


def _retrieve(source: PublishedFile, root: Path, report: ReportBytes, layout: str) -> Path:
    import pooch

    target = root / source.target
    resumable = _Resumable(target.with_name(target.name + ".part"), report)
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(source.url, source.sha256, fname=target.name, path=target.parent, downloader=resumable)
    except requests.RequestException as error:
        raise DataError(
            f"{source.url}: cannot be had ({type(error).__name__}); try again, or put by hand under {root}: {layout}"
        ) from error
    except ValueError as error:
        raise DataError(f"{source.url}: what came has not the SHA-256 {source.sha256}; nothing was kept") from error
    return target


class _Resumable:
    """A downloader for pooch that keeps what came in a .part file and asks the server for the rest."""

    def __init__(self, part: Path, report: ReportBytes) -> None:
        self._part, self._report = part, report

    def __call__(self, url: str, output_file: str, _: object) -> None:
        have = self._part.stat().st_size if self._part.exists() else 0
        headers = {"Range": f"bytes={have}-"} if have else {}
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
            if answer.status_code != requests.codes.requested_range_not_satisfiable:
                answer.raise_for_status()
                self._write(answer, have if answer.status_code == requests.codes.partial_content else 0)
        shutil.move(self._part, output_file)  # a part that is all, or too long for the server: the hash will tell

    def _write(self, answer: requests.Response, have: int) -> None:
        length = answer.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        self._part.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | (os.O_APPEND if have else os.O_TRUNC)
        with os.fdopen(open_plain(self._part, flags), "wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                self._report(self._part.stem, have, total)


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack beside the target and move it there whole, then drop the archive."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as draft:
        try:
            if archive.suffix == ".zip":
                shutil.unpack_archive(archive, draft)
            else:
                shutil.unpack_archive(archive, draft, filter="data")
        except (shutil.ReadError, OSError, EOFError) as error:
            raise DataError(f"{archive}: cannot be unpacked ({error})") from error
        inner = Path(draft) / folder.name
        if not inner.is_dir():
            raise DataError(f"{archive}: expected a folder {folder.name} in it, found none")
        _set_modes(inner)
        inner.rename(folder)
    archive.unlink()


def _set_modes(folder: Path) -> None:
    """Give all that an archive brought the modes that new files and folders get here, whatever the archive says."""
    (file := folder.with_name("file")).touch(FILE_MODE)
    (made := folder.with_name("folder")).mkdir()
    modes = {False: stat.S_IMODE(file.stat().st_mode), True: stat.S_IMODE(made.stat().st_mode)}
    for path in (folder, *folder.rglob("*")):
        path.chmod(modes[path.is_dir()])


def wrong_files(name: str, root: Path) -> list[str]:
    """What is wrong with those files of a data set whose hashes are known, in words; empty if nothing is."""
    known = {source.target: source.sha256 for source in PUBLISHED_FILES[name] if not source.unpacks_to} | UNPACKED
    wrong = []
    for relative, expected in known.items():
        path = root / relative
        if relative.startswith(dataset_info(name).folders) and path.is_file() and (got := sha256(path)) != expected:
            wrong.append(f"{path}: expected SHA-256 {expected}, got {got}")
    return wrong


def sha256(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
