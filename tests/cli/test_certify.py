import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from torch import nn

from doublebubble import CertifyConfig, SmoothedClassifier
from doublebubble.config import PaperSearch
from doublebubble.data import load_dataset
from doublebubble.engines.base import execute
from doublebubble.errors import DoubleBubbleWarning
from doublebubble.facade.job import make_job
from doublebubble.models import build
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import read_run
from tests.cli.calling import call
from tests.engines.centroids import make
from tests.models.onnx_samples import linear, save_linear
from tests.models.published import save_checkpoint

MODEL = "tests.engines.centroids:make"


def options(out: Path, *more: str) -> list[str]:
    text = f"certify --model {MODEL} --dataset digits --sigma 0.5 --n 200 --n0 50 --batch-size 32 --indices 0:12"
    return [*text.split(), "--out", str(out), *more]


def test_records_are_the_certificates_of_the_library(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = call(capsys, *options(tmp_path / "run"))
    assert (code, err) == (0, "")
    assert "12/12 inputs" in out
    assert "12 of 12 done" in out
    assert "holds with probability at least 1 - alpha" in out
    data = load_dataset("digits", "test")
    smoothed = SmoothedClassifier(make(), 0.5, 10, batch_size=32)
    for record in read_run(tmp_path / "run").records:
        counts = smoothed.counts(data.inputs()[record.index], 200, seed=0, index=record.index)
        assert record.balls[0].counts == {label: int(count) for label, count in enumerate(counts) if count}
        assert record.label == int(data.labels[record.index])
        assert record.alpha == 0.001


def test_the_same_command_again_does_nothing_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call(capsys, *options(tmp_path / "run", "--quiet"))
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    code, out, _ = call(capsys, *options(tmp_path / "run"))
    assert code == 0
    assert "12 of 12 inputs are done" in out
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before


def test_the_program_is_the_one_asked_for_and_recorded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, _ = call(capsys, *options(tmp_path / "run", "--program", "folded"))
    spec = read_run(tmp_path / "run").spec
    assert isinstance(spec, RunSpec)
    assert (code, spec.program) == (0, "folded")
    code, _, err = call(capsys, *options(tmp_path / "run", "--program", "fast"))
    assert code == 2
    assert "program: expected eager, or parts of" in err


def test_quiet_prints_nothing_and_json_one_object(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(capsys, *options(tmp_path / "a", "--quiet")) == (0, "", "")
    code, out, err = call(capsys, *options(tmp_path / "b", "--json"))
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["done"], told["inputs"], told["spec"]["sigma"]) == (12, 12, 0.5)
    assert told["summary"]["certified_accuracy"][0]["radius"] == 0.0


def test_json_stays_one_object_when_a_ray_worker_dies(tmp_path: Path) -> None:
    (tmp_path / "mortal.py").write_text(
        "import os, pathlib\n"
        "from tests.engines.centroids import Centroids, make as whole\n"
        "class Mortal(Centroids):\n"
        "    def forward(self, x):\n"
        f"        marker = pathlib.Path({str(tmp_path / 'died')!r})\n"
        "        if 'RAY_RAYLET_PID' in os.environ and not marker.exists():\n"
        "            marker.touch()\n"
        "            os._exit(1)\n"
        "        return super().forward(x)\n"
        "def make():\n"
        "    return Mortal(whole().linear.weight.detach()).eval()\n"
    )
    arguments = options(tmp_path / "run", "--json", "--engine", "ray", "--model", "mortal:make")
    path = os.pathsep.join([str(tmp_path), str(Path.cwd()), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "doublebubble", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "died").exists()
    assert json.loads(done.stdout)["done"] == 12


def test_another_specification_is_refused_with_its_fields(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call(capsys, *options(tmp_path / "run", "--quiet"))
    code, out, err = call(capsys, *options(tmp_path / "run", "--seed", "3", "--alpha", "0.01"))
    assert (code, out) == (1, "")
    assert "another specification (config.alpha: 0.001 -> 0.01; config.seed: 0 -> 3)" in err
    assert err.count("\n") == 1


@pytest.mark.forged_records("a byte is flipped")
def test_damage_and_wrong_use_have_their_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call(capsys, *options(tmp_path / "run", "--quiet"))
    records = tmp_path / "run" / "records.jsonl"
    content = bytearray(records.read_bytes())
    content[len(content) // 2] ^= 4
    records.write_bytes(bytes(content))
    code, _, err = call(capsys, *options(tmp_path / "run"))
    assert code == 1
    line = bytes(content[: len(content) // 2]).count(b"\n") + 1
    assert f"records.jsonl: line {line}: damaged" in err
    assert records.read_bytes() == bytes(content)
    for wrong in (
        ["--indices", "400:1000"],
        ["--indices", "0:-1"],
        ["--indices", "5:5"],
        ["--n", "0"],
        ["--methods", "cohen,magic"],
        ["--engine", "slurm"],
        ["--workers", "2"],
        ["--device", "abacus"],
        ["--protocol", "paper", "--simultaneous"],
        ["--thrifty"],
    ):
        code, _, err = call(capsys, *options(tmp_path / "other", *wrong))
        assert (code, err.count("\n")) == (2, 1), (wrong, err)


def test_simultaneous_divides_alpha_by_the_whole_data_set(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call(capsys, *options(tmp_path / "run", "--quiet", "--simultaneous", "--alpha", "0.05"))
    found = read_run(tmp_path / "run")
    assert isinstance(found.spec, RunSpec)
    assert found.spec.simultaneous == 359
    assert all(record.alpha == 0.05 / 359 for record in found.records)
    _, out, _ = call(capsys, "runs", str(tmp_path / "run"))
    assert "0.05 for all 359 inputs at once" in out


def test_a_warning_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = call(capsys, *options(tmp_path / "run", "--quiet", "--n", "5"))
    assert code == 0
    assert err.startswith("warning: n = 5 draws cannot certify any radius")
    assert err.count("\n") == 1


def test_a_slice_beyond_the_data_is_cut_and_the_command_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = call(capsys, *options(tmp_path / "run", "--quiet", "--indices", "357:400"))
    assert (code, err) == (
        0,
        "warning: indices: '357:400' ends beyond the data, which have 359 inputs; it is cut there\n",
    )
    assert [record.index for record in read_run(tmp_path / "run").records] == [357, 358]


def test_shards_merge_into_the_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call(capsys, *options(tmp_path / "whole", "--quiet"))
    for shard in ("0:12:2", "1:12:2"):
        call(capsys, *options(tmp_path / shard, "--quiet", "--indices", shard))
    code, out, _ = call(
        capsys, "merge", str(tmp_path / "0:12:2"), str(tmp_path / "1:12:2"), "--out", str(tmp_path / "merged")
    )
    assert code == 0
    assert "12 of 12 inputs" in out
    merged, whole = read_run(tmp_path / "merged"), read_run(tmp_path / "whole")
    assert merged.spec == whole.spec
    assert [record.without_time() for record in merged.records] == [record.without_time() for record in whole.records]


def test_jobs_differ_in_their_specification_when_anything_differs() -> None:
    data, config = load_dataset("digits", "test"), CertifyConfig(n=100, n0=10)
    other = make()
    with_bias = other.get_parameter("linear.bias")
    with_bias.data[0] += 1e-6
    assert make_job(make(), data, 0.5, config).spec == make_job(make(), data, 0.5, config).spec
    assert make_job(make(), data, 0.5, config).spec != make_job(other, data, 0.5, config).spec
    assert make_job(make(), data, 0.5, config).spec.indices == "0:359"


def test_kills_leave_no_trace() -> None:
    """Five times SIGKILL at random moments: the trial itself compares with an undisturbed run."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults", "--engine", "local", "--kills", "5", "--inputs", "120"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 kills, 120 records, all equal to those of the undisturbed run" in done.stdout


def test_one_interrupt_stops_cleanly_and_says_how_to_resume(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    # So many draws that the run is still going on when the signal comes, also on a busy machine. A shell that starts
    # the tests in the background has them ignore SIGINT, and their children too: a run that a user starts does not.
    arguments = options(tmp_path / "run", "--n", "100000", "--indices", ":")
    with subprocess.Popen(
        [sys.executable, "-m", "doublebubble", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("1/359 inputs")
        code, _, refusal = call(capsys, *arguments)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert code == 1
    assert "another process is writing this run" in refusal
    assert process.returncode == 1
    found = read_run(tmp_path / "run")
    assert not found.torn
    assert len(found.records) >= 1
    assert f"holds {len(found.records)} of 359 inputs; the same command resumes it" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("protocol", "marked"), [("paper", True), ("sound", False)])
def test_every_number_without_a_guarantee_is_marked_on_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, protocol: str, marked: bool
) -> None:
    code, out, err = call(capsys, *options(tmp_path / "run", "--protocol", protocol))
    assert code == 0
    _, compared, _ = call(capsys, "runs", str(tmp_path / "run"), str(tmp_path / "run"))
    table = compared.split("└")[0]
    assert table.count("guaranteed)") == (2 if marked else 0), "each row of the comparison, its words uncut"
    numbers = [
        line
        for line in (out + err + compared.removeprefix(table)).splitlines()
        if any(words in line for words in ("certified accuracy", "average", "protocol"))
    ]
    assert len(numbers) >= 9
    _, _, beside = call(capsys, "export", str(tmp_path / "run"))
    assert ("not guaranteed: each radius is not a guarantee" in beside) is marked
    assert [("not guaranteed" in line) for line in numbers] == [marked] * len(numbers), numbers


def test_the_thrifty_form_is_another_run_and_named_wherever_its_numbers_stand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = options(tmp_path / "run", "--protocol", "paper", "--methods", "all")
    code, out, _ = call(capsys, *asked, "--thrifty")
    assert code == 0
    assert "thrifty form, not as published, not guaranteed" in " ".join(out.split())
    found = read_run(tmp_path / "run")
    assert isinstance(found.spec, RunSpec)
    assert found.spec.config.paper == PaperSearch.thrifty()
    assert all("thrifty form" in record.reason for record in found.records)
    code, _, err = call(capsys, *asked)
    assert code != 0, "the published form may not go on where the thrifty one began"
    assert "paper" in err
    page = tmp_path / "page.html"
    assert call(capsys, "report", str(tmp_path / "run"), "--out", str(page))[0] == 0
    assert "thrifty form" in page.read_text()


NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def nine_of_ten(root: Path) -> Path:
    """Two images of each digit but the four, each in the folder of its name."""
    data = load_dataset("digits", "test")
    pixels = (data.inputs() * 255).round().byte().numpy()
    for digit, name in enumerate(NAMES):
        if digit != 4:
            (root / name).mkdir(parents=True)
            for number, at in enumerate((data.labels == digit).nonzero()[:2, 0].tolist()):
                Image.fromarray(pixels[at, 0]).save(root / name / f"{number}.png")
    return root


def test_a_folder_that_lacks_a_class_needs_the_list_of_classes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, listed, run = nine_of_ten(tmp_path / "images"), tmp_path / "classes.txt", tmp_path / "run"
    text = f"certify --model {MODEL} --dataset folder:{folder} --sigma 0.5 --n 200 --n0 50 --batch-size 32 --out {run}"
    code, _, err = call(capsys, *text.split())
    assert code == 1
    assert "expected logits of shape (2, 9), got (2, 10)" in err
    assert "the labels are 0 = eight, 1 = five" in err
    assert "in alphabetical order" in err
    assert "give all of them in the model's order: --classes FILE" in err
    assert not run.exists()
    listed.write_text("\n".join(NAMES))
    code, _, err = call(capsys, *text.split(), "--classes", str(listed))
    assert (code, err) == (0, "")
    found = read_run(run)
    assert isinstance(found.spec, RunSpec)
    assert (found.spec.num_classes, found.spec.classes) == (10, NAMES)
    folders = sorted(set(NAMES) - {"four"})
    assert [record.label for record in found.records] == [NAMES.index(name) for name in folders for _ in range(2)]
    assert sum(record.prediction == record.label for record in found.records) >= 12
    drawing = f"picture {run} 0 --model {MODEL} --resolution 5 --draws 4".split()
    assert call(capsys, *drawing)[0] == 0, "the run knows how its folders were numbered"


def test_a_list_of_classes_is_for_folders_of_images(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    code, _, err = call(capsys, *options(tmp_path / "run", "--classes", str(tmp_path / "classes.txt")))
    assert code == 2
    assert "classes: digits has its own, a list of classes is for folder:PATH" in err


def test_a_warning_while_inputs_are_certified_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_to_start(*arguments: Any) -> None:
        warnings.warn("ray: 1 of 2 workers have not started", DoubleBubbleWarning, stacklevel=1)
        execute(*arguments)

    monkeypatch.setattr("doublebubble.facade.loop.execute", slow_to_start)
    code, _, err = call(capsys, *options(tmp_path / "run", "--quiet"))
    assert (code, err) == (0, "warning: ray: 1 of 2 workers have not started\n")


def test_exact_noise_is_asked_for_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = call(capsys, *options(tmp_path / "run", "--noise", "lattice", "--grid", "16"))
    assert (code, err) == (0, "")
    assert "lattice of step 1/16" in out
    spec = read_run(tmp_path / "run").spec
    assert isinstance(spec, RunSpec)
    assert (spec.noise, spec.grid) == ("lattice", 16)
    for more, words in (
        (("--noise", "lattice"), "input 0: expected values on the grid of step 1/255"),
        (("--noise", "uniform"), "noise: expected one of gaussian, gaussian64, lattice, got 'uniform'"),
        (("--grid", "16"), "grid: expected none, since noise gaussian has no grid"),
        (("--noise", "lattice", "--protocol", "paper", "--grid", "16"), "protocol paper searches between"),
    ):
        code, _, err = call(capsys, *options(tmp_path / "other", *more))
        assert code != 0
        assert words in err
        assert not (tmp_path / "other").exists()


def test_a_black_box_is_certified_with_approximate_gradients_or_told_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    save_linear(tmp_path / "m.onnx")
    settings = ["certify", "--model", str(tmp_path / "m.onnx"), *options(tmp_path / "run")[3:]]
    code, _, err = call(capsys, *settings, "--gradient", "full")
    assert code == 2
    assert "gradient: full differentiates the model" in err
    assert "approximate" in err
    assert not (tmp_path / "run").exists()
    code, _, err = call(capsys, *settings)
    assert code == 0
    assert "warning: the model is a black box: gradient approximate is used" in " ".join(err.split())
    code, _, err = call(capsys, *settings, "--gradient", "approximate")  # what was chosen is what is resumed
    assert (code, "black box" in err) == (0, False)
    model = linear(operator="Neg")
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    code, _, err = call(capsys, *settings, "--gradient", "approximate")
    assert code == 1
    assert "model_digest" in err


def test_a_checkpoint_is_opened_by_the_architecture_that_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    network = build("cnn", (1, 8, 8), 10, (0.3053,), (0.3761,), seed=3)
    save_checkpoint(tmp_path / "c.pth.tar", "my_cnn", nn.DataParallel(network.network))
    settings = ["certify", "--model", str(tmp_path / "c.pth.tar"), *options(tmp_path / "run")[3:]]
    code, _, err = call(capsys, *settings)
    assert code == 2
    assert "arch: expected one of cnn, lenet" in err
    code, _, _ = call(capsys, *settings, "--arch", "cnn", "--indices", "0:2")
    assert code == 0
    content = torch.load(tmp_path / "c.pth.tar", weights_only=True)["state_dict"]
    network.network.load_state_dict({name.removeprefix("module."): tensor for name, tensor in content.items()})
    smoothed = SmoothedClassifier(network.eval(), 0.5, 10, batch_size=32)
    data = load_dataset("digits", "test")
    for record in read_run(tmp_path / "run").records:
        counts = smoothed.counts(data.inputs()[record.index], 200, seed=0, index=record.index)
        assert record.balls[0].counts == {label: int(count) for label, count in enumerate(counts) if count}
