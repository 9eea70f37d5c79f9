"""What a model calls its classes: any module that has a list of names as its attribute `classes`. Knows only errors."""

from collections.abc import Sequence

from torch import nn

from doublebubble.errors import SettingError


def class_names(model: nn.Module) -> tuple[str, ...]:
    """The names of the model's classes in its order; none if it does not say them."""
    given = getattr(model, "classes", ())
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        return ()
    return tuple(given)


def checked_names(classes: Sequence[str] | None, num_classes: int) -> tuple[str, ...]:
    """Names for so many classes, each of them once, or an error; none where there are none."""
    names = () if classes is None else tuple(classes)
    if names and (len(names) != num_classes or len(set(names)) != num_classes):
        raise SettingError(f"classes: expected {num_classes} names, each once, got {len(names)}: {names!r:.200}")
    return names
