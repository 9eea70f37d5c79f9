import html
import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from doublebubble.report.page.markup import data_block, element, joined

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


@given(TEXT, TEXT)
def test_text_and_attributes_come_back_and_make_no_element(text: str, value: str) -> None:
    found = read(element("p", text, title=value))
    assert found.tags == [("p", {"title": value})]
    assert found.text == text


@given(TEXT)
def test_data_come_back_and_hold_nothing_that_html_reads(text: str) -> None:
    block = data_block("x", {text: [text, 1.5]})
    inside = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert json.loads(inside) == {text: [text, 1.5]}
    assert not set("<>&\u2028\u2029") & set(inside)


def test_elements_nest_and_plain_text_does_not_become_one() -> None:
    inner = element("b", "<i>")
    assert element("p", inner, " & ", "<i>") == "<p><b>&lt;i&gt;</b> &amp; &lt;i&gt;</p>"
    assert joined("<", inner) == "&lt;" + inner
    assert html.unescape(element("p", "<p>")[3:-4]) == "<p>"


def test_attributes_named_like_python_words() -> None:
    assert (
        element("p", class_="a", aria_label="b", hidden=True, inert=False) == '<p class="a" aria-label="b" hidden></p>'
    )
