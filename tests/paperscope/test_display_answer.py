"""Answers as JSON, HTML and text; untrusted text is escaped."""

import base64
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope.display import to_html
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import UnknownCropError, UnknownElementError
from paperscope_core.types import (
    TOOLS,
    Answer,
    Box,
    Cell,
    Check,
    CitedCell,
    Claim,
    Context,
    ContextSource,
    Element,
    Evidence,
    Exhibit,
    Finding,
    ImageFinding,
    PaperEntry,
    PaperImages,
    Passage,
    Place,
    StageTime,
    Table,
    ToolCall,
    UnreadImage,
    Usage,
)
from tests.html_checker import HOSTILE_TEXT, check_html

HERE = Place(paper="aaaa", page=3, box=Box(1, 2, 3, 4))
FILE = "a file <b>.pdf"
PNG = b"\x89PNG crop"


def cell(row: int, column: int, text: str) -> Cell:
    return Cell(row=row, column=column, text=text, place=Place(paper="aaaa", page=3, box=Box(row, column, 9, 9)))


TABLE = Table(
    id="aaaa/table-1",
    place=HERE,
    order=1,
    cells=(cell(0, 0, "Dice"), cell(0, 1, "95.43"), cell(1, 0, "Plain"), cell(1, 1, "94.90")),
    label="Table 1",
    caption="F1 of the taggers.",
    crop="crop-1",
)


def answer(text: str = "0.53") -> Answer:
    evidence = Evidence(element=TABLE.id, place=TABLE.cells[1].place, quote="95.43")
    cited = CitedCell(cell=TABLE.cells[1], row="Dice", column="F1")
    return Answer(
        question=f"By how much? {text}",
        status="answered",
        text=text,
        claims=(Claim(text=text, evidence=(evidence,)), Claim(text="Nothing.")),
        context=Context(sources=(ContextSource(id=0, content=text, element=TABLE.id, place=HERE),)),
        readings=(
            ImageFinding(element="aaaa/figure-1", crop="crop-2", place=HERE, text=text, relevant=True),
            UnreadImage(element="aaaa/figure-2", crop="crop-3", place=HERE, reason=text),
        ),
        exhibits=(
            Exhibit(
                element=TABLE.id,
                kind="table",
                place=HERE,
                label="Table 1",
                caption=text,
                crops=("crop-1",),
                cells=(cited,),
            ),
            Exhibit(
                element="aaaa/equation-1", kind="equation", place=HERE, caption=text, latex=rf"\frac{{a}}{{b}}{text}"
            ),
        ),
        model=text,
        usage=Usage(calls=2, prompt_tokens=10, completion_tokens=3, cost=0.5),
        seconds=1.5,
        stages=(StageTime(stage="answering", seconds=1.25),),
        checks=(Check(number="0.53", finding="computed", formula=f"95.43 − 94.90 = 0.53{text}", support=(evidence,)),),
        findings=(Finding(kind="note", message=text),),
        confidence=0.5,
    )


class Shelf:
    """A holder of some crops and elements."""

    def __init__(self, crops: dict[str, bytes], *elements: Element) -> None:
        self._crops = crops
        self._elements = {element.id: element for element in elements}

    def crop(self, crop: str) -> bytes:
        if crop not in self._crops:
            raise UnknownCropError(crop)
        return self._crops[crop]

    def element(self, element: str) -> Element:
        if element not in self._elements:
            raise UnknownElementError(element)
        return self._elements[element]

    def entries(self) -> Sequence[PaperEntry]:
        return [PaperEntry(id="aaaa", title="", file=FILE, source="", sha256="", embedder="", revision=1)]

    def images(self, paper: str) -> PaperImages:
        return PaperImages()


def views(shown: Answer) -> list[str]:
    return [shown._repr_html_(), to_html(shown, Shelf({"crop-1": PNG}, TABLE))]


st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(ToolCall, st.builds(ToolCall, tool=st.sampled_from(TOOLS), part=st.integers(min_value=1)))


@pytest.mark.slow
@given(st.from_type(Answer))
@settings(max_examples=20, deadline=None)
def test_an_answer_reads_back_equal_and_can_be_shown(shown: Answer) -> None:
    assert from_json(Answer, to_json(shown)) == shown
    check_html(shown._repr_html_())


def test_untrusted_text_of_an_answer_is_escaped() -> None:
    evil = answer(HOSTILE_TEXT)
    assert from_json(Answer, to_json(evil)) == evil
    for html in views(evil):
        # Question, text, claim, finding, caption, LaTeX, formula, two readings, context, model.
        assert check_html(html).text.count(HOSTILE_TEXT) >= 11


def test_the_view_shows_the_crop_and_the_whole_table_with_the_cited_cell_marked() -> None:
    without, whole = views(answer())
    assert base64.b64encode(PNG).decode() in whole
    assert "<mark>95.43</mark>" in whole
    assert "<td>94.90</td>" in whole
    assert "data:image" not in without
    assert "<th>Dice</th><th>F1</th><td><mark>95.43</mark></td>" in without
    assert "Table 1, page 3 of aaaa" in check_html(without).text
    assert f"Table 1, page 3 of {FILE}" in check_html(whole).text
    for html in (without, whole):
        for expected in (
            "95.43 − 94.90 = 0.53",
            "no evidence",
            "answering 1.2 s",
            "2 model calls",
        ):
            assert expected in check_html(html).text


def test_missing_crops_and_tables_are_shown_as_text() -> None:
    html = to_html(answer(), Shelf({}, Passage(id=TABLE.id, place=HERE, order=1, text="x")))
    assert "<mark>95.43</mark>" in html
    assert "<img" not in html


@pytest.mark.parametrize(("status", "said"), [("answered", False), ("unanswerable", True)])
def test_that_the_papers_do_not_say_is_said(status: str, *, said: bool) -> None:
    shown = replace(answer(), status="unanswerable" if status == "unanswerable" else "answered")
    assert ("The papers do not say." in shown._repr_html_()) == said
