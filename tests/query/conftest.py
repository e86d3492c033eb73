"""A small library in memory: one paper with two tables, a figure, an equation, links and a graph."""

from collections.abc import Mapping, Sequence

import pytest

from paperscope_core.errors import UnknownCropError
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import (
    Box,
    Candidates,
    Cell,
    Chunk,
    Element,
    Entity,
    Equation,
    Figure,
    Hit,
    ImageDescription,
    Link,
    Page,
    Paper,
    PaperEntry,
    PaperImages,
    Passage,
    Place,
    Reference,
    Relation,
    RetrievalRequest,
    Section,
    Table,
)
from query.content_words import content_words
from query.element_views import element_text

PAPER = "aaaa00000001"


def place(page: int, top: float) -> Place:
    return Place(paper=PAPER, page=page, box=Box(50.0, top, 300.0, top + 20.0))


def passage(number: int, page: int, text: str, section: str) -> Passage:
    return Passage(
        id=f"{PAPER}/passage-{number}", place=place(page, 30.0 * number), order=number, text=text, section=section
    )


def table(number: int, page: int, caption: str, rows: Sequence[Sequence[str]], section: str) -> Table:
    cells = [
        Cell(
            row=row,
            column=column,
            text=text,
            place=Place(
                paper=PAPER,
                page=page,
                box=Box(50.0 + 40 * column, 400.0 + 10 * row, 90.0 + 40 * column, 410.0 + 10 * row),
            ),
            role="column_header" if row == 0 else "row_header" if column == 0 else "value",
        )
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]
    return Table(
        id=f"{PAPER}/table-{number}",
        place=place(page, 400.0 + number),
        order=100 + number,
        cells=tuple(cells),
        label=f"Table {number}",
        caption=caption,
        header_rows=1,
        section=section,
        crop=f"crop-table-{number}",
    )


RESULTS = "3 Results > 3.1 Tagging"
ELEMENTS: tuple[Element, ...] = (
    passage(1, 1, "Many tagging tasks are imbalanced. Table 1 lists the imbalance of each task.", "1 Introduction"),
    passage(2, 1, "We weigh each sample by a coefficient, defined in Eq. (1). It needs no tuning.", "2 Loss"),
    passage(3, 2, "All scores on the two treebanks are in Table 2. Dice helps most on rare tags.", RESULTS),
    passage(4, 2, "Training took five hours on one machine.", "A Details"),
    table(
        1,
        1,
        "Imbalance of the tasks.",
        [["Task", "# neg", "# pos", "ratio"], ["QUOREF", "6.52M", "38.6K", "169"], ["SQuAD", "10.3M", "175K", "58.9"]],
        "1 Introduction",
    ),
    table(
        2,
        2,
        "F1 of the taggers.",
        [["Model", "WSJ", "CTB5"], ["Plain", "94.90", "94.10"], ["Dice", "95.43 (+0.53)", "96.30"]],
        RESULTS,
    ),
    Figure(
        id=f"{PAPER}/figure-1",
        place=place(2, 500.0),
        order=150,
        label="Figure 1",
        caption="Learning curves of both losses.",
        text="epoch F1",
        section=RESULTS,
        crop="crop-figure-1",
    ),
    Equation(
        id=f"{PAPER}/equation-1",
        place=place(1, 600.0),
        order=160,
        text="α = log((n − n_t)/n_t + K)",
        label="Equation 1",
        section="2 Loss",
        crop="crop-equation-1",
    ),
    Reference(id=f"{PAPER}/reference-1", place=place(3, 40.0), order=200, text="Rare tags. 2019.", label="[1]"),
)
TREE = Paper(
    id=PAPER,
    title="Dice Losses for Imbalanced Tagging",
    authors=("A. Author",),
    sha256="0" * 64,
    file="2020.dice-45.pdf",
    pages=tuple(Page(number=number, width=595.0, height=842.0) for number in (1, 2, 3)),
    sections=(
        Section(id=f"{PAPER}/section-1", number="1", title="Introduction", level=1, path="1 Introduction"),
        Section(id=f"{PAPER}/section-2", number="2", title="Loss", level=1, path="2 Loss"),
        Section(id=f"{PAPER}/section-3", number="3", title="Results", level=1, path="3 Results"),
        Section(id=f"{PAPER}/section-4", number="3.1", title="Tagging", level=2, path=RESULTS),
        Section(id=f"{PAPER}/section-5", number="A", title="Details", level=1, path="A Details"),
    ),
    elements=ELEMENTS,
    links=(
        Link(source=f"{PAPER}/passage-1", target=f"{PAPER}/table-1", text="Table 1"),
        Link(source=f"{PAPER}/passage-2", target=f"{PAPER}/equation-1", text="Eq. (1)"),
        Link(source=f"{PAPER}/passage-3", target=f"{PAPER}/table-2", text="Table 2"),
    ),
)
ENTITIES = (
    Entity(id="dice", name="Dice", type="method", description="A loss.", sources=(f"{PAPER}/table-2",)),
    Entity(id="quoref", name="QUOREF", type="dataset", description="A reading task.", sources=(f"{PAPER}/table-1",)),
)
RELATIONS = (
    Relation(
        source="dice",
        target="quoref",
        kind="used for",
        description="Dice is used for QUOREF.",
        sources=(ELEMENTS[2].id,),
    ),
)


