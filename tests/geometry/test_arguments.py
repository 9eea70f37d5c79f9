import numpy as np
import pytest
import torch

from doublebubble.errors import InputError
from doublebubble.geometry import bound_at, certified_radius
from doublebubble.geometry.arguments import widen

X1, X2 = np.full((2, 2), 0.5), np.full((2, 2), 0.6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x1": np.array([[0.5, 1.5], [0.5, 0.5]])}, r"x1.*1\.5 outside \[0\.0, 1\.0\] at flat index 1"),
        ({"x1": np.array([[0.5, np.nan], [0.5, 0.5]])}, "x1: expected finite"),
        ({"x1": np.empty((0,)), "centres": np.empty((1, 0))}, "at least one number"),
        ({"centres": [X2, np.array([[np.inf, 0.0], [0.0, 0.0]])], "radii": [1, 1]}, "centre 1: expected finite"),
        ({"centres": [np.full(4, 0.6)]}, r"centre 0: expected the shape of x1, \(2, 2\), got \(4,\)"),
        ({"centres": np.full((1, 4), 0.6)}, r"centres.*\(2, 2\), got \(1, 4\)"),
        ({"centres": np.array(0.6)}, "centres"),
        ({"radii": [0.1, 0.2]}, "2 radii for 1 centres"),
        ({"radii": 0.1}, "one dimension"),
        ({"radii": [-0.1]}, r"radii: expected numbers >= 0, got -0\.1"),
        ({"radii": [np.nan]}, "radii: expected finite"),
        ({"radii": [1e200]}, "radii: expected finite numbers of magnitude at most"),
        ({"low": 1.0, "high": 0.0}, "low <= high"),
        ({"low": None}, "both for a box or neither"),
        ({"high": np.ones(3)}, r"high: expected a number or the shape of x1"),
        ({"high": np.inf}, "high: expected finite"),
        ({"x1": np.array(["a"])}, "x1: expected real numbers"),
        ({"x1": X1.astype(complex)}, "x1: expected real numbers"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"x1": X1, "centres": [X2], "radii": [0.4], "low": 0.0, "high": 1.0}
    with pytest.raises(InputError, match=message):
        certified_radius(**{**arguments, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(("lam", "message"), [([0.5, 0.5], "one per ball"), ([-0.5], ">= 0"), ([np.nan], "finite")])
def test_multipliers_that_do_not_fit(lam: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bound_at(lam, X1, [X2], [0.4])


def test_widening_changes_no_number() -> None:
    values = torch.tensor([0.1, -3.0, 1e-3])
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        assert widen("x", values.to(dtype)).tolist() == values.to(dtype).tolist()
    assert widen("x", torch.tensor([1, 2])).tolist() == [1.0, 2.0]
    assert widen("x", [1, 2**53]).dtype == np.float64
    with pytest.raises(InputError, match="53 bits"):
        widen("x", np.array([2**53 + 1]))
    with pytest.raises(InputError, match="64 bits"):
        widen("x", np.zeros(2, dtype=np.longdouble))
