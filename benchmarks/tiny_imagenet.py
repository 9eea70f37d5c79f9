"""Is the code ready for Tiny-ImageNet? Its code path on a generated folder of its form, at its real size or smaller.

    python -m benchmarks.tiny_imagenet --out DIR                                      # 200 x (500 + 50) images
    python -m benchmarks.tiny_imagenet --out DIR --classes 12 --train 2 --test 1      # quick

The network is untrained and the pictures are noise: nothing here says anything about Tiny-ImageNet's claims.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import doublebubble as db
from doublebubble.data import Dataset, load_dataset
from doublebubble.models import build
from doublebubble.streams import Stream
from doublebubble.training import preset

FOLDER, SIDE = "tiny-imagenet-200", 64


def generate(root: Path, classes: int, train: int, test: int) -> None:
    """Write a folder as Tiny-ImageNet unpacks to: classes with so many images each; one that is there stays."""
    if (root / "val" / "val_annotations.txt").exists():
        return
    wnids = [f"n{number:08d}" for number in range(classes)]
    draw = Stream(0, 0, "audit", "tiny_imagenet").generator()
    (root / "val" / "images").mkdir(parents=True, exist_ok=True)
    notes = []
    for number, wnid in enumerate(wnids):
        images = root / "train" / wnid / "images"
        images.mkdir(parents=True, exist_ok=True)
        for k in range(train):
            _picture(draw).save(images / f"{wnid}_{k}.JPEG")
        for k in range(test):
            name = f"val_{number * test + k}.JPEG"
            _picture(draw).save(root / "val" / "images" / name)
            notes.append(f"{name}\t{wnid}\t0\t0\t62\t62\n")
    (root / "wnids.txt").write_text("".join(f"{wnid}\n" for wnid in wnids))
    (root / "words.txt").write_text("".join(f"{wnid}\tthing {wnid}\n" for wnid in wnids))
    (root / "val" / "val_annotations.txt").write_text("".join(notes))  # last: it says that all is there


def _picture(draw: np.random.Generator) -> Image.Image:
    return Image.fromarray(draw.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8))


def walk(data_dir: Path, out: Path, arch: str | None, n: int) -> tuple[Dataset, Dataset, dict[str, db.Run]]:
    """Read both splits, build the published network for their classes, certify an input under both protocols."""
    train, test = (load_dataset("tiny-imagenet", split, data_dir) for split in ("train", "test"))
    chosen = arch or preset("tiny-imagenet", "gaussian", 0.5).arch
    model = build(chosen, test.info.shape, test.info.num_classes, test.info.mean, test.info.std).eval()
    data = (test.inputs(slice(0, 1)), test.labels[:1])
    with warnings.catch_warnings():  # the network is not trained, and the first look says so
        warnings.simplefilter("ignore", db.DoubleBubbleWarning)
        runs = {
            protocol: db.certify(model, data, sigma=0.5, n=n, protocol=protocol, out=out / protocol, quiet=True)
            for protocol in ("paper", "sound")
        }
    return train, test, runs


def main(words: list[str] | None = None) -> None:
    """Generate, walk, say what was seen and how long it took."""
    parser = argparse.ArgumentParser(prog="benchmarks.tiny_imagenet", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--classes", type=int, default=200)
    parser.add_argument("--train", type=int, default=500)
    parser.add_argument("--test", type=int, default=50)
    parser.add_argument("--arch", default=None)
    parser.add_argument("--n", type=int, default=1000)
    asked = parser.parse_args(words)
    begin = time.perf_counter()
    generate(asked.out / FOLDER, asked.classes, asked.train, asked.test)
    sys.stdout.write(f"folder {asked.out / FOLDER}: {time.perf_counter() - begin:.0f} s\n")
    train, test, runs = walk(asked.out, asked.out / "runs", asked.arch, asked.n)
    sys.stdout.write(
        f"{len(train)} and {len(test)} images of {test.info.num_classes} classes, shape {test.info.shape}\n"
    )
    for protocol, run in runs.items():
        mark = " (not guaranteed)" if protocol == "paper" else ""
        sys.stdout.write(f"{protocol}{mark}: {run.frame['status'].iloc[0]}, radius {run.frame['radius'].iloc[0]:.4f}\n")
    sys.stdout.write(f"{time.perf_counter() - begin:.0f} s in all\n")


if __name__ == "__main__":
    main()
