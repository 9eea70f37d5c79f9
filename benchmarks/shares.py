"""Where does the time of the main job go? CPU time of `certify --methods auto`, divided among the parts of the work.

On the demo's network, as given and as prepared: on a small network, what is not forward passes shows. A part's time is
its own, without the parts that it calls: the search of a method is its arithmetic, its forward passes are the model's.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any
from unittest.mock import patch

from benchmarks.rows import Row
from benchmarks.subjects import demo_network, some_digits
from doublebubble import Certifier, CertifyConfig, Program, SmoothedClassifier, registry
from doublebubble.measuring import fastest_program
from doublebubble.noise.source import GaussianSource
from doublebubble.protocols import sound
from doublebubble.smoothing import soft_look
from doublebubble.smoothing.forward import Forward
from doublebubble.tally import Accumulator

N, SIGMA = 10_000, 0.5
REST = "all else"


class Shares:
    """CPU seconds under names; a part that another one calls is taken off it."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._clock = clock
        self._inner: list[float] = []

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its time counted under the name."""

        @wraps(function)
        def run(*arguments: Any, **more: Any) -> Any:
            self._inner.append(0.0)
            begin = self._clock()
            try:
                return function(*arguments, **more)
            finally:
                taken = self._clock() - begin
                self.seconds[name] += taken - self._inner.pop()
                if self._inner:
                    self._inner[-1] += taken

        return run

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Within, the parts of the work are counted."""
        parts: list[tuple[Any, str, str]] = [
            (Forward, "logits", "forward passes"),
            (soft_look, "_gradient", "backward passes"),
            (GaussianSource, "draw", "noise"),
            (GaussianSource, "__init__", "noise"),
            (Accumulator, "add", "counts and moments"),
            (Accumulator, "result", "counts and moments"),
            (sound, "certified_ball", "final bounds"),
        ]
        for name in registry.names("sound"):
            method = type(registry.card(name))
            parts += [(method, "promising", f"search of {name}"), (method, "propose", f"search of {name}")]
        with contextlib.ExitStack() as stack:
            for owner, attribute, name in parts:
                function = getattr(owner, attribute)
                stack.enter_context(patch.object(owner, attribute, self.counted(name, function)))
            yield


def run(quick: bool = False) -> list[Row]:
    """The part of each, largest first, for the model as given and as prepared."""
    inputs = some_digits(3 if quick else 24)
    model = demo_network(SIGMA)
    best = fastest_program(model, inputs[0].x.expand(256, *inputs[0].x.shape).clone())
    rows = []
    for program in dict.fromkeys((Program(), best)):
        config = CertifyConfig(n=1000 if quick else N)
        certifier = Certifier(SmoothedClassifier(model, SIGMA, 10, program=program), config)
        certifier.certify_inputs(inputs[:2])  # what is done once
        shares = Shares()
        with shares.watching():
            shares.counted(REST, certifier.certify_inputs)(inputs)
        whole = sum(shares.seconds.values())
        for name, seconds in sorted(shares.seconds.items(), key=lambda item: -item[1]):
            parts = {"ms per input": 1000 * seconds / len(inputs)}
            rows.append(Row(f"part of auto's time, {program.name}: {name}", seconds / whole, parts=parts))
    return rows
