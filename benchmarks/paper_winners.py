"""Which method of protocol `paper` reports the largest radius on the bundled digits, and how often it is untrue.

Run as `python -m benchmarks.paper_winners [inputs]`. Nothing printed here is a guarantee.
"""

import sys
from collections import Counter

import torch

from doublebubble import SmoothedClassifier, registry
from doublebubble.audit.oracles import HalfSpace
from doublebubble.certificate import Status
from doublebubble.certifier import Certifier
from doublebubble.config import CertifyConfig
from doublebubble.smoothing import Input
from doublebubble.types import GradientKind, Method
from tests.digits import digits, digits_model

METHODS: tuple[Method, ...] = registry.names("paper")
KINDS: tuple[GradientKind, ...] = ("approximate", "full")
N = 1000


def winners(gradient: GradientKind, inputs: int) -> None:
    """Print the proportions of winners among correctly predicted digits, and the mean gain of each method."""
    images, labels = digits()
    smoothed = SmoothedClassifier(digits_model(), 0.25, 10, batch_size=500)
    config = CertifyConfig(protocol="paper", n=N, methods=METHODS, gradient=gradient)
    done = Certifier(smoothed, config).certify_inputs(
        [Input(i, images[i], int(labels[i])) for i in range(1500, 1500 + inputs)]
    )
    kept = [c for c in done if c.status is Status.CERTIFIED]
    wins = Counter(c.method for c in kept)
    print(f"digits, sigma 0.25, N {N}, {gradient}: {len(kept)} of {inputs} certified, not a guarantee")
    for method in METHODS:
        gain = sum(c.radii[method] for c in kept) / sum(c.radii["cohen"] for c in kept) - 1
        print(f"  {method:9s} largest for {wins[method] / len(kept):6.1%}   mean radius {gain:+.2%} over cohen")
    for stage in ("select", "search", "line"):
        cost = sum(c.forward_equivalents[stage] for c in done) / inputs
        seconds = sum(c.seconds[stage] for c in done) / inputs
        print(f"  {stage:9s} {cost:9.0f} forward-equivalents, {seconds:.2f} s per input")


def misses(gradient: GradientKind, repetitions: int) -> None:
    """Print how often each method exceeds the true distance to the boundary of a half-space, in its unit box."""
    oracle, x = HalfSpace([0.6, 0.8, 0.0], -0.7), torch.tensor([0.7, 0.8, 0.3])
    truth = oracle.robust_distance(x.numpy(), 0.5, 0.0, 1.0)
    smoothed = SmoothedClassifier(oracle, 0.5, 2, batch_size=500)
    config = CertifyConfig(protocol="paper", n=N, methods=METHODS, gradient=gradient)
    done = Certifier(smoothed, config).certify_inputs([Input(i, x, 1) for i in range(repetitions)])
    print(f"half-space, sigma 0.5, N {N}, {gradient}: radii above the true {truth:.3f} at a nominal {config.alpha:.0%}")
    for method in METHODS:
        print(f"  {method:9s} {sum(c.radii[method] > truth for c in done) / repetitions:6.1%} of {repetitions}")


def main() -> None:
    """Both gradients, on digits and on the half-space."""
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for gradient in KINDS:
        winners(gradient, inputs)
        misses(gradient, 5 * inputs)


if __name__ == "__main__":
    main()
