"""What each method costs beside Cohen's radius on the demo's network, n = 10 000, and `auto` and `all` of them.

Time depends on how large the network is. Beside each ratio of times stands that of forward passes, a backward pass
counting as two: where a network is large enough for its passes to be all of the time, the first tends to the second.
"""

import functools
from collections.abc import Callable

from benchmarks.rows import Row, best_seconds
from benchmarks.subjects import demo_network, some_digits
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier, registry
from doublebubble.measuring import fastest_program

N, SIGMA = 10_000, 0.5
PASSES_MOST = {"auto": 1.6, "all": 3.0}


def run(quick: bool = False) -> list[Row]:
    """Times and forward passes over Cohen's."""
    inputs = some_digits(3 if quick else 12)
    model = demo_network(SIGMA)
    program = fastest_program(model, inputs[0].x.expand(256, *inputs[0].x.shape).clone())
    smoothed = SmoothedClassifier(model, SIGMA, 10, program=program)
    names = (*registry.names("sound"), registry.AUTO, "all")
    n = 1000 if quick else N
    certifiers = {name: Certifier(smoothed, CertifyConfig(n=n, methods=(name,))) for name in names}
    passes = {
        name: sum(sum(made.forward_equivalents.values()) for made in certifier.certify_inputs(inputs))
        for name, certifier in certifiers.items()
    }
    rivals: dict[str, Callable[[], object]] = {
        name: functools.partial(certifier.certify_inputs, inputs) for name, certifier in certifiers.items()
    }
    seconds = best_seconds(rivals, 1 if quick else 3, warm_up=False)
    rows = []
    for name in names:
        rows.append(
            Row(
                f"time over Cohen's, {name}, demo's network",
                seconds[name] / seconds["cohen"],
                parts={"s per input": seconds[name] / len(inputs)},
                note=program.name,
            )
        )
        rows.append(
            Row(
                f"forward passes over Cohen's, {name}, demo's network",
                passes[name] / passes["cohen"],
                at_most=None if quick else PASSES_MOST.get(name),
            )
        )
    return rows
