"""Images of a run's inputs: those of its own data, or a sentence; never those of other data."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image

from doublebubble.data import load_dataset
from doublebubble.facade.galleries import galleries_of, gallery_of
from doublebubble.facade.job import make_job
from doublebubble.runs.digests import data_digest
from doublebubble.runs.memory import open_store
from tests.facade.test_job import CONFIG
from tests.runs.samples import certificate, spec


def test_images_are_those_of_the_inputs_asked_for() -> None:
    data = load_dataset("digits", "test")
    own = spec(data_digest=data_digest(data.pixels, data.labels), num_classes=10, size=359)
    found, trouble = gallery_of(own, {7, 3}, None)
    assert (found.indices, found.classes, trouble) == ((3, 7), tuple("0123456789"), "")
    assert found.images is not None
    expected = (data.inputs(torch.tensor([3, 7])) * 255).round().numpy()
    np.testing.assert_array_equal(found.images, expected)


def test_other_data_and_missing_data_are_a_sentence(tmp_path: Path) -> None:
    found, trouble = gallery_of(spec(), {0}, None)
    assert (found.images, found.classes) == (None, ()), "its three classes are not the ten of the digits"
    assert trouble == "no thumbnails: the files of digits are not those that the run was made with"
    found, trouble = gallery_of(spec(dataset="mnist", num_classes=10), {0}, tmp_path)
    assert found.images is None
    assert trouble.startswith("no thumbnails: mnist: no files under")
    assert len(found.classes) == 10, "what its classes are called is known all the same"


def test_inputs_that_were_handed_over_are_a_sentence() -> None:
    found, trouble = gallery_of(spec(dataset="tensors", split="given", classes=None), {0}, None)
    assert found.images is None
    assert trouble == "no thumbnails: the inputs of tensors were handed over in Python, and a run keeps none"


def test_a_folder_is_numbered_as_the_run_numbered_it(tmp_path: Path) -> None:
    for shade, name in enumerate(("cat", "zebra")):
        (tmp_path / name).mkdir()
        Image.fromarray(np.full((2, 2), 100 + shade, np.uint8)).save(tmp_path / name / "1.png")
    listed = ("zebra", "dog", "cat")
    data = load_dataset(f"folder:{tmp_path}", "test", classes=listed)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3)).eval()
    store = open_store(None, make_job(model, data, 0.5, CONFIG, batch_size=4).spec)
    store.append(certificate(1))
    galleries, troubles = galleries_of([store.run()], None)
    (found,) = galleries.values()
    assert (found.classes, found.indices, troubles) == (listed, (1,), [])
    assert found.images is not None
    assert np.unique(found.images).tolist() == [101]
