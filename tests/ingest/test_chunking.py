from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunking import chunk_paper
from ingest.document.element_text import element_text
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Figure,
    Paper,
    Passage,
    PassageRole,
    Place,
    Reference,
    Section,
    Table,
)

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


def paper_of(*elements: Element) -> Paper:
    return Paper(
        id="p", title="", authors=(), sha256="", file="p.pdf", pages=(), sections=(), elements=elements, links=()
    )


def passage(order: int, text: str, *, role: PassageRole = "paragraph", section: str = "1 A") -> Passage:
    return Passage(id=f"p/passage-{order}", place=PLACE, order=order, text=text, role=role, section=section)


def cell(row: int, column: int, text: str, *, width: int = 1, head: bool = False) -> Cell:
    role = "column_header" if row < 2 else "row_header" if head else "value"
    return Cell(row=row, column=column, text=text, place=PLACE, column_span=width, role=role)  # type: ignore[arg-type]


def results_table(order: int = 5) -> Table:
    cells = (
        cell(0, 1, "CTB5", width=2),
        cell(1, 0, "Model"),
        cell(1, 1, "Prec."),
        cell(1, 2, "F1"),
        cell(2, 0, "BERT", head=True),
        cell(2, 1, "91.2"),
        cell(2, 2, "90.7"),
    )
    return Table(
        id="p/table-1",
        place=PLACE,
        order=order,
        cells=cells,
        header_rows=2,
        label="Table 1",
        caption="Table 1: Tagging.",
        section="1 A",
    )


def words(count: int, *, start: int = 0) -> str:
    return " ".join(f"w{start + number}" for number in range(count)) + "."


def test_a_table_is_one_chunk_with_its_title_first_and_columns_named_with_their_group() -> None:
    (chunk,) = chunk_paper(paper_of(results_table()), max_words=5)
    assert chunk.text.splitlines() == [
        "Table 1: Tagging.",
        "Columns: Model | CTB5 Prec. | CTB5 F1",
        "BERT | CTB5 Prec.: 91.2 | CTB5 F1: 90.7",
    ]
    assert chunk.elements == ("p/table-1",)


def test_a_section_row_qualifies_the_rows_below_it() -> None:
    cells = (
        Cell(row=0, column=0, text="English", place=PLACE, column_span=2, role="section"),
        Cell(row=1, column=0, text="BERT", place=PLACE, role="row_header"),
        Cell(row=1, column=1, text="1", place=PLACE),
    )
    table = Table(id="p/table-1", place=PLACE, order=1, cells=cells)
    assert element_text(table).splitlines() == ["English", "English BERT | 1"]


def test_a_header_that_is_printed_again_is_no_row() -> None:
    table = results_table()
    again = Cell(row=3, column=0, text="Model", place=PLACE, role="column_header")
    assert element_text(replace(table, cells=(*table.cells, again))) == element_text(table)


def test_a_chunk_stands_where_its_first_passage_or_its_float_stands() -> None:
    def at(page: int) -> Place:
        return replace(PLACE, page=page)

    heading = replace(passage(1, "1 A", role="heading"), place=at(1))
    text = replace(passage(2, "A sentence leads to the formula."), place=at(2))
    equation = Equation(id="p/equation-1", place=at(3), order=3, text="x = 1", section="1 A")
    places = [chunk.place.page for chunk in chunk_paper(paper_of(heading, text, equation))]
    assert places == [2, 3]


def test_paragraphs_of_a_section_are_packed_across_a_float_but_not_over_the_section() -> None:
    paper = paper_of(
        passage(1, "1 A", role="heading"),
        passage(2, words(10)),
        results_table(3),
        passage(4, words(10)),
        passage(5, words(10), section="2 B"),
    )
    chunks = chunk_paper(paper, max_words=30)
    assert [chunk.elements for chunk in chunks] == [
        ("p/passage-1", "p/passage-2", "p/passage-4"),
        ("p/table-1",),
        ("p/passage-5",),
    ]
    assert [chunk.id for chunk in chunks] == ["p/chunk-1", "p/chunk-2", "p/chunk-3"]


