"""Where to place the balls. The search proposes points and structures; it has no way to return a radius."""
