"""Pages of the site are called by their titles; figures open by a click; options are not broken in two."""

from docs.site_hooks import opened, titled, whole_options

TITLES = {"math.md": "Mathematics", "SECURITY.md": "Security"}


def test_a_link_that_names_a_file_gets_the_title_of_its_page() -> None:
    assert titled("see [math.md](math.md#d1), D1", TITLES) == "see [Mathematics](math.md#d1), D1"
    assert titled("[docs/math.md](math.md)", TITLES) == "[Mathematics](math.md)"
    assert titled("[SECURITY.md](SECURITY.md)", TITLES) == "[Security](SECURITY.md)"


def test_other_words_are_left_alone() -> None:
    for text in ("[the proof](math.md)", "`math.md`", "[unknown.md](unknown.md)", "[math.md] alone"):
        assert titled(text, TITLES) == text


def test_images_that_are_files_lead_to_their_files() -> None:
    image = '<img alt="A six" src="images/six.png" width="640" />'
    assert opened(f"<p>{image}</p>") == f'<p><a href="images/six.png">{image}</a></p>'
    linked = f'<a href="other.html">{image}</a>'
    for text in (linked, '<img alt="x" src="data:image/png;base64,AA" />', "<p>none</p>"):
        assert opened(text) == text


def test_options_in_a_line_of_code_are_marked_and_nothing_else() -> None:
    assert whole_options("<code>certify --save-config run.toml</code>") == (
        '<code>certify <span class="option">--save-config</span> run.toml</code>'
    )
    for text in ("<p>--help</p>", "<code>a-b</code>", "<code>1 - alpha</code>", "<code>n<b>--x</b></code>"):
        assert whole_options(text) == text
