"""A picture that `doublebubble picture` or the demo drew, without its caption, which a page has in larger letters.

python -m docs.bare_picture RUN/pictures/32.png docs/images/six.png
"""

import sys
from pathlib import Path

from PIL import Image

from doublebubble.report.insets import CAPTION, HEIGHT


def bare(drawn: Path, out: Path) -> None:
    """Save what lies above the caption."""
    with Image.open(drawn) as picture:
        width, height = picture.size
        picture.crop((0, 0, width, height - round(CAPTION / HEIGHT * height))).save(out, optimize=True)


if __name__ == "__main__":
    bare(Path(sys.argv[1]), Path(sys.argv[2]))
