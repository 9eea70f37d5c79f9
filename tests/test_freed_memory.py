"""Pages of freed layers come back without a fault, unless the user has set the allocator."""

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, torch
from doublebubble.freed_memory import keep_freed_memory
kept = sys.argv[1] == "keep" and keep_freed_memory()
net = torch.nn.Sequential(*[torch.nn.ReLU() for _ in range(4)])
images, found = torch.zeros(1 << 23), []  # 8192 pages for each layer
for _ in range(8):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    net(images)
    found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(kept, min(found))
"""


def faults(how: str, **environment: str) -> tuple[bool, int]:
    """Whether the allocator was set, and how many pages a forward pass met for the first time, the best of several."""
    command = [sys.executable, "-c", FAULTS, how]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, text=True)
    kept, count = done.stdout.split()
    return kept == "True", int(count)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc's allocator")
def test_what_layers_free_is_taken_again_without_faults() -> None:
    (kept, few), (_, many) = faults("keep"), faults("leave")
    assert kept
    assert many > 8000 > 1000 > few
    kept, count = faults("keep", MALLOC_MMAP_THRESHOLD_="131072")
    assert not kept
    assert count > 8000