def test_a_long_paragraph_is_split_at_sentence_ends() -> None:
    sentences = [words(8, start=10 * number).capitalize() for number in range(5)]
    chunks = chunk_paper(paper_of(passage(1, " ".join(sentences))), max_words=20)
    assert [chunk.text for chunk in chunks] == [
        " ".join(sentences[:2]),
        " ".join(sentences[2:4]),
        sentences[4],
    ]


def test_an_equation_stands_with_the_sentences_that_explain_it() -> None:
    equation = Equation(id="p/equation-1", place=PLACE, order=2, text="a = b", label="Equation 1", section="1 A")
    before = passage(1, "Something else. The loss is defined as")
    after = passage(3, "where b is a weight. Another matter.")
    chunks = chunk_paper(paper_of(before, equation, after))
    texts = {chunk.text for chunk in chunks}
    assert "The loss is defined as\nEquation 1: a = b\nwhere b is a weight." in texts


def test_references_and_footnotes_and_title_are_packed_apart_and_furniture_is_left_out() -> None:
    paper = paper_of(
        passage(1, "A Title", role="title", section=""),
        passage(2, "Ann Author", role="authors", section=""),
        passage(3, "Text of the abstract.", role="abstract", section=""),
        passage(4, "Page 1 of 9", role="furniture", section=""),
        passage(5, "A footnote.", role="footnote", section=""),
        passage(6, "More text.", section=""),
        Reference(id="p/reference-1", place=PLACE, order=7, text="Lin. 2018. Focal loss.", label="[1]"),
        Reference(id="p/reference-2", place=PLACE, order=8, text="[2] Li. 2020. Dice loss.", label="[2]"),
    )
    assert [chunk.text for chunk in chunk_paper(paper)] == [
        "A Title\nAnn Author",
        "Text of the abstract.\nMore text.",
        "A footnote.",
        "[1] Lin. 2018. Focal loss.\n[2] Li. 2020. Dice loss.",
    ]


def test_a_heading_without_text_of_its_own_makes_no_chunk() -> None:
    heading = passage(1, "1 A", role="heading")
    (chunk,) = chunk_paper(paper_of(heading, passage(2, "Text.", section="1 A > 1.1 B")))
    assert chunk.elements == ("p/passage-2",)


def test_a_chunk_names_its_section_by_its_path() -> None:
    paper = paper_of(passage(1, "Text.", section="p/section-1"))
    section = Section(id="p/section-1", number="1.1", title="B", level=2, path="1 A > 1.1 B")
    (chunk,) = chunk_paper(replace(paper, sections=(section,)))
    assert chunk.section == "1 A > 1.1 B"


def test_a_split_paragraph_leaves_no_short_tail() -> None:
    sentences = [words(6, start=10 * number).capitalize() for number in range(4)]
    chunks = chunk_paper(paper_of(passage(1, " ".join(sentences))), max_words=20)
    assert [len(chunk.text.split()) for chunk in chunks] == [12, 12]


def test_a_wrong_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="not 0"):
        chunk_paper(paper_of(), max_words=0)


@st.composite
def papers(draw: st.DrawFn) -> Paper:
    elements: list[Element] = []
    for order in range(1, draw(st.integers(0, 12)) + 1):
        section = draw(st.sampled_from(["1 A", "2 B"]))
        text = draw(st.text(alphabet="ab .C\n", max_size=60))
        match draw(st.integers(0, 5)):
            case 0:
                elements.append(Figure(id=f"p/figure-{order}", place=PLACE, order=order, caption=text, section=section))
            case 1:
                elements.append(Equation(id=f"p/equation-{order}", place=PLACE, order=order, text="x", section=section))
            case 2:
                elements.append(passage(order, text, role="footnote", section=section))
            case _:
                elements.append(passage(order, text, section=section))
    return paper_of(*elements)


