"""Where to look for further balls: gradients and ascents. Proposes points and never a radius."""
