"""Where time goes: each part has its own time, and together they are the whole."""

import pytest
import torch

from benchmarks.shares import REST, Shares
from doublebubble import Certifier, CertifyConfig, SmoothedClassifier
from doublebubble.smoothing.forward import Forward
from tests.engines.centroids import make


def test_a_part_that_another_one_calls_is_taken_off_it() -> None:
    now = [0.0]
    shares = Shares(clock=lambda: now[0])

    def taking(seconds: float) -> None:
        now[0] += seconds

    inner = shares.counted("inner", lambda: taking(3.0))

    def outer() -> str:
        taking(1.0)
        inner()
        inner()
        taking(0.5)
        return "done"

    assert shares.counted("outer", outer)() == "done"
    assert shares.seconds == {"inner": 6.0, "outer": 1.5}
    with pytest.raises(ZeroDivisionError):
        shares.counted("broken", lambda: 1 / 0)()
    inner()
    assert shares.seconds["inner"] == 9.0


def test_the_parts_of_a_certificate_are_its_whole_time_and_nothing_stays_patched() -> None:
    certifier = Certifier(SmoothedClassifier(make(), 0.5, 10, batch_size=64), CertifyConfig(n=300, n0=50))
    x, before = torch.full((1, 8, 8), 0.5), Forward.logits
    ticks = iter(range(1_000_000))
    shares = Shares(clock=lambda: float(next(ticks)))
    with shares.watching():
        made = shares.counted(REST, certifier.certify)(x, index=0)
    assert Forward.logits is before
    assert made.draws["certify"] == 300
    assert {"forward passes", "noise", "counts and moments", "final bounds", REST} <= set(shares.seconds)
    assert sum(shares.seconds.values()) == next(ticks) - 1, "every tick but the first is somebody's"
