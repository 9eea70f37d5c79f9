"""What attacks on a run say, in sentences: how far the certified radii and the confirmed successes are apart."""

from collections.abc import Sequence
from statistics import median

from doublebubble.report.facts import guarantee_of
from doublebubble.runs.attacks import Attacked
from doublebubble.runs.record import Record, radius_text
from doublebubble.types import Guarantee


def attack_summary(attacks: Sequence[Attacked]) -> str:
    """How many inputs were attacked, with what success, and how wide the gap is; one attack for each input."""
    beyond = [one for one in attacks if one.distance is not None and not one.inside]
    inside = sum(one.inside for one in attacks)
    vain = len(attacks) - len(beyond) - inside
    inputs = "1 certified input" if len(attacks) == 1 else f"{len(attacks)} certified inputs"
    parts = [f"attacked {inputs}: {inside or 'no'} success{'' if inside == 1 else 'es'} inside the radius"]
    if beyond:
        gap = median(one.gap or 0.0 for one in beyond)
        ratio = median((one.distance or 0.0) / one.radius for one in beyond)
        parts.append(f"{len(beyond)} beyond it, at the median {ratio:.2f} times the radius, {gap:.4f} farther than it")
    if vain:
        parts.append(f"{vain} without any")
    return "; ".join(parts)


def refuted(attacked: Attacked, record: Record) -> bool:
    """Whether the attack shows that a radius with a guarantee is false."""
    return attacked.inside and guarantee_of(record) is not Guarantee.NONE


def attack_sentence(attacked: Attacked, record: Record) -> str:
    """What the attack on one input found."""
    if attacked.distance is None or attacked.votes is None:
        return f"no other class was found as far as {radius_text(attacked.searched)}"
    found = (
        f"class {attacked.rival} is likelier than class {attacked.prediction} at distance {attacked.distance:.6f} "
        f"({attacked.votes[0]} votes to {attacked.votes[1]}, p {attacked.p_value:.1g})"
    )
    if not attacked.inside:
        return found
    what = "the certificate is false" if refuted(attacked, record) else "protocol paper guarantees none"
    return f"{found}, inside the radius {radius_text(attacked.radius)}: {what}"
