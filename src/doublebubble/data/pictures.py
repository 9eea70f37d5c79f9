"""Opens one picture from anywhere: of a few kinds, of a bounded size, or an error. May import only errors and files.

A file is what its content says, whatever its name: some kinds that the reader knows would start other programs, so only
those that images for classifiers come in are tried.
"""

import io
import warnings
from pathlib import Path

from PIL import Image

from doublebubble.errors import DataError
from doublebubble.files import read_plain

_KINDS = ("PNG", "JPEG", "BMP", "PPM", "WEBP")


def open_picture(path: Path) -> Image.Image:
    """The picture, decoded whole. More pixels than PIL holds safe, a file cut short and any other damage are errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(read_plain(path)), formats=_KINDS)
            picture.load()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: expected at most {Image.MAX_IMAGE_PIXELS} pixels in a picture ({error})") from error
    except Exception as error:  # decoders raise whatever they meet
        raise DataError(f"{path}: cannot be read as an image ({type(error).__name__}: {error})") from error
    return picture
