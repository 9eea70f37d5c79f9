"""The two protocols: `sound`, which is a guarantee, and `paper`, which reproduces the publication and is none."""
