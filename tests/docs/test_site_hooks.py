"""Pages of the site are called by their titles, not by the names of their files."""

from docs.site_hooks import titled

TITLES = {"math.md": "Mathematics", "SECURITY.md": "Security"}


def test_a_link_that_names_a_file_gets_the_title_of_its_page() -> None:
    assert titled("see [math.md](math.md#d1), D1", TITLES) == "see [Mathematics](math.md#d1), D1"
    assert titled("[docs/math.md](math.md)", TITLES) == "[Mathematics](math.md)"
    assert titled("[SECURITY.md](SECURITY.md)", TITLES) == "[Security](SECURITY.md)"


def test_other_words_are_left_alone() -> None:
    for text in ("[the proof](math.md)", "`math.md`", "[unknown.md](unknown.md)", "[math.md] alone"):
        assert titled(text, TITLES) == text
