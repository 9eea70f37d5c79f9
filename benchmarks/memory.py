"""Does peak memory grow with n? Two processes, one of 10 000 and one of 1 000 000 draws, compared."""

import resource
import subprocess
import sys

from benchmarks.rows import Row
from benchmarks.subjects import subject
from doublebubble import SmoothedClassifier


def run() -> list[Row]:
    """Peak resident memory at n = 1 000 000 over that at n = 10 000."""
    peak = {n: _peak_in_a_process_of_its_own(n) for n in (10_000, 1_000_000)}
    ratio = peak[1_000_000] / peak[10_000]
    measured = f"{ratio:.3f} ({peak[1_000_000] // 1024} MB over {peak[10_000] // 1024} MB)"
    return [Row("peak memory, n = 1e6 over n = 1e4", measured, "at most 1.10", ratio <= 1.10)]


def _peak_in_a_process_of_its_own(n: int) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", str(n)], check=True, capture_output=True, text=True
    )
    return int(done.stdout.split()[-1])


if __name__ == "__main__":
    model, x = subject("cnn", "digits")
    SmoothedClassifier(model, 0.5, 10, batch_size=1024).counts(x, int(sys.argv[1]), seed=0, index=0)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
