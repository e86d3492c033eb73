"""The outline of a paper: when a question asks for it, what it lists, and what it is evidence for."""

import asyncio
from dataclasses import replace

import pytest

from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.protocols import Embedder
from paperscope_core.types import (
    AskRequest,
    Candidates,
    Context,
    Figure,
    Hit,
    PaperEntry,
    Passage,
    RetrievalRequest,
    Section,
)
from query import QueryEngine, Retriever
from query.evidence import EvidenceFinder
from query.outline import (
    asked_parts,
    gist_elements,
    is_outline,
    limitation_elements,
    outline_row,
    summary_elements,
)
from tests.query.conftest import PAPER, TREE, MemoryLibrary, listed, passage, place


def heading(number: int) -> Passage:
    section = TREE.sections[number - 1]
    text = f"{section.number} {section.title}"
    at = place(3 if section.number == "A" else 1, 10.0 * number)
    return Passage(
        id=f"{PAPER}/heading-{number}", place=at, order=number, text=text, role="heading", section=section.id
    )


APPENDED = Figure(
    id=f"{PAPER}/figure-2",
    place=place(3, 300.0),
    order=900,
    label="Figure 2",
    caption="A prompt. It has two examples.",
    section=f"{PAPER}/section-5",
)
WHOLE = replace(TREE, authors=("Ada Lovelace",), elements=(*map(heading, range(1, 6)), *TREE.elements, APPENDED))
ENTRY: PaperEntry = replace(listed(WHOLE), year=2020, venue="Tagging Letters", doi="10.5555/1", arxiv="2001.00001")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How many figures are in the appendix?", {"Figures", "Sections"}),
        ("Which tables report F1?", {"Tables"}),
        ("who wrote it", {"Record"}),
        ("Where was it published?", {"Record"}),
        ("What's the DOI?", {"Record"}),
        ("How many arXiv papers were tagged?", set()),
        ("What is Appendix B about?", {"Sections"}),
        ("Count the pie charts.", {"Figures"}),
        ("List the sections of the paper.", {"Sections"}),
        ("What does Table 8 report for BERT?", set()),
        ("How does Figure 3 differ from Fig. 4?", set()),
        ("What is the F1 of Dice on WSJ?", set()),
        ("Is the table-lookup figurative?", {"Tables"}),
    ],
)
def test_a_question_asks_for_parts_that_it_does_not_number(question: str, parts: set[str]) -> None:
    assert asked_parts(question) == parts


def test_an_outline_has_the_record_the_counts_and_the_lists_asked_for() -> None:
    row = outline_row(WHOLE, ENTRY, {"Figures", "Sections"})
    assert row is not None
    assert is_outline(row)
    assert row.content.splitlines() == [
        "Outline of the paper “Dice Losses for Imbalanced Tagging”",
        *(
            "Authors: Ada Lovelace",
            "Year: 2020",
            "Venue: Tagging Letters",
            "DOI: 10.5555/1",
            "arXiv id: 2001.00001",
            "Pages: 3",
        ),
        "Sections: 5 (4 in the main part, 1 in the appendix)",
        *("1 Introduction (page 1)", "2 Loss (page 1)", "3 Results (page 1)", "  3.1 Tagging (page 1)"),
        "A Details (page 3)",
        "Figures: 2 (1 in the main part, 1 in the appendix)",
        "Figure 1 (page 2): Learning curves of both losses.",
        "Figure 2 (page 3, in A Details): A prompt. It has two examples.",
        *("Tables: 2", "Equations with a number: 1", "References: 1"),
    ]
    tables = outline_row(WHOLE, None, {"Tables"})
    assert tables is not None
    assert "Table 2 (page 2): F1 of the taggers. [columns: Model | WSJ | CTB5]" in tables.content.splitlines()
    assert outline_row(replace(WHOLE, elements=()), ENTRY, ()) is None


def test_a_claim_about_parts_cites_them_and_the_count() -> None:
    row = outline_row(WHOLE, ENTRY, {"Figures", "Sections"})
    assert row is not None
    finder = EvidenceFinder(corpus=MemoryLibrary(WHOLE), context=Context(sources=(row,)))
    figure, count = finder.find("S0", claim="The appendix has 1 of the figures, Figure 2.")[:2]
    assert (figure.element, figure.quote, figure.place.page) == (APPENDED.id, "Figure 2", 3)
    assert "1 in the appendix" in count.quote
    [author] = finder.find("S0", claim="It was written by Lovelace.")
    assert author.quote == "Authors: Ada Lovelace"


