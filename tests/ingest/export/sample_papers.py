"""Small papers made by hand, for the tests of what is written."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Figure,
    Link,
    Page,
    Panel,
    Paper,
    ParsedPaper,
    Passage,
    Place,
    Reference,
    Section,
    Table,
    content_hash,
)

CellRole = Literal["column_header", "row_header", "section", "value"]
PLACE = Place(paper="p", page=1, box=Box(72.0, 100.0, 272.0, 150.0))


def cell(row: int, column: int, text: str, *, rows: int = 1, columns: int = 1, role: CellRole = "value") -> Cell:
    return Cell(row=row, column=column, text=text, place=PLACE, row_span=rows, column_span=columns, role=role)


def table(*cells: Cell, label: str = "Table 1", caption: str = "", header_rows: int = 1) -> Table:
    return Table(
        id="p/table-1", place=PLACE, order=0, cells=cells, label=label, caption=caption, header_rows=header_rows
    )


def plain_table(
    label: str = "Table 1", *, texts: Iterable[Iterable[str]] = (("Model", "F1"), ("BERT", "91.3"))
) -> Table:
    cells = (cell(row, column, text) for row, line in enumerate(texts) for column, text in enumerate(line))
    return table(*cells, label=label)


def paper_of(*elements: Element, title: str = "A Paper", links: tuple[Link, ...] = ()) -> Paper:
    """A paper of one page; elements that share an id get one of their own."""
    numbered = tuple(
        replace(element, id=element.id if element.kind == "passage" else f"p/{element.kind}-{order}", order=order)
        for order, element in enumerate(elements, start=1)
    )
    return Paper(
        id="p",
        title=title,
        authors=("A. Author",),
        sha256="0" * 64,
        file="a.pdf",
        pages=(Page(number=1, width=400.0, height=600.0),),
        sections=(Section(id="p/section-1", number="1", title="Start", level=1, path="1 Start"),),
        elements=numbered,
        links=links,
    )


def whole_paper() -> ParsedPaper:
    """A paper with an element of every kind and role."""
    crops = {content_hash(data): data for data in (b"table", b"figure", b"equation")}
    table_crop, figure_crop, equation_crop = crops
    elements: list[Element] = [
        Passage(id="p/passage-1", place=PLACE, order=0, text="A Paper", role="title"),
        Passage(id="p/passage-2", place=PLACE, order=0, text="A. Author\nA University", role="authors"),
        Passage(id="p/passage-3", place=PLACE, order=0, text="1 Start", role="heading", section="p/section-1", level=1),
        Passage(id="p/passage-4", place=PLACE, order=0, text="See Table 5 and [2, 3].", section="p/section-1"),
        Passage(id="p/passage-5", place=PLACE, order=0, text="• one", role="list"),
        Passage(id="p/passage-6", place=PLACE, order=0, text="(a) two", role="list"),
        Passage(
            id="p/passage-7",
            place=PLACE,
            order=0,
            text="for x in y:\n    print(x)",
            role="code",
            label="Listing 1",
            caption="A loop",
        ),
        replace(plain_table("Table 5"), caption="Results", crop=table_crop),
        Figure(
            id="",
            place=PLACE,
            order=0,
            label="Figure 1",
            caption="Two plots",
            text="axis",
            crop=figure_crop,
            panels=(Panel(mark="a", place=PLACE, caption="left"), Panel(mark="b", place=PLACE, caption="right")),
        ),
        Equation(id="", place=PLACE, order=0, text="E = mc²", label="Equation 3", crop=equation_crop),
        Passage(id="p/passage-8", place=PLACE, order=0, text="¹A note.", role="footnote"),
        Passage(id="p/passage-9", place=PLACE, order=0, text="page 7", role="furniture"),
        Reference(id="", place=PLACE, order=0, text="[2] B. Writer. A book.", label="[2]"),
    ]
    links = (
        Link(source="p/passage-4", target="p/table-8", text="Table 5"),
        Link(source="p/passage-4", target="p/reference-13", text="[2]"),
    )
    return ParsedPaper(paper=paper_of(*elements, links=links), crops=crops)
