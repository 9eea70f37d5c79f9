"""One module for each method. `registry` finds them by looking here, so a new file is a new method."""
