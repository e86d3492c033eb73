"""Papers, elements and contexts as HTML and text; untrusted text is escaped."""

import base64
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope.display import to_html, view
from paperscope.html_blocks import NoContent
from paperscope.library import AddResult
from paperscope_core.errors import UnknownCropError, UnknownElementError
from paperscope_core.types import (
    Box,
    Cell,
    Context,
    ContextEntity,
    ContextImage,
    ContextRelation,
    ContextSource,
    Displayable,
    Element,
    Equation,
    Figure,
    ImageDescription,
    Page,
    PageProblem,
    Paper,
    PaperEntry,
    PaperImages,
    Passage,
    Place,
    Reference,
    Section,
    Table,
    ToolCall,
    ToolItem,
    ToolResult,
)
from tests.html_checker import HOSTILE_TEXT, check_html

HERE = Place(paper="aaaa", page=3, box=Box(1, 2, 30, 40))
FILE = "a file <b>.pdf"
PNG = b"\x89PNG crop"


def elements(text: str) -> tuple[Element, ...]:
    cells = (Cell(row=0, column=0, text=text, place=HERE), Cell(row=0, column=1, text="95.43", place=HERE))
    return (
        Passage(id="aaaa/passage-1", place=HERE, order=1, text=text),
        Table(id="aaaa/table-1", place=HERE, order=2, cells=cells, label="Table 1", caption=text, crop="one"),
        Figure(id="aaaa/figure-1", place=HERE, order=3, label="Figure 1", caption=text, text=text, crop="one"),
        Equation(id="aaaa/equation-1", place=HERE, order=4, label=text, text=text, crop="one"),
        Reference(id="aaaa/reference-1", place=HERE, order=5, text=text),
    )


def paper(text: str) -> Paper:
    return Paper(
        id="aaaa",
        title=text,
        authors=(text,),
        sha256="0",
        file=text,
        pages=(Page(number=1, width=600, height=800),),
        sections=(Section(id="aaaa/section-1", number="1", title=text, level=1, path=text),),
        elements=elements(text),
        problems=(PageProblem(page=7, reason=text),),
    )


def context(text: str) -> Context:
    return Context(
        entities=(ContextEntity(id=0, entity=text, type=text, description=text, rank=3, places=(HERE,)),),
        relations=(ContextRelation(id=0, source=text, target=text, description=text, weight=1.0, rank=2),),
        sources=(ContextSource(id=0, content=text, element="aaaa/table-1", place=HERE),),
        images=(ContextImage(id=0, element="x", label=text, caption=text, crop="one", place=HERE),),
    )


class Shelf:
    """A holder with one crop, and what a model saw in each picture."""

    def __init__(self, words: str) -> None:
        self._words = words

    def crop(self, crop: str) -> bytes:
        if crop != "one":
            raise UnknownCropError(crop)
        return PNG

    def element(self, element: str) -> Element:
        raise UnknownElementError(element)

    def entries(self) -> Sequence[PaperEntry]:
        return [PaperEntry(id="aaaa", title="", file=FILE, source="", sha256="", embedder="", revision=1)]

    def images(self, paper: str) -> PaperImages:
        seen = ImageDescription(
            element="aaaa/figure-1", crop="one", place=HERE, picture="plot", text=self._words, latex=self._words
        )
        return PaperImages(reader="a model", readings=(seen,))


def everything(text: str) -> tuple[Displayable, ...]:
    return (*elements(text), paper(text), context(text), found(text))


def found(text: str) -> ToolResult:
    """What a tool found, of which there is a second part."""
    item = ToolItem(kind="figure", paper="aaaa", title=text, label=text, text=text, places=(HERE,), crop="one")
    return ToolResult(call=ToolCall(tool="element", argument=text), items=(item,), parts=2)


def plain(value: object) -> str:
    """What IPython prints of a value."""
    from IPython.lib.pretty import pretty

    return str(pretty(value))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("value", everything(HOSTILE_TEXT), ids=lambda value: type(value).__name__)
