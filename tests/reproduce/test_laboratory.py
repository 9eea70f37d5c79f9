"""Scales are the publication's, models are reused or refused, inputs are spread, missing data are told once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from doublebubble.data import Dataset, Split, load_dataset
from doublebubble.errors import CheckpointError, DataError, RunError
from doublebubble.models import ModelCard, build, save_model
from doublebubble.reproduce import SCALES, Laboratory, Results, chosen_scale
from doublebubble.reproduce.laboratory import Wanted, chosen_inputs, spread_inputs
from doublebubble.reproduce.scales import Study
from doublebubble.runs.record import Record
from doublebubble.training import EpochMetrics, Observer, TrainSettings


class Seen:
    """Events, written down."""

    def __init__(self) -> None:
        self.trained: list[str] = []
        self.certified: list[str] = []
        self.sentences: list[str] = []

    @contextmanager
    def training(self, name: str, settings: TrainSettings) -> Iterator[Observer]:
        self.trained.append(name)
        yield self

    def started(self, epochs_done: int, steps_per_epoch: int) -> None: ...

    def stepped(self, epoch: int, loss: float) -> None: ...

    def finished_epoch(self, metrics: EpochMetrics) -> None: ...

    @contextmanager
    def certifying(self, name: str, earlier: list[Record], total: int) -> Iterator[Callable[[Record], None]]:
        self.certified.append(name)
        yield lambda record: None

    def missing(self, sentence: str) -> None:
        self.sentences.append(sentence)


def laboratory(out: Path, **changes: int) -> tuple[Laboratory, Seen]:
    seen = Seen()
    return Laboratory(chosen_scale("smoke", **{"inputs": 2, "epochs": 1, **changes}), out, out / "models", seen), seen


def test_a_run_is_made_once_and_a_model_trained_once(tmp_path: Path) -> None:
    lab, seen = laboratory(tmp_path)
    study = lab.scale.studies[0]
    wanted = Wanted(study, 0.5, "sound", "approximate", methods=("cohen",))
    first = lab.run(wanted)
    assert (seen.trained, len(seen.certified)) == (["digits-gaussian-0.5"], 1)
    assert [record.index for record in first.records] == spread_inputs(359, 2) == [0, 179]
    assert lab.run(wanted).records == first.records
    again, seen_again = laboratory(tmp_path)
    assert again.run(wanted).records == first.records
    assert (seen_again.trained, seen_again.certified) == ([], [])
    longer, _ = laboratory(tmp_path, epochs=2)
    with pytest.raises(RunError, match="epochs was 1, now 2"):
        longer.run(replace(wanted, study=longer.scale.studies[0]))


def test_a_model_that_was_brought_along_is_used_as_it_is_if_it_fits(tmp_path: Path) -> None:
    lab, seen = laboratory(tmp_path)
    info = load_dataset("digits", "test").info
    card = ModelCard(
        arch="cnn",
        dataset="digits",
        shape=info.shape,
        classes=info.classes,
        mean=info.mean,
        std=info.std,
        sigma=0.5,
        method="gaussian",
        epoch=1,
    )
    for name in ("digits-gaussian-0.5", "digits-gaussian-1"):
        (lab.models / name).mkdir(parents=True)
    save_model(lab.models / "digits-gaussian-0.5", build("cnn", info.shape, 10, info.mean, info.std), card)
    wanted = Wanted(lab.scale.studies[0], 0.5, "sound", "approximate", methods=("cohen",))
    assert len(lab.run(wanted).records) == 2
    assert seen.trained == []
    save_model(lab.models / "digits-gaussian-1", build("cnn", info.shape, 10, info.mean, info.std), card)
    with pytest.raises(CheckpointError, match=r"expected a model of digits, gaussian training, sigma 1, got .* 0.5"):
        lab.run(replace(wanted, sigma=1.0))


def test_missing_data_are_one_sentence_each_and_what_is_there_goes_on(tmp_path: Path) -> None:
    seen = Seen()
    scale = replace(SCALES["paper"], studies=(*SCALES["paper"].studies, *SCALES["smoke"].studies))
    lab = Laboratory(scale, tmp_path, tmp_path / "models", seen, data_dir=tmp_path / "nowhere")
    assert [study.dataset for study in lab.available(("mnist", "digits", "cifar10"))] == ["digits"]
    assert [study.dataset for study in lab.available(("digits", "mnist"))] == ["digits"]
    assert list(lab.left_out) == ["mnist", "cifar10"]
    assert len(seen.sentences) == 2
    assert "run `doublebubble data download mnist`" in seen.sentences[0]
    with pytest.raises(DataError, match="tiny-imagenet: no files under"):
        lab.available(("tiny-imagenet",))


def test_missing_training_images_are_a_sentence_too_and_the_other_data_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_test_images_of_mnist(name: str, split: Split, data_dir: Path | None) -> Dataset:
        if (name, split) == ("mnist", "train"):
            raise DataError("mnist: no training images")
        return load_dataset("digits", split)

    def experiment(lab: Laboratory) -> Results:
        studies = lab.available(datasets)
        for study in studies:
            lab.run(Wanted(study, 0.5, "sound", "approximate", methods=("cohen",)))
        return Results(" ".join(study.dataset for study in studies), (), ())

    monkeypatch.setattr("doublebubble.reproduce.laboratory.load_dataset", only_test_images_of_mnist)
    datasets: tuple[str, ...] = ("mnist", "digits")
    lab, seen = laboratory(tmp_path)
    lab.scale = replace(lab.scale, studies=(*SCALES["paper"].studies, *lab.scale.studies))
    assert lab.perform(experiment).source == "digits"
    assert lab.perform(experiment).source == "digits"
    assert seen.sentences == ["mnist: no training images"]
    assert list(lab.left_out) == ["mnist"]
    assert seen.trained == ["digits-gaussian-0.5"]
    datasets = ("mnist",)
    with pytest.raises(DataError, match="no training images"):
        lab.perform(experiment)


@pytest.mark.parametrize(
    ("size", "inputs"), [(359, 6), (10_000, 500), (10, 10), (5, 9), (10_000, 1), (359, 358), (359, 200), (100, 51)]
)
def test_inputs_are_spread_evenly(size: int, inputs: int) -> None:
    chosen = spread_inputs(size, inputs)
    assert len(chosen) == len(set(chosen)) == min(size, inputs)
    assert chosen[0] == 0
    gaps = [b - a for a, b in pairwise([*chosen, size])]
    assert max(gaps) - min(gaps) <= 1, "the last inputs of the split are represented like the first"


@pytest.mark.parametrize(("inputs", "wide"), [(40, 200), (12, 40), (15, 40), (6, 0), (3, 3)])
def test_the_inputs_of_the_published_form_are_among_all_inputs_of_a_study(inputs: int, wide: int) -> None:
    study = Study("mnist", 100, inputs, (0.5,), (0.5,), wide=wide)
    few, many = chosen_inputs(10_000, study, "first"), chosen_inputs(10_000, study, "all")
    other = chosen_inputs(10_000, study, "other")
    assert (len(few), len(many)) == (inputs, wide or inputs)
    assert sorted([*few, *other]) == many
    assert set(few) <= set(many)
    assert few == sorted(few)


def test_parts_of_a_run_are_put_together_in_the_order_of_the_inputs(tmp_path: Path) -> None:
    lab, _ = laboratory(tmp_path)
    study = replace(lab.scale.studies[0], wide=4, published_on_all=True)
    wanted = Wanted(study, 0.5, "sound", "approximate", methods=("cohen",))
    first, other = (lab.run(replace(wanted, which=part)) for part in ("first", "other"))
    joined = lab.joined(wanted)
    assert [len(run.records) for run in (first, other, joined)] == [2, 2, 4]
    assert {record.index for record in first.records} == {0, 179}
    assert joined.records == tuple(sorted((*first.records, *other.records), key=lambda record: record.index))
    in_one = lab.run(replace(wanted, which="all")).records
    assert [one.model_copy(update={"seconds": {}}) for one in joined.records] == [
        one.model_copy(update={"seconds": {}}) for one in in_one
    ]
    assert not joined.missing
    assert joined.spec.index_list == tuple(record.index for record in joined.records)
    for alone in (replace(wanted, which="all"), replace(wanted, which="other")):
        assert lab.joined(alone).records == lab.run(alone).records
    assert lab.joined(replace(wanted, study=replace(study, published_on_all=False))).records == first.records
