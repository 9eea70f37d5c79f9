"""Names of classes: taken from a model that has some, never from what is no list of names."""

import pytest
from torch import nn

from doublebubble.errors import SettingError
from doublebubble.models.class_names import checked_names, class_names


@pytest.mark.parametrize(
    ("given", "found"), [(["a", "b"], ("a", "b")), ((), ()), ("ab", ()), ([1, 2], ()), (3, ()), (None, ())]
)
def test_only_lists_of_names_are_names(given: object, found: tuple[str, ...]) -> None:
    class Named(nn.Module):
        classes = given

    assert class_names(Named()) == found
    assert class_names(nn.Identity()) == ()


def test_names_are_as_many_as_the_classes() -> None:
    assert checked_names(None, 3) == ()
    assert checked_names(["a", "b"], 2) == ("a", "b")
    with pytest.raises(SettingError, match="classes: expected 3 names, each once, got 2"):
        checked_names(["a", "b"], 3)