def listed(paper: Paper) -> PaperEntry:
    """The paper as a library lists it."""
    return PaperEntry(
        id=paper.id,
        title=paper.title,
        file=paper.file,
        source=f"/{paper.file}",
        sha256=paper.sha256,
        embedder="fake-64",
        revision=1,
    )


class MemoryLibrary:
    """A corpus and an index over it that finds chunks by shared words."""

    def __init__(self, *papers: Paper) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._elements = {element.id: element for paper in papers for element in paper.elements}
        chunks = [
            Chunk(
                id=f"{paper.id}/chunk-{number}",
                paper=paper.id,
                text=element_text(element),
                elements=(element.id,),
                section=element.section,
                place=element.place,
            )
            for paper in papers
            for number, element in enumerate(paper.elements, start=1)
        ]
        self._chunks = {chunk.id: chunk for chunk in chunks}
        self._entities = {entity.id: entity for entity in ENTITIES if papers}
        self.revision = 1

    def entries(self) -> Sequence[PaperEntry]:
        return [listed(paper) for paper in self._papers.values()]

    def paper(self, paper: str) -> Paper:
        return self._papers[paper]

    def element(self, element: str) -> Element:
        return self._elements[element]

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        return {key: self._elements[key] for key in ids}

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        return {key: self._chunks[key] for key in ids}

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        return [chunk for chunk in self._chunks.values() if set(elements) & set(chunk.elements)]

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        known = {key: self._entities[key] for key in ids if key in self._entities}
        return {key: one for key, one in known.items() if _within(one.sources, papers)}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        found = [one for one in RELATIONS if {one.source, one.target} & set(entities)]
        return [one for one in found if _within(one.sources, papers)][:limit]

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, int]:
        return {key: len(self.relations_of([key], papers=papers, limit=10)) for key in entities}

    def images(self, paper: str) -> PaperImages:
        seen = ImageDescription(
            element=f"{PAPER}/equation-1",
            crop="crop-equation-1",
            place=place(1, 600.0),
            picture="equation",
            text="A logarithm.",
            latex=r"\alpha = \log\frac{n - n_t}{n_t} + K",
        )
        return PaperImages(reader="fake", readings=(seen,) if paper == PAPER else ())

    def crop(self, crop: str) -> bytes:
        if crop == "crop-figure-1":
            raise UnknownCropError(crop)
        return crop.encode()

    def close(self) -> None:
        return

    def catch_up(self) -> None:
        """Nothing to do: it holds the papers themselves."""

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        asked = content_words(request.text)
        scores = [
            Hit(id=chunk.id, score=len(asked & content_words(chunk.text)) / max(1, len(asked)))
            for chunk in self._chunks.values()
            if request.filters.allows(chunk)
        ]
        found = sorted((hit for hit in scores if hit.score), key=lambda hit: -hit.score)[: request.limit]
        named = [Hit(id=key, score=1.0) for key, entity in self._entities.items() if key in asked]
        return Candidates(by_words=tuple(found), named=tuple(named))


@pytest.fixture
def paper() -> Paper:
    return TREE


@pytest.fixture
def corpus() -> Corpus:
    return MemoryLibrary(TREE)


@pytest.fixture
def index(corpus: Corpus) -> GraphIndex:
    assert isinstance(corpus, GraphIndex)
    return corpus


@pytest.fixture
def empty_corpus() -> Corpus:
    return MemoryLibrary()


@pytest.fixture
def embedder() -> Embedder:
    return FakeEmbedder()


def _within(sources: Sequence[str], papers: Sequence[str]) -> bool:
    return not papers or any(source.partition("/")[0] in papers for source in sources)
