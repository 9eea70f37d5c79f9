"""Truth to check certificates against."""
