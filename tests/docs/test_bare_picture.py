"""Without its caption a picture keeps everything else."""

from pathlib import Path

from docs.bare_picture import bare
from doublebubble.report.slice_figure import draw_slice
from tests.report.test_slice_figure import NAMES, SURE, halves, pixels


def test_only_the_caption_is_cut_off(tmp_path: Path) -> None:
    whole = draw_slice(halves(), SURE, NAMES)
    (tmp_path / "drawn.png").write_bytes(whole)
    bare(tmp_path / "drawn.png", tmp_path / "bare.png")
    left, all_of_it = pixels((tmp_path / "bare.png").read_bytes()), pixels(whole)
    cut = all_of_it[len(left) :]
    assert (left == all_of_it[: len(left)]).all()
    assert (left[-3:] == 255).all()  # a blank strip parts the axes from the caption
    assert (cut < 128).any()
    assert (cut[:, : cut.shape[1] // 30] == 255).all()
