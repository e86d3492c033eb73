"""A question about the paper as a whole finds its abstract, introduction and conclusion."""

import asyncio
from dataclasses import replace

import pytest

from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.types import Candidates, Hit, Passage, RetrievalRequest, Section
from query import Retriever
from query.retrieval.gist import gist_elements
from tests.query.conftest import PAPER, TREE, MemoryLibrary, passage

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