@given(papers(), st.integers(1, 15))
def test_chunks_hold_every_word_once_within_one_section_and_limit(paper: Paper, limit: int) -> None:
    chunks = chunk_paper(paper, max_words=limit)
    by_id = {element.id: element for element in paper.elements}
    packed: Counter[str] = Counter()
    for number, chunk in enumerate(chunks, start=1):
        assert chunk.id == f"p/chunk-{number}"
        assert {by_id[element].section for element in chunk.elements} == {chunk.section}
        if all(by_id[element].kind == "passage" for element in chunk.elements):
            packed.update(chunk.text.split())
            assert len(chunk.text.split()) <= limit
    assert packed == Counter(
        word for element in paper.elements if isinstance(element, Passage) for word in element.text.split()
    )
    floats = {element.id for element in paper.elements if element.kind != "passage" and element_text(element).strip()}
    assert floats == {element for chunk in chunks for element in chunk.elements if "passage" not in element}
    assert chunks == chunk_paper(paper, max_words=limit)


SECTIONS = (
    Section(id="s1", number="4", title="Results", level=1, path="4 Results"),
    Section(id="s2", number="4.2", title="KLUE", level=2, path="4 Results > 4.2 KLUE"),
)


def placed(*elements: Element) -> Paper:
    return replace(paper_of(*elements), sections=SECTIONS, title="A report")


@pytest.mark.parametrize(
    ("caption", "section", "heading"),
    [
        ("", "s2", "4 Results > 4.2 KLUE"),
        ("Table 1", "s2", "4 Results > 4.2 KLUE"),
        ("Table 1: Results.", "s2", "4 Results > 4.2 KLUE"),
        ("Table 1: Entity F1 of each ensemble.", "s2", ""),
        ("", "", "A report"),
    ],
)
def test_a_table_without_a_telling_caption_is_searched_by_its_section(caption: str, section: str, heading: str) -> None:
    (chunk,) = chunk_paper(placed(replace(results_table(), caption=caption, section=section)))
    assert chunk.heading == heading
    assert chunk.searched == "\n".join(filter(None, (heading, chunk.text)))
    assert "KLUE" not in chunk.shown


@pytest.mark.parametrize(
    ("texts", "heading"),
    [
        (["4.2 KLUE", "The ensemble reaches 89.5 points of entity F1."], "4 Results"),
        (["4.2 KLUE", "The ensemble reaches 89.5 points of entity F1. " * 5], ""),
        (["The ensemble reaches 89.5 points of entity F1."], ""),
    ],
)
def test_a_short_section_is_searched_by_the_titles_above_it(texts: list[str], heading: str) -> None:
    *headings, text = texts
    elements = [passage(at, one, role="heading", section="s2") for at, one in enumerate(headings)]
    (chunk,) = chunk_paper(placed(*elements, passage(9, text, section="s2")))
    assert chunk.heading == heading


def test_a_short_listing_is_searched_by_its_section() -> None:
    (chunk,) = chunk_paper(placed(passage(1, "pip install tagger", role="code", section="s2")))
    assert chunk.heading == "4 Results > 4.2 KLUE"


def test_a_section_whose_title_has_no_letters_is_no_heading() -> None:
    (chunk,) = chunk_paper(paper_of(passage(1, "pip install tagger", role="code", section="17")))
    assert chunk.heading == ""


def test_the_sentence_directly_before_a_table_of_a_file_without_pages_belongs_to_it() -> None:
    line = Place(paper="p", page=1, box=Box(0, 7, 0, 8))
    lead = passage(4, "We trained twice. On the test set, 3,684 sentences:", section="s2")
    table = replace(results_table(5), caption="", section="s2", place=line)
    chunks = {chunk.id: chunk for chunk in chunk_paper(placed(lead, table))}
    assert chunks["p/chunk-2"].text.splitlines()[0] == "On the test set, 3,684 sentences:"
    assert chunks["p/chunk-2"].elements == ("p/passage-4", "p/table-1")
    others = (
        placed(lead, replace(table, place=PLACE)),
        placed(lead, replace(table, order=6)),
        placed(replace(lead, section="s1"), table),
        placed(lead, replace(table, caption="Entity F1 of each ensemble.")),
    )
    for paper in others:
        assert [chunk.elements for chunk in chunk_paper(paper)] == [("p/passage-4",), ("p/table-1",)]
