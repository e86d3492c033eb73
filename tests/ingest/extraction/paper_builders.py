"""Papers of a few elements, and what the local extractor draws from them."""

from ingest.chunking import chunk_paper
from ingest.extraction import LocalExtractor
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Entity,
    Extraction,
    Link,
    Paper,
    Passage,
    Place,
    Relation,
    Table,
)

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


def paper_of(*elements: Element, links: tuple[Link, ...] = ()) -> Paper:
    return Paper(
        id="p", title="", authors=(), sha256="", file="p.pdf", pages=(), sections=(), elements=elements, links=links
    )


def passages(*texts: str) -> list[Passage]:
    return [
        Passage(id=f"p/passage-{number}", place=PLACE, order=number, text=text) for number, text in enumerate(texts, 1)
    ]


def table_of(*rows: str, header_rows: int = 1, order: int = 50, caption: str = "Results.") -> Table:
    cells = [
        Cell(
            row=row,
            column=column,
            text=text.strip(),
            place=PLACE,
            role="column_header" if row < header_rows else "row_header" if column == 0 else "value",
        )
        for row, line in enumerate(rows)
        for column, text in enumerate(line.split("|"))
    ]
    return Table(
        id="p/table-1",
        place=PLACE,
        order=order,
        cells=tuple(cells),
        header_rows=header_rows,
        label="Table 1",
        caption=caption,
    )


async def extract(paper: Paper) -> Extraction:
    return await LocalExtractor().extract(paper, chunk_paper(paper))


def by_name(extraction: Extraction, name: str) -> Entity:
    (entity,) = [entity for entity in extraction.entities if entity.name == name]
    return entity


def relations(extraction: Extraction, kind: str) -> list[Relation]:
    return [relation for relation in extraction.relations if relation.kind == kind]
