"""Functions of arrays as models: what they may answer, what is refused, and that a run knows them again."""

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier

import doublebubble as db
from doublebubble.models.black_box import BlackBox, black_box_digest, is_black_box
from doublebubble.runs.digests import model_digest
from doublebubble.runs.spec import RunSpec

X = np.full((2, 4), 0.75)
ROWS = torch.arange(12.0).reshape(3, 4)


def bright(x: Any) -> Any:
    return (x.mean(axis=1) > 0.5).astype(np.int64)


def scores(x: Any) -> Any:
    return np.stack([1 - x.mean(axis=1), x.mean(axis=1)], axis=1)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, ">f8", list, torch.tensor])
def test_scores_of_any_kind(kind: Any) -> None:
    given = [[0, 2], [1, 0], [3, 9]]
    answer = kind(given) if kind in (list, torch.tensor) else np.array(given, kind)
    found = db.black_box(lambda x: answer, 2)(ROWS)
    assert found.is_floating_point()
    assert found.tolist() == given


def test_labels_become_rows_and_names_become_labels() -> None:
    assert db.black_box(lambda x: np.array([2, 0, 1]), 3)(ROWS).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    named = db.black_box(lambda x: np.array(["dog", "cat", "dog"]), 2, classes=["cat", "dog"])
    assert named(ROWS).argmax(1).tolist() == [1, 0, 1]
    with pytest.raises(db.ModelError, match="expected labels among cat, dog, got 'cow'"):
        db.black_box(lambda x: ["cow"] * 3, 2, classes=["cat", "dog"])(ROWS)
    with pytest.raises(db.ModelError, match="no names: give classes="):
        db.black_box(lambda x: ["cow"] * 3, 2)(ROWS)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((3, 3)), r"expected scores of shape \(3, 2\).*got float64 of shape \(3, 3\)"),
        (np.zeros(3), r"whole numbers of shape \(3,\) as labels, got float64 of shape \(3,\)"),
        (np.array([0, 1, 2]), "expected labels from 0 to 1, got 2"),
        (np.array([0, -1, 1]), "expected labels from 0 to 1, got -1"),
        (None, "got object"),
    ],
)
def test_other_answers_are_errors(answer: Any, message: str) -> None:
    with pytest.raises(db.ModelError, match=message):
        db.black_box(lambda x: answer, 2)(ROWS)


@pytest.mark.parametrize(
    ("f", "classes", "names", "message"),
    [
        (3, 2, None, "expected a function"),
        (torch.nn.Identity(), 2, None, "a torch module needs none"),
        (bright, 1, None, "num_classes of at least 2, got 1"),
        (bright, "2", None, "num_classes of at least 2, got '2'"),
        (bright, 2, ["a"], "classes: expected 2 names, each once, got 1"),
        (bright, 2, ["a", "a"], "classes: expected 2 names, each once"),
    ],
)
def test_what_is_no_black_box(f: Any, classes: Any, names: Any, message: str) -> None:
    with pytest.raises(db.SettingError, match=message):
        db.black_box(f, classes, names)


@pytest.mark.parametrize("f", [bright, scores])
def test_a_half_space_is_certified_by_its_votes_alone(f: Callable[[Any], Any]) -> None:
    """The mean is above 0.5 on a half-space whose face lies 2 (0.75 - 0.5) = 0.5 from x: no radius may exceed it."""
    with pytest.warns(db.DoubleBubbleWarning, match="black box: gradient approximate is used"):
        run = db.certify(db.black_box(f, 2), X, sigma=0.5, n=4000, domain=None, quiet=True)
    assert isinstance(run.spec, RunSpec)
    assert run.spec.config.gradient == "approximate"
    for certificate in run.certificates:
        assert certificate.prediction == 1
        assert 0.4 < certificate.radius < 0.5
        votes = certificate.balls[0].counts
        assert abs(votes[1] / votes.sum() - norm.cdf(1.0)) < 0.03


def test_full_gradients_of_a_black_box_are_refused_by_name() -> None:
    with pytest.raises(db.SettingError, match=r"gradient: full differentiates the model.*ask for approximate"):
        db.certify(db.black_box(bright, 2), X, sigma=0.5, gradient="full")
    function: Any = bright
    with pytest.raises(db.SettingError, match=r"db\.black_box makes a model of a function"):
        db.certify(function, X, sigma=0.5)
    with pytest.raises(db.SettingError, match=r"db\.black_box makes a model of a function"):
        db.SmoothedClassifier(function, 0.5, 2)


def test_names_of_classes_are_kept_and_shown(tmp_path: Path) -> None:
    model = db.black_box(bright, 2, classes=["dark one", "bright one"])
    data = (X, np.ones(2, np.int64))
    run = db.certify(model, data, sigma=0.5, n=100, n0=10, gradient="approximate", quiet=True, out=tmp_path / "run")
    assert isinstance(run.spec, RunSpec)
    assert run.spec.classes == ("dark one", "bright one")
    assert "bright one" in run.report(tmp_path / "page.html").read_text()


def changed(threshold: float) -> Callable[[Any], Any]:
    return lambda x: (x.mean(axis=1) > threshold).astype(np.int64)


def test_a_run_is_not_resumed_with_another_function(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"sigma": 0.5, "n": 100, "n0": 10, "gradient": "approximate", "quiet": True}
    for index in (0, 1):  # made twice, the same function is the same
        db.certify(db.black_box(changed(0.5), 2), X, indices=[0, 1][: index + 1], out=tmp_path, **settings)
    with pytest.raises(db.RunError, match="model_digest"):
        db.certify(db.black_box(changed(0.500001), 2), X, out=tmp_path, **settings)


def test_a_function_that_cannot_be_read_is_known_by_its_answers(tmp_path: Path) -> None:
    """A service behind a lock: only what it says can tell that it is another one."""

    class Service:
        def __init__(self, threshold: float) -> None:
            self.lock, self.threshold = threading.Lock(), threshold

        def ask(self, x: Any) -> Any:
            return bright(x - self.threshold)

    settings: dict[str, Any] = {"sigma": 0.5, "n": 100, "n0": 10, "gradient": "approximate", "quiet": True}
    one, other = (db.black_box(Service(threshold).ask, 2) for threshold in (0.0, 0.05))
    assert model_digest(one) == model_digest(other)
    db.certify(one, X, indices="0", out=tmp_path, **settings)
    with pytest.raises(db.RunError, match="gives other logits"):
        db.certify(other, X, out=tmp_path, **settings)


def test_a_forest_and_its_digest() -> None:
    draws = np.random.default_rng(0)
    x, y = draws.random((60, 4)), np.arange(60) % 3
    one, same, other = (RandomForestClassifier(5, random_state=seed).fit(x, y).predict_proba for seed in (1, 1, 2))
    digests = [model_digest(db.black_box(f, 3)) for f in (one, same, other)]
    assert digests[0] == digests[1] != digests[2]
    assert np.allclose(db.black_box(one, 3)(torch.from_numpy(x)).numpy(), one(x))


def test_black_boxes_are_found_inside_other_models() -> None:
    box = db.black_box(bright, 2)
    assert is_black_box(torch.nn.Sequential(torch.nn.Identity(), box))
    assert not is_black_box(torch.nn.Identity())
    assert black_box_digest(torch.nn.Identity()) == b""
    assert isinstance(copy.deepcopy(box), BlackBox)
