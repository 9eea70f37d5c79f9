"""The publication's claims in the order of its text, each with what answers it."""

from doublebubble.reproduce.answers import PublishedClaim
from doublebubble.reproduce.cost_claims import all_times, cheaper, double_costs, first_steps, intervals
from doublebubble.reproduce.gain_claims import average_gain, boundary_wins, growth, improved, not_improvable
from doublebubble.reproduce.macer_claim import macer

CLAIMS = (
    PublishedClaim(
        "More than 80 % of Tiny-ImageNet inputs are improved.",
        improved,
        ("winners/winners-cifar10-resnet18",),
    ),
    PublishedClaim(
        "Certificates grow by more than 5 % on average at sigma 0.5.",
        average_gain,
        (
            "certified-accuracy/certified-accuracy-mnist-lenet",
            "certified-accuracy/certified-accuracy-cifar10-resnet18",
        ),
    ),
    PublishedClaim(
        "The median improvement grows quasi-linearly with sigma.",
        growth,
        ("improvement-by-sigma/improvement-by-sigma-mnist-lenet",),
    ),
    PublishedClaim(
        "Better performance of the boundary treatment goes with larger radii, due to sigma. Read here: it is the "
        "largest more often as sigma grows.",
        boundary_wins,
        ("winners/winners-mnist-lenet",),
    ),
    PublishedClaim("Most MNIST inputs cannot be improved below sigma 0.5.", not_improvable),
    PublishedClaim(
        "MACER can make average radii 10 to 20 % larger, at more than ten times the training cost, and there the "
        "search adds 4 percentage points, more than without MACER (CIFAR-10).",
        macer,
        ("macer/macer-1", "macer/macer-2"),
    ),
    PublishedClaim("Single: approximate gradients are more than four times cheaper than full ones.", cheaper),
    PublishedClaim("Double costs relatively more for approximate gradients than for full ones.", double_costs),
    PublishedClaim(
        "Approximate gradients are sensitive to first steps above 0.01, full ones only above 0.1 (CIFAR-10).",
        first_steps,
        ("step-size/step-size-mnist-lenet",),
    ),
    PublishedClaim("The table of wall-clock times, as multiples of Cohen's (approximate / full).", all_times),
    PublishedClaim(
        "Without merging rare classes, Goodman's and Sison-Glaz' intervals take over 95 % of the time on some "
        "Tiny-ImageNet inputs.",
        intervals,
    ),
)
