"""Settings: defaults by protocol, methods by name, and one sentence for what cannot be meant."""

import math
from typing import Any

import numpy as np
import pytest

from doublebubble import CertifyConfig, registry
from doublebubble.config import checked_domain
from doublebubble.errors import SettingError


def made(**values: Any) -> CertifyConfig:
    """Settings from what a file or a command gives."""
    return CertifyConfig(**values)


def test_alpha_is_that_of_the_protocol_unless_given() -> None:
    assert (CertifyConfig().alpha, CertifyConfig(protocol="paper").alpha) == (0.001, 0.05)
    assert CertifyConfig(protocol="paper", alpha=0.2).alpha == 0.2


def test_methods_are_names_in_any_form() -> None:
    assert CertifyConfig().methods == (registry.AUTO,)
    assert made(methods="cohen, double").methods == ("cohen", "double")
    for protocol in ("sound", "paper"):
        every = made(protocol=protocol, methods="all").methods
        assert every == registry.names(protocol)
    assert made(protocol="paper", methods="auto").methods == registry.names("paper")
    assert "first_order" not in registry.names("paper")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n: .*greater than or equal to 1, got 0"),
        ({"alpha": 1.0}, "alpha: .*less than 1"),
        ({"alpha": float("nan")}, "alpha"),
        ({"methods": ("cohen", "cohen")}, "each method may be asked for once"),
        ({"methods": ("cohen", "auto")}, "auto"),
        ({"methods": ("nonsense",)}, "nonsense"),
        ({"methods": ()}, "methods"),
        ({"protocol": "paper", "methods": ("first_order",)}, "protocol paper knows the methods cohen"),
        ({"protocol": "hopeful"}, "protocol"),
        ({"sigma": 0.5}, "sigma: Extra inputs are not permitted"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        made(**changes)
    assert "\n" not in str(caught.value)


def test_settings_are_frozen_and_come_back_from_json() -> None:
    config = made(n=7, methods=("double", "cohen"), paper={"iterations": 3})
    with pytest.raises(Exception, match="frozen"):
        config.n = 8
    assert CertifyConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    "wrong",
    [
        *((0,), (0, 1, 2), (), "01", ("0", "1"), 5, (None, 1), (True, 2), (0, 0), (1, 0), (math.nan, 1), (0, math.inf)),
        *((0, 10**400), (0, 1j), [[0, 1]], {0: 1}, np.zeros((2, 2)), np.array([0, 1j]), (np.float32(1), np.float32(0))),
    ],
)
def test_what_is_no_domain_is_refused(wrong: object) -> None:
    with pytest.raises(SettingError, match=r"^domain: expected \(low, high\)"):
        checked_domain(wrong)


def test_domains_come_in_any_kind_of_number() -> None:
    assert checked_domain(None) is None
    for given in ((0, 1), [0.0, 1.0], np.array([0, 1]), (np.float32(0), np.int64(1))):
        assert checked_domain(given) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"radii": (0.5,), "precision": 0.1}, "two questions"),
        ({"radii": (0.5, 0.25)}, "rising"),
        ({"radii": (0.5, 0.5)}, "rising"),
        ({"radii": (0.0,)}, "greater than 0"),
        ({"radii": ()}, "radii"),
        ({"radii": (0.1234567,)}, "6 decimals"),
        ({"precision": 0.0}, "precision"),
        ({"radii": (0.5,), "beta": 0.0}, "beta"),
        ({"radii": (0.5,), "max_draws": 0}, "max_draws"),
        ({"max_draws": 1000}, "belong to radii"),
        ({"beta": 0.1}, "belong to radii"),
        ({"radii": (0.5,), "protocol": "paper"}, "protocol sound"),
        ({"radii": (0.5,), "methods": ("single",)}, "only cohen has a sequential form"),
        ({"precision": 0.1, "methods": "all"}, "only cohen has a sequential form"),
    ],
)
def test_questions_that_cannot_be_meant_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        CertifyConfig(**settings)


def test_settings_without_a_question_are_written_as_they_always_were() -> None:
    assert not CertifyConfig().sequential
    assert not {"radii", "precision", "max_draws", "beta"} & set(CertifyConfig().model_dump())
    asked = CertifyConfig(radii=(0.25, 0.5), methods=("cohen",), max_draws=1000)
    assert asked.sequential
    assert CertifyConfig(**asked.model_dump(mode="json")) == asked
