"""What every method says of itself: complete, distinct, and honest about the protocols that know it."""

import re

import numpy as np
import pytest

from doublebubble import registry
from doublebubble.errors import SettingError
from doublebubble.method import BOTH, SOUND, PublishedBalls, SmoothingMethod
from doublebubble.search.plan import Proposal
from doublebubble.search.trials import Trials

BALLS = PublishedBalls(np.full((1, 2, 2), 0.5), (0.0, 1.0), cohen=0.25)


class Bare(SmoothingMethod):
    """The least that a method must say."""

    name, uses, protocols = "bare", "nothing", SOUND
    label, colour, marker, rank = "bare", "#000000", "o", 1

    def propose(self, trials: Trials) -> Proposal:
        raise NotImplementedError


def test_a_method_that_proposes_nothing_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="propose"):
        type("Silent", (SmoothingMethod,), {})()


def test_a_method_is_unknown_to_the_publication_unless_it_says_otherwise() -> None:
    with pytest.raises(SettingError, match="method bare: protocol paper does not know it"):
        Bare().published(BALLS)


@pytest.mark.parametrize("name", registry.names())
def test_every_method_of_the_package_is_complete(name: str) -> None:
    method = registry.card(name)
    assert isinstance(method, SmoothingMethod)
    assert method.name == name
    assert method.uses
    assert re.fullmatch("#[0-9a-f]{6}", method.colour, re.IGNORECASE)
    assert method.protocols in (BOTH, SOUND)
    if method.protocols == BOTH:
        assert method.published(BALLS) == 0.25, "without further balls every published radius is Cohen's"
    else:
        with pytest.raises(SettingError, match=f"method {name}"):
            method.published(BALLS)


def test_methods_can_be_told_apart() -> None:
    found = [registry.card(name) for name in registry.names()]
    for field in ("label", "rank", "colour", "marker"):
        assert len({getattr(method, field) for method in found}) == len(found), field
