"""Any function from arrays to scores or labels as a model: a forest, an API, an ONNX file. It has no gradients.

May import only errors, and other modules of models.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from doublebubble.errors import ModelError, SettingError
from doublebubble.models.class_names import checked_names
from doublebubble.models.fingerprints import fingerprint

Scores = Callable[[npt.NDArray[Any]], Any]
"""Takes a batch as an array, (rows, ...), and returns scores, (rows, classes), or labels, (rows,)."""


class BlackBox(nn.Module):
    """A function of arrays as a model. Its answers are scores, of which the largest wins, or labels."""

    def __init__(self, f: Scores, num_classes: int, classes: Sequence[str] | None = None) -> None:
        super().__init__()
        self._f = f
        self.num_classes = num_classes
        self.classes = checked_names(classes, num_classes)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        """The scores of a batch, or a row of one 1 and else 0 for each label. The function sees the batch itself."""
        return self._scores(self._f(x.detach().cpu().numpy()), len(x)).to(x.device)

    def fingerprint(self) -> str:
        """What is known of the function, as a digest: its code, and the arrays and values that it uses."""
        return fingerprint(self._f)

    def extra_repr(self) -> str:
        """The name of the function and the number of its classes."""
        name = getattr(self._f, "__qualname__", type(self._f).__qualname__)
        return f"{name}, num_classes={self.num_classes}"

    def _scores(self, answer: Any, rows: int) -> Tensor:
        found = answer.detach().cpu().numpy() if isinstance(answer, Tensor) else np.asarray(answer)
        if found.shape == (rows,) and found.dtype.kind in "OUS":
            found = self._numbered(found)
        if found.shape == (rows,) and found.dtype.kind in "iu":
            return self._one_hot(found)
        if found.shape != (rows, self.num_classes) or found.dtype.kind not in "fiub":
            raise ModelError(
                f"the black box: expected scores of shape {(rows, self.num_classes)}, or whole numbers of shape "
                f"{(rows,)} as labels, got {found.dtype} of shape {found.shape}"
            )
        scores = found.astype(found.dtype.newbyteorder("=") if found.dtype.kind == "f" else np.float64)
        return torch.from_numpy(scores if scores.dtype.itemsize <= 8 else scores.astype(np.float64))

    def _numbered(self, names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Labels that are names, as numbers."""
        unknown = [str(name) for name in names.tolist() if name not in self.classes]
        if unknown:
            known = ", ".join(self.classes) or "no names: give classes="
            raise ModelError(f"the black box: expected labels among {known:.200}, got {unknown[0]!r:.80}")
        return np.array([self.classes.index(name) for name in names.tolist()], np.int64)

    def _one_hot(self, labels: npt.NDArray[Any]) -> Tensor:
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < self.num_classes:
            outside = int(labels.min()) if int(labels.min()) < 0 else int(labels.max())
            raise ModelError(f"the black box: expected labels from 0 to {self.num_classes - 1}, got {outside}")
        return nn.functional.one_hot(torch.from_numpy(labels.astype(np.int64)), self.num_classes).float()


def black_box(f: Scores, num_classes: int, classes: Sequence[str] | None = None) -> BlackBox:
    """A model that asks `f`: a function from a batch of arrays to scores for each class, or to one label for each row.

    The labels are numbers from 0 on or, with `classes`, their names. Nothing differentiates it: `gradient` is
    `approximate` unless it is said, and a warning tells. A run remembers the code of `f` and what it uses, as far as
    they can be read, and what it says of fixed inputs.

    >>> import numpy as np, doublebubble as db
    >>> model = db.black_box(lambda x: (x.mean(axis=1) > 0.5).astype(int), num_classes=2)
    >>> run = db.certify(model, np.full((1, 4), 0.9), sigma=0.25, n=1000, gradient="approximate", quiet=True)
    >>> run.certificates[0].prediction
    1
    """
    if not callable(f):
        raise SettingError(f"black_box: expected a function from arrays to scores or labels, got {type(f).__name__}")
    if isinstance(f, nn.Module):
        raise SettingError("black_box: a torch module needs none: pass it as it is, in evaluation mode")
    if isinstance(num_classes, bool) or not isinstance(num_classes, int | np.integer) or num_classes < 2:
        raise SettingError(f"black_box: expected num_classes of at least 2, got {num_classes!r}")
    return BlackBox(f, int(num_classes), classes)


def no_module(model: object) -> SettingError:
    """What to say of a model that is none of torch's; of a function, how it becomes one."""
    hint = "; db.black_box makes a model of a function" if callable(model) else ""
    return SettingError(f"model: expected a torch.nn.Module, got {type(model).__name__}{hint}")


def is_black_box(model: nn.Module) -> bool:
    """Whether some part of a model cannot be differentiated, whatever its other parts are."""
    return any(isinstance(module, BlackBox) for module in model.modules())


def black_box_digest(model: nn.Module) -> bytes:
    """What the black boxes in a model are, beyond what its modules show; empty if there are none."""
    found = [module.fingerprint() for module in model.modules() if isinstance(module, BlackBox)]
    return hashlib.sha256("|".join(found).encode()).digest() if found else b""