async def test_the_outline_follows_the_sources_of_a_question_that_asks_for_it(embedder: Embedder) -> None:
    library = MemoryLibrary(WHOLE)
    engine = QueryEngine(library, library, embedder)
    sources = (await engine.retrieve(AskRequest(question="Which tables report the F1 of Dice?"))).sources
    assert [is_outline(source) for source in sources] == [*[False] * (len(sources) - 1), True]
    assert [source.id for source in sources] == list(range(len(sources)))
    plain = (await engine.retrieve(AskRequest(question="What is the F1 of Dice on WSJ?"))).sources
    assert not any(map(is_outline, plain))
    answer = await engine.ask(AskRequest(question="Which tables report the F1 of Dice?"))
    assert not any(evidence.quote.startswith("Outline") for evidence in answer.evidence)


TITLES = ("Introduction", "Method", "Conclusion and Outlook")
SECTIONS = tuple(
    Section(id=f"{PAPER}/section-{number}", number=str(number), title=title, level=1, path=f"{number} {title}")
    for number, title in enumerate(TITLES, start=1)
)
TEXTS = (
    passage(1, 1, "Rare tags are hard.", SECTIONS[0].id),
    passage(2, 1, "Others weigh samples.", SECTIONS[0].id),
    passage(3, 1, "We offer a new loss.", SECTIONS[0].id),
    passage(4, 2, "The loss is a share of overlaps.", SECTIONS[1].id),
    passage(5, 3, "A loss without tuning helps.", SECTIONS[2].id),
)
ABSTRACT = replace(passage(0, 1, "Tagging of rare words, without tuning.", ""), role="abstract")


@pytest.mark.parametrize(
    ("elements", "expected"),
    [((ABSTRACT, *TEXTS), ["0", "1", "3", "5"]), (TEXTS, ["1", "3", "5"]), (TEXTS[3:4], []), ((), [])],
)
def test_the_gist_is_in_the_abstract_the_introduction_and_the_conclusion(
    elements: tuple[Passage, ...], expected: list[str]
) -> None:
    found = gist_elements(replace(TREE, elements=elements, sections=SECTIONS))
    assert [element.id.rpartition("-")[2] for element in found] == expected


LIMITS = Section(id=f"{PAPER}/section-4", number="4", title="Limitations", level=1, path="4 Limitations")
LIMITED = (passage(6, 4, "One language was tagged.", LIMITS.id), passage(7, 4, "No person read it.", LIMITS.id))


@pytest.mark.parametrize(
    ("elements", "summary", "limits"),
    [
        ((ABSTRACT, *TEXTS, *LIMITED), ["0", "5", "6"], ["6", "7"]),
        ((*TEXTS, *LIMITED), ["1", "5", "6"], ["6", "7"]),
        (TEXTS, ["1", "5"], ["5"]),
        (TEXTS[3:4], [], []),
    ],
)
def test_a_paper_is_summed_up_by_its_abstract_conclusion_and_limitations(
    elements: tuple[Passage, ...], summary: list[str], limits: list[str]
) -> None:
    paper = replace(TREE, elements=elements, sections=(*SECTIONS, LIMITS))
    assert [element.id.rpartition("-")[2] for element in summary_elements(paper)] == summary
    assert [element.id.rpartition("-")[2] for element in limitation_elements(paper)] == limits


class Vectors(MemoryLibrary):
    """Finds chunks by their vectors."""

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        chunks = list(self._chunks.values())
        likeness = asyncio.run(FakeEmbedder(dimension=4096).embed([chunk.text for chunk in chunks])) @ request.vector
        hits = [Hit(id=chunk.id, score=float(score)) for chunk, score in zip(chunks, likeness, strict=True)]
        return Candidates(by_vectors=tuple(sorted(hits, key=lambda hit: -hit.score)))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is this paper about: its topic, main idea and goal?", {"0", "1", "3", "5"}),
        ("The loss is a share of what overlaps?", {"4"}),
    ],
)
async def test_only_a_question_nearer_to_a_summary_than_to_any_chunk_gets_it(question: str, first: set[str]) -> None:
    library = Vectors(replace(TREE, elements=(ABSTRACT, *TEXTS), sections=SECTIONS, links=()))
    found = await Retriever(library, library, FakeEmbedder(dimension=4096)).retrieve(question)
    sources = [source.element.rpartition("-")[2] for source in found.context.sources]
    assert set(sources[: len(first)]) == first


@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("What is this paper about: its topic, main idea and goal?", ["0", "5", "6"]),
        ("The limitations of this work: what does it not cover?", ["6", "7"]),
        ("The loss is a share of what overlaps?", []),
    ],
)
async def test_what_sums_up_a_paper_or_limits_it_is_named_where_it_is_asked_for(
    question: str, summary: list[str]
) -> None:
    paper = replace(TREE, elements=(ABSTRACT, *TEXTS, *LIMITED), sections=(*SECTIONS, LIMITS), links=())
    library = Vectors(paper)
    found = await Retriever(library, library, FakeEmbedder(dimension=4096)).retrieve(question)
    assert [element.rpartition("-")[2] for element in found.summary] == summary
