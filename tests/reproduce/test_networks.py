"""The networks' section: each digest is that of the records, each command trains what the experiments train."""

import inspect
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from doublebubble.cli.train import train
from doublebubble.errors import RunError
from doublebubble.reproduce import chosen_scale
from doublebubble.reproduce.evidence import Evidence, Held
from doublebubble.reproduce.laboratory import Wanted, model_name
from doublebubble.reproduce.looking import keep
from doublebubble.reproduce.networks import command, networks_section, trainings
from doublebubble.reproduce.order import planned
from doublebubble.reproduce.order import trainings as wanted_trainings
from doublebubble.reproduce.packed import pack_runs, packed_as
from doublebubble.training import preset
from tests.reproduce.invented import SCALE, STUDY, invent


def test_a_command_gives_the_settings_of_the_experiment() -> None:
    scale = chosen_scale("cpu")
    settings = {name: found for name, (_, found, _) in wanted_trainings(planned(scale), scale).items()}
    seen = set()
    for study, method, sigma in trainings(scale):
        program, verb, *words = shlex.split(command(scale, study, method).replace("SIGMA", f"{sigma:g}"))
        assert (program, verb) == ("doublebubble", "train")
        pairs = zip(words[::2], words[1::2], strict=True)
        options = {option.removeprefix("--").replace("-", "_"): value for option, value in pairs}
        assert set(options) <= set(inspect.signature(train).parameters)
        name = options.pop("out")
        assert name == model_name(study, method, sigma)
        dataset, kind, noise = (options.pop(key) for key in ("dataset", "method", "sigma"))
        assert preset(dataset, kind, float(noise), **options) == settings[name]
        seen.add(name)
    assert seen == set(settings)


def test_a_row_has_the_digests_of_file_and_runs(made: Path, tmp_path: Path) -> None:
    evidence = Evidence(made, SCALE)
    rows = [line for line in networks_section(evidence).splitlines() if line.startswith("| digits-")]
    assert [row.split(" | ")[0] for row in rows] == ["| digits-gaussian-0.5", "| digits-macer-0.5"]
    found = evidence.certified_with("digits-gaussian-0.5")
    assert found is not None
    epochs = preset(STUDY.dataset, "gaussian", 0.5, **SCALE.recipe(STUDY, "gaussian")).epochs
    assert rows[0].endswith(f"| cnn | {epochs} | 0.500 | {found[1][0]} | `0` | `{found[0][:16]}` |")
    assert networks_section(Evidence(tmp_path, SCALE)) == ""
    assert Evidence(tmp_path, SCALE).certified_with("digits-gaussian-0.5") is None


def test_a_network_of_other_epochs_than_its_scale_says_is_an_error(made: Path, tmp_path: Path) -> None:
    note = Evidence(made, SCALE).trained("digits-gaussian-0.5")
    assert note is not None
    keep(tmp_path / "models" / "digits-gaussian-0.5.json", note.model_copy(update={"epochs": note.epochs + 1}))
    with pytest.raises(RunError, match=f"digits-gaussian-0.5: expected {note.epochs} epochs, as its scale says, got"):
        networks_section(Evidence(tmp_path, SCALE))


def test_runs_of_two_models_under_one_name_are_an_error(tmp_path: Path) -> None:
    wishes = [Wanted(STUDY, 0.5, "paper", "full", n=n) for n in (100, 101)]
    runs = [invent(tmp_path / "made" / wanted.name, wanted, SCALE.alpha, False) for wanted in wishes]
    pack_runs([run.path for run in runs], tmp_path / "runs")
    evidence = Evidence(tmp_path, SCALE)
    name = wishes[1].name
    file = evidence._file(packed_as(name))
    _replace_spec(file, name, device="cuda")
    certified = evidence.certified_with("digits-gaussian-0.5")
    assert certified == ("ab" * 32, ["cpu", "cuda"])
    _replace_spec(file, name, model_digest="f" * 64)
    with pytest.raises(RunError, match="expected runs of one model"):
        evidence.certified_with("digits-gaussian-0.5")


def _replace_spec(file: dict[str, Held], name: str, **changes: str) -> None:
    file[name] = replace(file[name], spec=file[name].spec.model_copy(update=changes))
