"""Certificates from the profile of the votes along one line and the slope off it: Theorem R of docs/math.md."""

from doublebubble.geometry.profile.cost import Prices, PriceTable, bin_masses, default_edges
from doublebubble.geometry.profile.covering import Sector, covered_radius, sector_value
from doublebubble.geometry.profile.design import (
    ROUGH,
    GuessedProfile,
    best_profile_prices,
    checked_guess,
    design_sectors,
    mean_value,
    sector_ends,
)

__all__ = [
    "ROUGH",
    "GuessedProfile",
    "PriceTable",
    "Prices",
    "Sector",
    "best_profile_prices",
    "bin_masses",
    "checked_guess",
    "covered_radius",
    "default_edges",
    "design_sectors",
    "mean_value",
    "sector_ends",
    "sector_value",
]
