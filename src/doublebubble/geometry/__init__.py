"""Radii from probabilities, and distances from balls: float64, no model, no randomness.

`certified_radius` is the bound that certificates use; the paper's own formulas stand beside it.
"""

from doublebubble.geometry.balls import Bound, bound_at, certified_radii, certified_radius, dual_value, nearest_point
from doublebubble.geometry.bubble import cut_radius, double_bubble_radius
from doublebubble.geometry.cohen import cohen_ceiling, cohen_radius
from doublebubble.geometry.dipole import PairMass, dipole_radius
from doublebubble.geometry.first_order import Rival, first_order_lower, first_order_radius
from doublebubble.geometry.published import published_boundary_radii, published_boundary_radius
from doublebubble.geometry.transitive import transitive_radius

__all__ = [
    "Bound",
    "PairMass",
    "Rival",
    "bound_at",
    "certified_radii",
    "certified_radius",
    "cohen_ceiling",
    "cohen_radius",
    "cut_radius",
    "dipole_radius",
    "double_bubble_radius",
    "dual_value",
    "first_order_lower",
    "first_order_radius",
    "nearest_point",
    "published_boundary_radii",
    "published_boundary_radius",
    "transitive_radius",
]
