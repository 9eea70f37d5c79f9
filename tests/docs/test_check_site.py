"""The check of the built site finds what is planted, and the site itself has nothing to find."""

import subprocess
import sys
from pathlib import Path

import pytest

from docs.check_site import main, problems

ROOT = Path(__file__).parents[2]


def site(folder: Path, body: str) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text(f"<html><body id='top'>{body}</body></html>")
    (folder / "sub" / "index.html").write_text("<html><a href='../index.html#top'>up</a><p id='here'></p></html>")
    return folder


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<a href='gone.html'>x</a>", "index.html: gone.html leads nowhere"),
        ("<a href='sub/index.html#gone'>x</a>", "index.html: sub/index.html#gone leads nowhere"),
        ("<a href='#gone'>x</a>", "index.html: #gone leads nowhere"),
        ("<img src='gone.png'>", "index.html: gone.png leads nowhere"),
        ("<script src='https://cdn.example/a.js'></script>", "index.html: loads https://cdn.example/a.js"),
        ("<link rel='stylesheet' href='//fonts.example/a.css'>", "index.html: loads //fonts.example/a.css"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, body: str, said: str) -> None:
    assert problems(site(tmp_path / "site", body)) == [said]
    with pytest.raises(SystemExit) as exit_:
        main([str(tmp_path / "site")])
    assert exit_.value.code == 1


def test_what_is_right_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "<a href='sub/#here'>x</a><a href='https://elsewhere.example'>y</a><a href='#top'>z</a>"
    main([str(site(tmp_path / "site", good))])
    assert capsys.readouterr().out.startswith("2 pages, every link leads somewhere")
    (tmp_path / "site" / "a.css").write_text("@font-face { src: url(https://fonts.example/a.woff) }")
    assert problems(tmp_path / "site") == ["a.css: loads from a network"]


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert problems(tmp_path / "site") == []
    assert "What n can reach at most" in (tmp_path / "site" / "tutorials" / "sigma_and_n.html").read_text()