def test_untrusted_text_is_escaped(value: Displayable) -> None:
    for html in (value._repr_html_(), to_html(value, Shelf(HOSTILE_TEXT))):
        assert HOSTILE_TEXT in check_html(html).text
        assert check_html(html).tags.isdisjoint({"script", "a", "iframe", "link"})


def test_untrusted_text_is_escaped_in_a_list_and_after_adding() -> None:
    evil = paper(HOSTILE_TEXT)
    assert check_html(view([evil, evil], NoContent()).html).text.count(HOSTILE_TEXT) >= 8
    assert HOSTILE_TEXT in check_html(AddResult(paper=evil, outcome="added")._repr_html_()).text


@given(st.one_of(*(st.from_type(kind) for kind in (Passage, Figure, Equation, Reference, Context))))
@settings(max_examples=25, deadline=None)
def test_whatever_was_read_can_be_shown(value: Displayable) -> None:
    check_html(to_html(value, Shelf("seen")))
    assert plain(value) == str(value)


def test_a_paper_says_what_was_read_and_what_was_not() -> None:
    shown = check_html(paper("A title")._repr_html_()).text
    for expected in (
        "1 page, 1 passage, 1 table, 1 figure, 1 equation, 1 reference",
        "page 7: A title",
        "Table 1",
        "aaaa",
    ):
        assert expected in shown
    assert str(paper("A title")) == ("A title (A title): 1 page, 1 passage, 1 table, 1 figure, 1 equation, 1 reference")


def test_a_list_of_papers_is_a_table_and_of_elements_one_after_another() -> None:
    listed = check_html(view([paper("One"), replace(paper("Two"), problems=())], NoContent()).html)
    assert "table" in listed.tags
    for expected in ("One", "Two", "page 7: One", "none", "1 page, 1 passage"):
        assert expected in listed.text
    assert check_html(view(elements("Words"), NoContent()).html).text.count("Words") >= 5
    assert "No papers." in check_html(view([], NoContent()).html).text


def test_a_float_is_shown_with_its_picture_where_somebody_holds_it() -> None:
    picture = base64.b64encode(PNG).decode()
    for element in elements("Words")[1:4]:
        assert picture in to_html(element, Shelf("seen"))
        assert "<img" not in element._repr_html_()
    _, table, figure, equation, _ = elements("Words")
    assert "95.43" in check_html(to_html(table)).text
    assert "Words" in check_html(to_html(equation)).text
    assert "What a vision model saw" in check_html(to_html(figure, Shelf("a rising line"))).text
    assert "a rising line" in check_html(to_html(figure, Shelf("a rising line"))).text
    assert "What a vision model saw" not in check_html(to_html(table, Shelf("a rising line"))).text


def test_what_a_tool_found_is_shown_with_its_picture() -> None:
    shown = to_html(found("Words"), Shelf("seen"))
    assert base64.b64encode(PNG).decode() in shown
    assert "Part 1 of 2" in check_html(shown).text
    assert "Words, Words, page" in str(found("Words"))
    nothing = ToolResult(call=ToolCall(tool="papers", argument="tea"), message="no paper has words of 'tea'")
    assert "no paper has words" in check_html(to_html(nothing)).text


def test_a_float_with_a_missing_crop_is_shown_as_text() -> None:
    lost = Figure(id="x", place=HERE, order=1, label="Figure 1", caption="Words", crop="another")
    html = to_html(lost, Shelf("seen"))
    assert "<img" not in html
    assert "Figure 1: Words" in check_html(html).text


def test_a_context_is_four_tables_with_readable_places() -> None:
    shown = check_html(context("Words")._repr_html_())
    for expected in ("1 sources, 1 entities, 1 relationships, 1 images", "page 3 of aaaa", "table-1", "rank"):
        assert expected in shown.text
    assert "No papers." not in shown.text
    assert f"page 3 of {FILE}" in check_html(to_html(context("Words"), Shelf("seen"))).text
    empty = check_html(Context()._repr_html_())
    assert "table" not in empty.tags


def test_plain_text_is_short() -> None:
    for value in everything("Words"):
        assert len(plain(value)) < 120, value
    assert plain(list(elements("Words"))).count("page 3") == 5
