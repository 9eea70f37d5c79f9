"""Errors that a user can act on: each message says what was expected, what came, and where."""

from doublebubble.printable import printable


class DoubleBubbleError(Exception):
    """Base of every error raised on purpose; the command prints it as one sentence.

    What a message quotes may come from anywhere, so whatever would steer a terminal is written out in it.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class SettingError(DoubleBubbleError, ValueError):
    """A setting that cannot be meant: sigma <= 0, n < 1, alpha outside (0, 1), an unknown method."""


class InputError(DoubleBubbleError, ValueError):
    """An input that does not fit: wrong shape, non-finite, outside the domain."""


class ModelError(DoubleBubbleError, RuntimeError):
    """A model that cannot be certified as it is: training mode, wrong number of classes, non-finite logits."""


class FunctionError(ModelError):
    """A model that is no function of one row of its input: neighbours, chance, memory or training mode change it.

    No input is to blame, and none can be certified: a run that meets it stops.
    """


class GradientError(ModelError):
    """A model whose logits autograd cannot differentiate: a black box."""


class BudgetError(DoubleBubbleError, RuntimeError):
    """More error probability was asked for than alpha holds."""


class DataError(DoubleBubbleError, RuntimeError):
    """A data file that is missing, truncated or not what it claims to be."""


class CheckpointError(DoubleBubbleError, RuntimeError):
    """A checkpoint that cannot be loaded, or that would execute code."""


class RunError(DoubleBubbleError, RuntimeError):
    """A run on disk that is damaged, locked, or belongs to another specification."""


class DoubleBubbleWarning(UserWarning):
    """Something that works but is probably not what was meant."""
