"""The drawing puts colours, circles and images where the slice has them, and says what is guaranteed."""

import io
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from doublebubble.geometry.plane import Plane, Window, plane_through
from doublebubble.report import insets
from doublebubble.report import slice_figure as drawing
from doublebubble.report.profile_figure import ROOM
from doublebubble.report.slice_figure import caption, draw_slice, title
from doublebubble.runs.record import Record
from doublebubble.sampled_slice import Slice
from doublebubble.types import ABSTAIN, Guarantee
from tests.report.test_profile_figure import PROFILE
from tests.runs.samples import certificate

Pixels = npt.NDArray[np.int64]
NAMES = ("left", "right", "never")
SURE = Record.of(certificate(index=7, radius=0.5, prediction=0, label=0))


def plane(shape: tuple[int, ...]) -> Plane:
    rng = np.random.default_rng(1)
    return plane_through(np.full(shape, 0.5), [rng.normal(size=shape) for _ in range(2)])[0]


def halves(shape: tuple[int, ...] = (1, 8, 8), domain: bool = False) -> Slice:
    """Class 0 left of -0.2, class 1 right of it; the domain, if there is one, is the lower half."""
    ticks = np.linspace(-1.0, 1.0, 21)
    shares = np.zeros((21, 21, 3))
    shares[:, ticks < -0.2 + 1e-9, 0] = 1.0
    shares[:, ticks > -0.2 + 1e-9, 1] = 1.0
    lower = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    where = plane(shape)
    disks = {"x1": where.disk(where.origin, 0.3), "x2": where.disk(where.point(0.2, 0.1), 0.6)}
    meanings = ("towards x2", "in a random direction")
    return Slice(where, meanings, Window(0.0, 0.0, 1.0), shares, 100, disks, lower if domain else None)


def pixels(content: bytes) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(np.int64)


def at(picture: Pixels, a: float, b: float, half: int = 0) -> Pixels:
    """The pixels about the place (a, b) of the plane."""
    width, height, side, bottom = insets.WIDTH, insets.HEIGHT, insets.SIDE, insets.BOTTOM
    scale = picture.shape[1] / width
    column = round(((width - side) / 2 + (a + 1) / 2 * side) * scale)
    row = round((height - bottom - (b + 1) / 2 * side) * scale)
    return picture[row - half : row + half + 1, column - half : column + half + 1]


def test_regions_have_their_classes_colours() -> None:
    picture = pixels(draw_slice(halves(), SURE, NAMES))
    for a, colour in ((-0.9, drawing.PALETTE[0]), (0.9, drawing.PALETTE[1])):
        full = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
        drawn = at(picture, a, 0.8)[0, 0]
        np.testing.assert_allclose(drawn, 255 - 0.7 * (255 - full), atol=2)
    half = replace(halves(), shares=0.5 * halves().shares)
    pale = at(pixels(draw_slice(half, SURE, NAMES)), 0.9, 0.8)
    assert (pale >= at(picture, 0.9, 0.8)).all()
    assert pale.sum() > at(picture, 0.9, 0.8).sum()


@pytest.mark.parametrize("turn", [0.3, 2.0, 3.5, 5.0])
def test_circles_run_at_their_radii(turn: float) -> None:
    picture = pixels(draw_slice(halves(), SURE, NAMES))
    for centre, radius in (((0.0, 0.0), 0.5), ((0.2, 0.1), 0.6)):
        near = [
            at(picture, centre[0] + r * np.cos(t), centre[1] + r * np.sin(t), 1).sum(2).min()
            for r in (radius,)
            for t in turn + np.linspace(0, 0.08, 6)
        ]
        assert min(near) < 250  # dashes have gaps, so the darkest of a short arc
    assert at(picture, 0.4 * np.cos(2.0), 0.4 * np.sin(2.0), 1).sum(2).min() > 250


def test_beyond_the_domain_is_veiled_and_the_circle_thin() -> None:
    inside, outside = (pixels(draw_slice(halves(domain=domain), SURE, NAMES)) for domain in (False, True))
    np.testing.assert_array_equal(at(inside, -0.9, -0.8, 4), at(outside, -0.9, -0.8, 4))
    assert at(outside, -0.9, 0.8, 4).max() > at(inside, -0.9, 0.8, 4).max()
    shades = [len(np.unique(at(picture, -0.9, 0.8, 12).reshape(-1, 3), axis=0)) for picture in (inside, outside)]
    assert shades[0] == 1 < shades[1]  # plain against hatched

    def dark(picture: Pixels, b: float) -> int:
        return int((at(picture, 0.0, b, 8).sum(2) < 200).sum())

    assert dark(outside, -0.5) == dark(inside, -0.5)
    assert dark(outside, 0.5) < 0.6 * dark(inside, 0.5)


