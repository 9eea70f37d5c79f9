"""Pictures of the kinds that classifiers get are opened; too large, damaged or of other kinds they are an error."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from doublebubble.data.pictures import open_picture
from doublebubble.errors import DataError

PIXELS = np.random.default_rng(3).integers(0, 256, (5, 4, 3), dtype=np.uint8)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "PPM"])
def test_kinds_without_loss_come_back_exactly(kind: str, tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "x", kind)
    assert np.array_equal(np.asarray(open_picture(tmp_path / "x")), PIXELS)


@pytest.mark.parametrize("factor", [1.5, 3.0], ids=["a warning of PIL", "an error of PIL"])
def test_more_pixels_than_pil_holds_safe_are_an_error(
    factor: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "x.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", int(20 / factor))
    with pytest.raises(DataError, match=r"x.png: expected at most \d+ pixels in a picture"):
        open_picture(tmp_path / "x.png")


def test_a_picture_that_claims_to_be_huge_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    (tmp_path / "x.ppm").write_bytes(b"P6 60000 60000 255\n" + bytes(100))
    with pytest.raises(DataError, match="expected at most"):
        open_picture(tmp_path / "x.ppm")


def test_kinds_that_start_other_programs_are_not_tried(tmp_path: Path) -> None:
    content = io.BytesIO()
    Image.fromarray(PIXELS).save(content, "EPS")  # its reader would call Ghostscript
    (tmp_path / "x.png").write_bytes(content.getvalue())
    with pytest.raises(DataError, match=r"x.png: cannot be read as an image \(UnidentifiedImageError"):
        open_picture(tmp_path / "x.png")


def test_a_file_cut_short_is_an_error(tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "x.png")
    whole = (tmp_path / "x.png").read_bytes()
    for length in range(41):
        (tmp_path / "x.png").write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"x.png: cannot be read as an image"):
            open_picture(tmp_path / "x.png")
