"""Numbers and guarantees in words, as they stand on the page."""

from doublebubble.report.facts import assumed, level, noise_name
from doublebubble.report.page.run_view import RunView
from doublebubble.report.rounding import interval, percent
from doublebubble.runs.spec import RunSpec
from doublebubble.runs.statistics import CertifiedAccuracy
from doublebubble.types import Guarantee


def headline(view: RunView, point: CertifiedAccuracy) -> tuple[str, str, str]:
    """The answer as one sentence in three parts, the middle one the number; it claims no more than is guaranteed."""
    inputs = f"{point.n} inputs" if point.n > 1 else "1 input"
    number = percent(point.certified, point.n)
    change = f"any change of L2 size below {point.radius:g}"
    if view.mark in ("", "asymptotic"):
        return f"Of {inputs}, ", number, f" are classified correctly and stay so under {change}."
    if view.mark == "not guaranteed":
        return f"Not guaranteed: of {inputs}, ", number, f" are reported as classified correctly under {change}."
    return f"Of {inputs}, ", number, f" are said to be classified correctly under {change}; guarantee not stated."


def promise(view: RunView, point: CertifiedAccuracy) -> str:
    """What stands behind the headline, in sentences."""
    counted = f"{point.certified} of {point.n} inputs; 95 % interval over the choice of inputs {interval(point)}."
    spec = view.run.spec
    alpha = f" Alpha is {level(spec)}." if isinstance(spec, RunSpec) and Guarantee.NONE not in view.guarantees else ""
    held = " ".join(f"Each radius {guarantee.sentence}." for guarantee in view.guarantees)
    box = ""
    if isinstance(spec, RunSpec) and spec.domain is not None:
        box = f" A change counts while the input stays within [{spec.domain[0]:g}, {spec.domain[1]:g}]."
    noise = ""
    if isinstance(spec, RunSpec) and Guarantee.NONE not in view.guarantees:
        noise = f" The noise is {noise_name(spec)}. Assumed: {assumed(spec)}."
    return f"{counted} {held}{alpha}{box}{noise}".strip()


def state(view: RunView) -> str:
    """How many inputs are still missing, or nothing."""
    missing = len(view.run.missing)
    return f"The run is not complete: {missing} of its inputs are still to be certified." if missing else ""