@pytest.mark.parametrize(
    ("shape", "images"), [((1, 8, 8), True), ((3, 5, 7), True), ((64,), False), ((4, 2, 2), False)]
)
def test_images_stand_around_images_only(shape: tuple[int, ...], images: bool) -> None:
    picture = pixels(draw_slice(halves(shape), SURE, NAMES))
    margin = picture[:, : int(1.2 / insets.WIDTH * picture.shape[1])]
    rows = margin[int(0.1 * len(margin)) : int(0.85 * len(margin))]
    assert bool((rows < 250).any()) == images
    coloured = (rows.max(2) - rows.min(2)).max() > 30
    assert bool(coloured) == (shape[0] == 3)


def test_the_words_say_what_is_estimated_and_what_is_guaranteed() -> None:
    words = caption(halves(domain=True), SURE)
    assert "most of 100 noisy copies get, at 21 x 21 points" in words
    assert "An estimate without a guarantee." in words
    assert "radius 0.500000 by cohen, protocol sound; it holds with probability at least 1 - alpha" in words
    assert "alpha 0.001" in words
    assert "outside the domain" in words
    assert "outside the domain" not in caption(halves(), SURE)
    assert title(SURE, NAMES) == "Input 7: predicted left, certified within 0.500"


def test_radii_are_rounded_down() -> None:
    nearly = SURE.model_copy(update={"radius": 0.499999})
    assert title(nearly, NAMES).endswith("certified within 0.499")
    assert "radius 0.499999 by" in caption(halves(), nearly)
    assert title(SURE.model_copy(update={"radius": 0.087}), NAMES).endswith("0.087")


def test_paper_numbers_are_marked_and_drawn_broken() -> None:
    paper = SURE.model_copy(update={"guarantee": Guarantee.NONE, "protocol": "paper"})
    assert title(paper, NAMES) == "Input 7: predicted left, certified within 0.500 (not guaranteed)"
    assert "it is not a guarantee at any level" in caption(halves(), paper)
    solid, broken = (pixels(draw_slice(halves(), record, NAMES)) for record in (SURE, paper))
    arc = [(0.5 * np.cos(t), 0.5 * np.sin(t)) for t in np.linspace(3.6, 4.4, 60)]
    assert max(at(solid, *place).sum() for place in arc) < 250
    assert max(at(broken, *place).sum() for place in arc) > 300


def test_wrong_abstained_and_unlabelled_inputs() -> None:
    wrong = SURE.model_copy(update={"label": 1})
    assert title(wrong, NAMES) == "Input 7: predicted left, labelled right, certified within 0.500"
    assert title(SURE.model_copy(update={"label": None}), NAMES) == "Input 7: predicted left, certified within 0.500"
    abstained = Record.of(certificate(index=7, radius=0.0, prediction=ABSTAIN, label=1))
    assert title(abstained, NAMES) == "Input 7: abstained, labelled right"
    assert "No radius is certified." in caption(halves(), abstained)
    assert draw_slice(halves(), abstained, NAMES)


def test_any_class_names_and_numbers_of_classes() -> None:
    rng = np.random.default_rng(0)
    many = replace(halves(), shares=rng.dirichlet(np.full(40, 0.1), (21, 21)))
    names = ["$\\frac{", "a\nb", "<script>", "x" * 300, *(f"class {number}" for number in range(36))]
    assert len(draw_slice(many, SURE, names)) > 10_000


def test_a_domain_that_the_plane_only_touches() -> None:
    touched = replace(halves(), domain=np.zeros((0, 2)))
    assert len(draw_slice(touched, SURE, NAMES)) > 10_000


def test_the_same_slice_gives_the_same_file() -> None:
    assert draw_slice(halves(), SURE, NAMES) == draw_slice(halves(), SURE, NAMES)


def test_a_profile_makes_the_picture_wider_and_leaves_the_plane_as_it_is() -> None:
    plain, beside = (pixels(draw_slice(found, SURE, NAMES)) for found in (halves(), replace(halves(), profile=PROFILE)))
    assert beside.shape[1] == round(plain.shape[1] * (1 + ROOM / insets.WIDTH))
    inner = slice(int(0.24 * plain.shape[1]), int(0.76 * plain.shape[1]))
    rows = slice(int(0.1 * len(plain)), int(0.8 * len(plain)))
    np.testing.assert_array_equal(plain[rows, inner], beside[rows, inner])
    assert beside[:, plain.shape[1] :].std() > 20
    assert "certify draws by their place on the line" in caption(replace(halves(), profile=PROFILE), SURE)
