"""Certificates as people and programs read them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from doublebubble import ABSTAIN, Guarantee
from doublebubble.certificate import Noise
from doublebubble.types import NoiseName
from tests.runs.samples import certificate


def test_it_prints_as_three_lines_with_its_radius_rounded_down() -> None:
    text = repr(replace(certificate(17, radius=0.1234569), prediction=1))
    assert len(text.splitlines()) == 3
    assert "input 17: class 1, radius 0.123456;" in text
    assert "at least 1 - alpha" in text
    assert "alpha 0.001" in text
    assert "label 1" in text
    assert "abstains" in repr(certificate(prediction=ABSTAIN, radius=0.0))


@pytest.mark.parametrize(
    ("noise", "words"), [("gaussian", "how float32 rounds"), ("gaussian64", "no proof"), ("lattice", "lie on the grid")]
)
def test_its_noise_says_what_remains_to_be_assumed(noise: NoiseName, words: str) -> None:
    made = replace(certificate(), noise=Noise(noise))
    assert "a function of one row" in made.noise.assumed
    assert words in made.noise.assumed
    assert f"noise {noise}" in repr(made)


def test_a_radius_without_a_guarantee_is_marked_wherever_it_is_printed() -> None:
    paper = replace(certificate(), guarantee=Guarantee.NONE, protocol="paper")
    for text in (repr(paper), paper._repr_html_()):
        assert "radius 0.400000 (not guaranteed)" in text
        assert "is not a guarantee at any level" in text


def test_html_holds_no_markup_of_others() -> None:
    text = replace(certificate(), method="<script>")._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_it_becomes_plain_values() -> None:
    found = json.loads(json.dumps(certificate(3, centres=2).to_dict()))
    assert (found["index"], found["status"], found["guarantee"]) == (3, "certified", "exact")
    assert found["balls"][0]["counts"] == [3, 90, 7]
    assert found["balls"][0]["centre"] is None
    assert np.array(found["balls"][2]["centre"]).shape == (1, 2, 2)
    assert found["radii"] == {"cohen": 0.4, "double": 0.4 / 3}


def test_equal_but_for_time_is_equal() -> None:
    assert certificate(3, centres=2) == certificate(3, centres=2, seconds=7.0)
    assert certificate(3) != certificate(4)
    assert certificate(3) != 3
    one, other = certificate(3, centres=1), certificate(3, centres=1)
    assert one.balls[1] == other.balls[1]
    centre = other.balls[1].centre
    assert centre is not None
    moved = replace(other.balls[1], centre=centre + 1e-12)
    assert one.balls[1] != moved
    assert one != replace(other, balls=(other.balls[0], moved))
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
