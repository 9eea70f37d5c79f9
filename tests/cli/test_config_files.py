"""Options from a file: what is read is what would have been typed, and what is written reads back as itself."""

import tomllib
from pathlib import Path

import pytest

from doublebubble.runs.spec import RunSpec
from doublebubble.runs.store import read_run
from tests.cli.calling import call

MODEL = "tests.engines.centroids:make"
TYPED = f"certify --model {MODEL} --dataset digits --sigma 0.5 --n 200 --n0 50 --batch-size 32 --indices 0:3 --quiet"


def spec_of(path: Path) -> RunSpec:
    spec = read_run(path).spec
    assert isinstance(spec, RunSpec)
    return spec


def test_a_saved_file_certifies_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    saved = tmp_path / "run.toml"
    more = ["--methods", "cohen,first_order", "--simultaneous", "--no-centres", "--save-config", str(saved)]
    assert call(capsys, *TYPED.split(), "--out", str(tmp_path / "typed"), *more)[0] == 0
    assert call(capsys, "certify", "--config", str(saved), "--out", str(tmp_path / "read"))[0] == 0
    assert spec_of(tmp_path / "read") == spec_of(tmp_path / "typed")
    typed, read = (read_run(tmp_path / name).records for name in ("typed", "read"))
    assert [record.without_time() for record in typed] == [record.without_time() for record in read]
    content = tomllib.loads(saved.read_text())
    assert (content["simultaneous"], content["centres"], content["n"], content["noise"]) == (
        True,
        False,
        200,
        "gaussian",
    )


def test_what_is_typed_goes_before_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        f'model = "{MODEL}"\ndataset = "digits"\nsigma = 0.5\nradii = [0.25, 0.5]\nmax_draws = 400\nindices = 1\n'
        f"batch-size = 32\nseed = 7\nquiet = true\nout = '{tmp_path / 'run'}'\n"
    )
    assert call(capsys, "certify", "--config", str(file), "--seed", "8") == (0, "", "")
    config = spec_of(tmp_path / "run").config
    assert (config.seed, config.radii, config.max_draws) == (8, (0.25, 0.5), 400)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sigmma = 0.5", "sigmma: expected an option of certify"),
        ('config = "other.toml"', "config: expected an option of certify"),
        ("sigma = 1\nn = 1000.5", "Invalid value for '--n'"),
        ('sigma = "wide"', "Invalid value for '--sigma'"),
        ("[sigma]\nvalue = 1", "sigma: expected a string, a number"),
        ("sigma = ", "cannot be read as TOML"),
        ("x = " + "[" * 5000, "cannot be read as TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "run.toml").write_text(text)
    words = ["certify", "--model", MODEL, "--dataset", "digits", "--out", str(tmp_path / "run")]
    code, _, err = call(capsys, *words, "--config", str(tmp_path / "run.toml"))
    assert code == 2
    assert message in err
    assert not (tmp_path / "run").exists()


def test_texts_of_all_kinds_come_back(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    strange = tmp_path / 'a "b" \\ \u007f \u00e9 \U0001f600'
    words = [*TYPED.split(), "--out", str(strange), "--save-config", str(tmp_path / "run.toml")]
    assert call(capsys, *words)[0] == 0
    assert tomllib.loads((tmp_path / "run.toml").read_text("utf-8"))["out"] == str(strange)


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = call(capsys, *TYPED.split(), "--out", str(tmp_path), "--config", str(tmp_path / "none.toml"))
    assert (code, "none.toml" in err) == (2, True)
    code, _, err = call(
        capsys, *TYPED.split(), "--out", str(tmp_path), "--save-config", str(tmp_path / "no" / "a.toml")
    )
    assert (code, "could not be written" in err) == (2, True)
