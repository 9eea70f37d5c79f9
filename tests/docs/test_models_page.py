"""The page on models: every example runs as it stands, and a published checkpoint has the accuracy that it should."""

import re
import runpy
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

import doublebubble as db
from doublebubble.errors import DoubleBubbleWarning, RunError
from doublebubble.models import Denoised, load_denoiser, load_model
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import read_run
from doublebubble.streams import Stream
from tests.docs.test_examples import DOCS, blocks, call
from tests.models.hugging_face_samples import save_vit
from tests.models.onnx_samples import save_linear
from tests.models.published import PublishedLeNet, save_checkpoint

PAGE = (DOCS / "models.md").read_text()
SECTIONS = {
    "Your own network": 0,
    "A checkpoint of the field": 1,
    "Hugging Face": 1,
    "ONNX": 1,
    "A random forest, an API, any function": 0,
    "An exported file": 1,
    "A classifier that never saw noise": 3,
}
"""The doors of the page, and how many commands each has."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_section(title: str) -> list[str]:
    """Run all examples of a section in their order; what was warned of by this package. Nothing else may warn."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```(python|bash)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert sum(kind == "bash" for kind, _ in found) == SECTIONS[title]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", DoubleBubbleWarning)
        for kind, text in found:
            assert len(text.splitlines()) <= 10
            if kind == "python":
                Path("example.py").write_text(text)
                runpy.run_path("example.py")
            else:
                call(text.strip())
    return [str(one.message) for one in caught]


def test_every_example_of_the_page_is_run_here() -> None:
    titles = [title for title in re.findall(r"^## (.*)$", PAGE, re.MULTILINE) if title != "What is looked at first"]
    assert titles == list(SECTIONS)
    assert len(blocks("models.md", "bash")) == sum(SECTIONS.values())


def test_your_own_network(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_section("Your own network")
    assert "5 of 5 inputs" in capsys.readouterr().out


def test_hugging_face(here: Path) -> None:
    save_vit(here / "vit-folder")
    run_section("Hugging Face")
    assert len(read_run(here / "vit-run").records) == 5


def test_onnx(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_linear(here / "digits.onnx")
    run_section("ONNX")
    run = read_run(here / "onnx-run")
    assert isinstance(run.spec, RunSpec)
    assert run.spec.config.gradient == "approximate"
    assert "black box: gradient approximate is used" in " ".join(capsys.readouterr().err.split())


def test_a_random_forest(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = run_section("A random forest, an API, any function")
    assert any("gradient approximate is used" in sentence for sentence in said)
    assert "5 of 5 inputs" in capsys.readouterr().out


def test_an_exported_file(here: Path) -> None:
    run_section("An exported file")
    run = read_run(here / "exported-run")
    assert isinstance(run.spec, RunSpec)
    assert run.spec.batch_size == 32


def test_a_denoiser_before_a_classifier(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way at a small scale. A run is resumed with its own model only, so both ways of joining agree."""
    run_section("A classifier that never saw noise")
    assert "of plain behind it" in capsys.readouterr().out
    radii = db.open_run(here / "pair-run").frame["radius"]
    assert len(radii) == 5
    assert (radii > 0).any()
    pair = Denoised(load_denoiser("denoiser")[0], load_model("plain")[0])
    with torch.no_grad():
        next(pair.denoiser.parameters()).mul_(2)
    with pytest.raises(RunError, match="pair-run"):
        db.certify(pair, "digits", sigma=0.25, n=1000, indices="0:5", out="pair-run")


def large_digits() -> tuple[Tensor, Tensor]:
    """Handwritten digits as images of 28x28 pixels of 8 bits."""
    bunch = load_digits()
    small = torch.from_numpy(bunch.images / 16).float()[:, None]
    images = nn.functional.interpolate(small, size=(28, 28), mode="bilinear")
    return (images * 255).round().to(torch.uint8), torch.from_numpy(bunch.target)


def trained_lenet(images: Tensor, labels: Tensor, sigma: float) -> nn.Module:
    """LeNet as the field trains it: cross entropy under noise."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Identity(), PublishedLeNet())
        optimiser = torch.optim.Adam(model.parameters(), lr=0.002)
        for _ in range(4):
            for rows in torch.split(torch.randperm(len(labels)), 64):
                noisy = images[rows] / 255 + sigma * torch.randn(len(rows), 1, 28, 28)
                optimiser.zero_grad()
                torch.autograd.backward(nn.functional.cross_entropy(model(noisy), labels[rows]))
                optimiser.step()
    return model.eval()


def test_a_published_checkpoint_has_the_accuracy_that_it_should(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certified through the command, it names what the network that was saved names, by votes counted here."""
    images, labels = large_digits()
    model = trained_lenet(images[200:], labels[200:], 0.25)
    (here / "MNIST" / "raw").mkdir(parents=True)
    tests = struct.pack(">4I", 2051, 200, 28, 28) + images[:200].numpy().tobytes()
    (here / "MNIST" / "raw" / "t10k-images-idx3-ubyte").write_bytes(tests)
    kinds = struct.pack(">2I", 2049, 200) + labels[:200].numpy().astype(np.uint8).tobytes()
    (here / "MNIST" / "raw" / "t10k-labels-idx1-ubyte").write_bytes(kinds)
    monkeypatch.setenv("DOUBLEBUBBLE_DATA", str(here))
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    save_checkpoint(here / "checkpoint.pth.tar", "lenet", model)
    model.load_state_dict(state)  # saving took a step, so that the optimiser has a state
    content = torch.load(here / "checkpoint.pth.tar", weights_only=True)
    torch.save({**content, "state_dict": state}, here / "checkpoint.pth.tar")
    run_section("A checkpoint of the field")
    records = {record.index: record for record in read_run(here / "lenet-run").records}
    assert sorted(records) == list(range(0, 200, 10))
    generator = torch.Generator().manual_seed(Stream(1, 0, "audit").torch_seed(0))
    right = 0
    for index, record in records.items():
        noise = 0.25 * torch.randn((500, 1, 28, 28), generator=generator)
        with torch.no_grad():
            votes = model(images[index] / 255 + noise).argmax(1).bincount(minlength=10)
        clear = int(votes.max()) > 400
        assert not clear or record.prediction == int(votes.argmax())
        assert (record.radius > 0.1) or not clear
        right += int(votes.argmax()) == int(labels[index])
    correct = sum(record.prediction == int(labels[index]) for index, record in records.items())
    assert right >= 18
    assert correct >= right - 2
