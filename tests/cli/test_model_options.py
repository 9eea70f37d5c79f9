"""What commands that run a model share: the device asked for or a sentence, and warnings as sentences."""

import warnings

import pytest
import torch

from doublebubble.cli.model_options import chosen_device, load_for, spoken_warnings
from doublebubble.data import load_dataset
from doublebubble.errors import DoubleBubbleWarning, SettingError


@pytest.mark.parametrize("there", [True, False])
def test_auto_takes_cuda_only_where_it_is(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert chosen_device("auto") == ("cuda" if there else "cpu")
    assert chosen_device("cpu") == "cpu"
    if not there:
        with pytest.raises(SettingError, match="device: cuda is not available on this machine"):
            chosen_device("cuda")
    with pytest.raises(SettingError, match="expected auto, cpu, cuda or mps, got 'tpu'"):
        chosen_device("tpu")


def test_warnings_of_ours_become_sentences_and_others_stay(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as kept:
        warnings.simplefilter("always")
        with spoken_warnings():
            for _ in range(2):
                warnings.warn("[bold] is no markup", DoubleBubbleWarning, stacklevel=1)
            warnings.warn("of another package", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: [bold] is no markup\n" * 2
    assert [str(warning.message) for warning in kept] == ["of another package"]


def test_a_model_is_opened_for_the_shape_and_classes_of_the_data() -> None:
    data = load_dataset("digits", "test")
    model = load_for("tests.engines.centroids:make", None, data)
    assert model(data.inputs(slice(0, 2))).shape == (2, 10)
    assert not model.training
