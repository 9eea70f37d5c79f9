"""Short scripts that each show one thing."""
