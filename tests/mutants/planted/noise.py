"""Noise on a grid: its law in integers, what its distance from the ideal law costs, and the numbers the model sees."""

from tests.mutants.mutant import Mutant

_CELLS, _SOURCE = "noise/cells.py", "noise/source.py"

MUTANTS = (
    Mutant(
        "threshold-belongs-to-the-cell-below",
        _CELLS,
        'np.searchsorted(self.thresholds, words, side="right") - self.last',
        'np.searchsorted(self.thresholds, words, side="left") - self.last',
        "The law drawn would not be the one of the table whose distance was bounded.",
        ("noise/test_cells.py::test_look_up_is_the_definition_at_and_around_every_threshold",),
    ),
    Mutant(
        "loss-of-one-coordinate",
        _CELLS,
        "loss = draws * dimension * self.variation",
        "loss = draws * self.variation",
        "Every coordinate of every draw can differ from the ideal law.",
        ("noise/test_cells.py::test_the_loss_counts_draws_and_dimensions_and_is_rounded_up",),
    ),
    Mutant(
        "loss-rounded-down",
        _CELLS,
        "return near if Fraction(near) >= value else math.nextafter(near, math.inf)",
        "return math.nextafter(near, -math.inf)",
        "What is taken off alpha must not be less than the loss.",
        ("noise/test_cells.py::test_rounding_up_never_rounds_down",),
    ),
    Mutant(
        "any-loss-accepted",
        _CELLS,
        "if loss > LARGEST_PART * Fraction(alpha):",
        "if loss > 100 * Fraction(alpha):",
        "Where the noise is as far from its law as alpha allows in all, nothing is left to certify with.",
        ("noise/test_cells.py::test_a_loss_of_more_than_a_tenth_of_alpha_is_refused",),
    ),
    Mutant(
        "tail-beyond-the-table-forgotten",
        _CELLS,
        "off + 2 * beyond + (2 * last + 2) * ERROR,  # (N2)",
        "off,  # (N2)",
        "Cells beyond the end of the table have mass, and the tails carry the error of their digits.",
        ("noise/test_cells.py::test_what_lies_beyond_the_table_is_in_the_distance",),
    ),
    Mutant(
        "means-of-the-cell-edges",
        _CELLS,
        "return [float(difference / mass) for difference, mass in zip(differences, masses, strict=True)]",
        "return [float((index + 1) * width) for index in range(len(masses))]",
        "Moments of cell middles are not those of the noise: E[f M] would not be the gradient.",
        ("noise/test_cells.py::test_means_are_those_of_quadrature",),
    ),
    Mutant(
        "off-the-grid-accepted",
        "noise/lattice.py",
        "bad = ~(off <= np.minimum(_TOLERANCE * np.abs(values), _FARTHEST * float(self.step)))  # NaN is bad, too",
        "bad = ~(off <= 0.5)  # NaN is bad, too",
        "An input between grid points would get the certificate of another input.",
        ("noise/test_source.py::test_an_input_off_the_grid_is_refused_by_the_number_of_its_stream",),
    ),
    Mutant(
        "noise-clipped-within-the-range",
        _SOURCE,
        "            steps += self._offsets  # integers, so nothing is rounded\n"
        "            np.clip(steps, 0, self._end, out=steps)\n",
        "            steps += self._offsets  # integers, so nothing is rounded\n"
        "            np.clip(steps, self._last, self._end - self._last, out=steps)\n",
        "Noise clipped to less than the range has another law at every input.",
        ("noise/test_source.py::test_the_lattice_adds_integers_clips_them_and_looks_them_up",),
    ),
    Mutant(
        "rest-of-the-bits-from-the-prefix-words",
        "noise/lattice.py",
        'self._rest = WordReader(stream, "lattice/rest")',
        'self._rest = WordReader(stream, "lattice/prefix")',
        "Bits that decide a coordinate would have been used for another one already.",
        ("noise/test_lattice.py::test_draws_are_the_words_of_the_stream_looked_up_one_by_one",),
    ),
    Mutant(
        "remainder-not-mirrored",
        "noise/remainder.py",
        "np.copyto(out, np.where(indices < 0, -size, size))",
        "np.copyto(out, size)",
        "z would not be normal, and the bins of a profile would hold other masses.",
        ("noise/test_remainder.py::test_z_is_normal_and_in_its_cell",),
    ),
    Mutant(
        "loss-of-one-edge",
        "noise/remainder.py",
        "return draws * (edges * 0.8 * line_error(direction) + far)",
        "return draws * (0.8 * line_error(direction) + far)",
        "A draw can be put on the wrong side of every edge.",
        ("noise/test_remainder.py::test_the_edge_loss_is_the_chance_to_be_near_an_edge",),
    ),
    Mutant(
        "opposite-noise-of-its-own",
        _SOURCE,
        "            np.negative(steps[:half], out=steps[half:])",
        "            self._draws.fill(steps[half:].reshape(-1))",
        "The two draws of a pair must be opposite for (F6).",
        ("noise/test_source.py::test_opposite_draws_are_mirrored",),
    ),
)
