"""One input, or several, from a smoothed classifier and settings to certificates."""

import warnings
from collections.abc import Sequence

from torch import Tensor

from doublebubble.certificate import Certificate
from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleWarning, InputError
from doublebubble.geometry import cohen_ceiling
from doublebubble.protocols import paper, sound
from doublebubble.smoothing import Input, SmoothedClassifier


class Certifier:
    """Certifies inputs of a smoothed classifier under one protocol.

    Under `sound`, with probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and
    no point of the domain nearer than the radius gets another class. Under `paper` nothing is guaranteed, and the
    certificate says so.
    """

    def __init__(self, smoothed: SmoothedClassifier, config: CertifyConfig | None = None) -> None:
        self.smoothed = smoothed
        self.config = CertifyConfig() if config is None else config
        self._warn_if_out_of_reach()

    def certify(self, x: Tensor, *, index: int, label: int | None = None) -> Certificate:
        """The certificate of one input; `index` names its randomness."""
        return self.certify_many([x], [index], [label])[0]

    def certify_many(
        self, xs: Sequence[Tensor], indices: Sequence[int], labels: Sequence[int | None] | None = None
    ) -> list[Certificate]:
        """The certificates of several inputs, each the same as if it were certified alone."""
        known = [None] * len(xs) if labels is None else list(labels)
        if not len(xs) == len(indices) == len(known):
            raise InputError(
                f"expected as many indices and labels as inputs, got {len(xs)}, {len(indices)}, {len(known)}"
            )
        if len(set(indices)) != len(indices):
            raise InputError("expected distinct indices: an index names an input's randomness")
        inputs = [Input(index, x, label) for x, index, label in zip(xs, indices, known, strict=True)]
        if self.config.protocol == "paper":
            return [paper.certify(self.smoothed, self.config, given) for given in inputs]
        return sound.certify_many(self.smoothed, self.config, inputs) if inputs else []

    def _warn_if_out_of_reach(self) -> None:
        config = self.config
        ceiling = cohen_ceiling(config.n, config.alpha, self.smoothed.sigma)
        if ceiling <= 0:
            message = (
                f"n = {config.n} draws cannot certify any radius at alpha = {config.alpha}: every input will abstain"
            )
        elif config.target_radius is not None and ceiling < config.target_radius:
            message = (
                f"n = {config.n} draws at alpha = {config.alpha} and sigma = {self.smoothed.sigma} certify a Cohen "
                f"radius of at most {ceiling:.3f}, less than the {config.target_radius} asked for"
            )
        else:
            return
        warnings.warn(message, DoubleBubbleWarning, stacklevel=3)
