"""One input, or several, from a smoothed classifier and settings to certificates."""

import operator
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex

import numpy.typing as npt
from torch import Tensor

from doublebubble.certificate import Certificate
from doublebubble.config import CertifyConfig
from doublebubble.errors import DoubleBubbleWarning, InputError, ModelError, SettingError
from doublebubble.geometry import cohen_ceiling
from doublebubble.protocols import paper, sequential, sound
from doublebubble.protocols.rounds import in_order
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.smoothing.gradient_choice import suited
from doublebubble.smoothing.inputs import as_tensor

Array = Tensor | npt.NDArray[Any]


class Certifier:
    """Certifies inputs of a smoothed classifier under one protocol.

    Under `sound`, with probability at least 1 - alpha over the draws made for one input, the prediction equals g(x) and
    no point of the domain nearer than the radius gets another class. Under `paper` nothing is guaranteed, and the
    certificate says so.
    """

    def __init__(self, smoothed: SmoothedClassifier, config: CertifyConfig | None = None) -> None:
        self.smoothed = smoothed
        self.config = suited(CertifyConfig() if config is None else config, smoothed.model)
        if self.config.protocol == "paper" and smoothed.noise.lattice is not None:
            raise SettingError("noise lattice: protocol paper searches between the grid points, use protocol sound")
        if self.config.protocol == "sound":
            sound.usable_methods(smoothed, self.config)
        self._warn_if_out_of_reach()

    def certify(
        self, x: Array, *, index: SupportsIndex | None = None, label: SupportsIndex | None = None
    ) -> Certificate:
        """The certificate of one input; `index` names its randomness, without one the input's own bytes do.

        >>> import torch, doublebubble as db
        >>> model = torch.nn.Linear(4, 2).eval()
        >>> certifier = db.Certifier(db.SmoothedClassifier(model, 0.5, 2), db.CertifyConfig(n=100, n0=10))
        >>> x = torch.rand(4)
        >>> certifier.certify(x) == certifier.certify(x)
        True
        """
        one, shape = as_tensor(x, None), self.smoothed.input_shape
        try:
            return self.certify_many([one], None if index is None else [index], [label])[0]
        except (InputError, ModelError) as error:
            self.smoothed.input_shape = shape
            if self._is_batch(one):
                got = f"got a batch of shape {tuple(one.shape)}"
                raise InputError(f"expected one input, {got}: pass one input, or certify_many") from error
            raise

    def certify_many(
        self,
        xs: Sequence[Array] | Array,
        indices: Sequence[SupportsIndex] | None = None,
        labels: Sequence[SupportsIndex | None] | None = None,
    ) -> list[Certificate]:
        """The certificates of several inputs, each the same as if it were certified alone.

        Without indices, inputs of equal bytes have the same randomness and so the same certificate.
        """
        known = [None] * len(xs) if labels is None else list(labels)
        if len(xs) != len(known) or (indices is not None and len(xs) != len(indices)):
            got = f"{len(xs)}, {len(xs) if indices is None else len(indices)}, {len(known)}"
            raise InputError(f"expected as many indices and labels as inputs, got {got}")
        if indices is None:
            return self.certify_inputs([Input.named_by_bytes(x, _whole(k)) for x, k in zip(xs, known, strict=True)])
        named = zip(map(operator.index, indices), xs, map(_whole, known), strict=True)
        inputs = [Input(index, as_tensor(x, index), label) for index, x, label in named]
        if len({given.index for given in inputs}) != len(inputs):
            raise InputError("expected distinct indices: an index names an input's randomness")
        return self.certify_inputs(inputs)

    def certify_inputs(self, inputs: Sequence[Input]) -> list[Certificate]:
        """The certificates of several inputs, each the same as if it were certified alone."""
        if not self.config.sequential:
            self.smoothed.expect(len(inputs) * (self.config.n0 + self.config.n))
        if (found := self._decided(inputs)) is not None:
            return in_order(found)
        return sound.certify_many(self.smoothed, self.config, inputs) if inputs else []

    def certify_stream(self, inputs: Iterable[Input]) -> Iterator[Certificate]:
        """The same certificates as they are ready: in any order, but for fixed draws under `sound` in the inputs'."""
        if (found := self._decided(inputs)) is not None:
            return (certificate for _, certificate in found)
        return (certificate for given in inputs for certificate in self.certify_inputs([given]))

    def _decided(self, inputs: Iterable[Input]) -> Iterator[tuple[int, Certificate]] | None:
        """Certificates with the places of their inputs where these need unequal draws; None where n draws are fixed."""
        if self.config.protocol == "paper":
            return paper.decided(self.smoothed, self.config, inputs)
        return sequential.decided(self.smoothed, self.config, inputs) if self.config.sequential else None

    def __repr__(self) -> str:
        asked = self.config
        methods = " ".join(asked.methods)
        return f"Certifier({self.smoothed!r}, n={asked.n}, alpha={asked.alpha:g}, {asked.protocol}, {methods})"

    def _is_batch(self, x: Tensor) -> bool:
        """Whether the rows of x, which is no input itself, are inputs."""
        shape = self.smoothed.input_shape
        if shape is not None or not x.dim() or not len(x):
            return shape is not None and tuple(x.shape[1:]) == tuple(shape)
        try:
            self.smoothed.counts(x[0], 1, seed=0, index=0, stage="audit")
        except (InputError, ModelError):
            self.smoothed.input_shape = None
            return False
        return True

    def _warn_if_out_of_reach(self) -> None:
        config = self.config
        if config.sequential:
            self._warn_if_radii_are_out_of_reach()
            return
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

    def _warn_if_radii_are_out_of_reach(self) -> None:
        config, sigma = self.config, self.smoothed.sigma
        far = sequential.out_of_reach(config, sigma) if config.radii is not None else ()
        if far:
            message = (
                f"max_draws = {config.max_draws} draws at alpha = {config.alpha} and sigma = {sigma} cannot certify "
                f"radius {far[0]:g}, even if all of them agree"
            )
            warnings.warn(message, DoubleBubbleWarning, stacklevel=4)


def _whole(label: SupportsIndex | None) -> int | None:
    return None if label is None else operator.index(label)
