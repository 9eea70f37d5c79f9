"""Does peak memory grow with n? Two processes, one of 10 000 and one of a hundred times as many draws, compared."""

import resource
import subprocess
import sys

from benchmarks.rows import Row
from benchmarks.subjects import subject
from doublebubble import SmoothedClassifier

FEW, MANY, MOST = 10_000, 1_000_000, 1.02


def run(quick: bool = False) -> list[Row]:
    """Peak resident memory at many draws over that at few."""
    many = MANY // 10 if quick else MANY
    few, large = _least_peak(FEW), _least_peak(many)
    parts = {"MB at the larger": large / 1024, "MB at the smaller": few / 1024}
    return [Row(f"peak memory, n = {many:,} over {FEW:,}", large / few, at_most=MOST, parts=parts)]


def _least_peak(n: int) -> int:
    """Of three processes: where the allocator happens to put things moves the peak of one by a percent."""
    return min(_peak_in_a_process_of_its_own(n) for _ in range(3))


def _peak_in_a_process_of_its_own(n: int) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", str(n)], check=True, capture_output=True, text=True
    )
    return int(done.stdout.split()[-1])


if __name__ == "__main__":
    model, x = subject("cnn", "digits")
    SmoothedClassifier(model, 0.5, 10, batch_size=1024).counts(x, int(sys.argv[1]), seed=0, index=0)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
