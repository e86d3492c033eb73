"""Papers of three fields, as small as the tests need them, and a corpus that holds them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import pytest

from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.types import (
    Box,
    Cell,
    Chunk,
    Context,
    ContextSource,
    Element,
    Entity,
    Equation,
    Figure,
    Paper,
    PaperEntry,
    PaperImages,
    Passage,
    Place,
    Relation,
    Section,
    Table,
)
from query.element_views import element_text
from query.evidence import Draft
from query.extractive import ExtractiveAnswerer

Rows = Sequence[Sequence[str]]


def place(page: int, top: float = 0.0, *, paper: str = "aaaa00000001") -> Place:
    return Place(paper=paper, page=page, box=Box(50.0, top, 300.0, top + 10.0))


def table(
    rows: Rows,
    *,
    number: int = 1,
    headers: int = 1,
    stubs: int = 1,
    caption: str = "",
    confidence: float = 1.0,
    paper: str = "aaaa00000001",
) -> Table:
    """A table of these rows: `headers` header rows, then rows with `stubs` stubs; "|" and a number spans columns.

    A row of a single text is the title of a section.
    """
    cells = []
    width = max(map(len, rows))
    for row, texts in enumerate(rows):
        if len(texts) == 1 < width:
            where = place(2, 10.0 * row, paper=paper)
            cells.append(Cell(row=row, column=0, column_span=width, text=texts[0], place=where, role="section"))
            continue
        for column, text in enumerate(texts):
            role = "column_header" if row < headers else "row_header" if column < stubs else "value"
            where = place(2, 10.0 * row + column, paper=paper)
            cells.append(Cell(row=row, column=column, text=text, place=where, role=role))  # type: ignore[arg-type]
    return Table(
        id=f"{paper}/table-{number}",
        place=place(2, paper=paper),
        order=100 + number,
        cells=tuple(cells),
        label=f"Table {number}",
        caption=caption,
        header_rows=headers,
        confidence=confidence,
    )


def passage(number: int, text: str, *, page: int = 1, section: str = "", paper: str = "aaaa00000001") -> Passage:
    where = place(page, 10.0 * number, paper=paper)
    return Passage(id=f"{paper}/passage-{number}", place=where, order=number, text=text, section=section)


def paper_of(*elements: Element, title: str = "A study", ident: str = "aaaa00000001", **more: object) -> Paper:
    values: dict[str, object] = {
        "id": ident,
        "title": title,
        "authors": (),
        "sha256": "",
        "file": "study.pdf",
        "pages": (),
        "sections": (),
        "elements": elements,
    }
    return Paper(**(values | more))  # type: ignore[arg-type]


GROWTH = table(
    [
        ["Treatment", "Height (cm)", "Seeds", "Survival"],
        ["Shade", "12.4", "31", "0.82"],
        ["Full sun", "18.9", "54", "0.91"],
        ["Drought", "7.7", "12", "0.46"],
        ["Total", "", "97", ""],
    ],
    caption="Growth of the seedlings after twelve weeks.",
)
DETECTORS = table(
    [
        ["Detector", "Mass", "Threshold"],
        ["Xenon tank", "5.9", "1.1"],
        ["Germanium array", "0.04", "0.2"],
    ],
    number=2,
    caption="The detectors of the experiment.",
)
BOTANY = paper_of(
    passage(1, "Seedlings were measured weekly. We define relative growth as the gain in height over twelve weeks."),
    passage(2, "Photosynthetically active radiation (PAR) was logged. Watering reduces wilting in every treatment."),
    passage(3, "Leaves were dried in an oven at 60 degrees and weighed. Gibberellin was applied twice.", page=3),
    GROWTH,
    DETECTORS,
    Figure(
        id="aaaa00000001/figure-1",
        place=place(3),
        order=200,
        label="Figure 1",
        caption="Leaf area over time.",
        text="weeks",
    ),
    Equation(
        id="aaaa00000001/equation-1", place=place(3, 50.0), order=201, text="g = (h2 - h1) / h1", label="Equation 1"
    ),
    title="Seedlings under stress",
    authors=("Ana Roe", "Bo Lind"),
    sections=(
        Section(id="s1", number="1", title="Introduction", level=1, path="1 Introduction"),
        Section(id="s2", number="2", title="Methods", level=1, path="2 Methods"),
        Section(id="s3", number="2.1", title="Plots", level=2, path="2 Methods > 2.1 Plots"),
        Section(id="s4", number="A", title="Soil data", level=1, path="A Soil data"),
    ),
)


class Shelf:
    """A corpus of papers whose elements are chunks of their own."""

    def __init__(self, *papers: Paper) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._elements = {element.id: element for paper in papers for element in paper.elements}

    def entries(self) -> list[PaperEntry]:
        return [
            PaperEntry(
                id=paper.id,
                title=paper.title,
                file=paper.file,
                source="",
                sha256="",
                embedder="",
                revision=1,
                authors=paper.authors,
                year=2021,
                venue="Plant Letters",
                doi="10.5555/seedlings.1",
                arxiv="2101.00001",
            )
            for paper in self._papers.values()
        ]

    def paper(self, paper: str) -> Paper:
        return self._papers[paper]

    def element(self, element: str) -> Element:
        return self._elements[element]

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        return {key: self._elements[key] for key in ids}

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return {}

    def images(self, paper: str) -> PaperImages:
        return PaperImages()

    def chunks_of(self, elements: Sequence[str]) -> list[Chunk]:
        return [_chunk(self._elements[element]) for element in elements]

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> dict[str, Entity]:
        return {}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> list[Relation]:
        return []

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> dict[str, int]:
        return {}

    def crop(self, crop: str) -> bytes:
        raise KeyError(crop)


def _chunk(element: Element) -> Chunk:
    return Chunk(
        id=f"{element.id}/chunk",
        paper=element.place.paper,
        text=element_text(element),
        elements=(element.id,),
        section="",
        place=element.place,
    )


def context_of(elements: Sequence[Element]) -> Context:
    return Context(
        sources=tuple(
            ContextSource(
                id=number,
                content=element_text(element),
                element=element.id,
                place=element.place,
                section=element.section,
            )
            for number, element in enumerate(elements)
        )
    )


async def answer_from(
    question: str, *papers: Paper, named: tuple[str, ...] = (), summary: tuple[str, ...] = ()
) -> Draft:
    """Ask the extractive answerer over these papers, with all their elements as sources."""
    answerer = ExtractiveAnswerer(corpus=Shelf(*papers), embedder=FakeEmbedder())
    elements = [element for paper in papers for element in paper.elements]
    ids = tuple(paper.id for paper in papers)
    return await answerer.answer(question, context_of(elements), named=named, asked=ids, summary=summary)


@pytest.fixture(scope="session")
def botany() -> Paper:
    """A paper of plant science with two tables, a figure and an equation."""
    return BOTANY


@pytest.fixture(scope="session")
def ask() -> Callable[..., Awaitable[Draft]]:
    """See `answer_from`."""
    return answer_from


@pytest.fixture(scope="session")
def make_table() -> Callable[..., Table]:
    """See `table`."""
    return table


@pytest.fixture(scope="session")
def make_passage() -> Callable[..., Passage]:
    """See `passage`."""
    return passage


@pytest.fixture(scope="session")
def make_paper() -> Callable[..., Paper]:
    """See `paper_of`."""
    return paper_of
