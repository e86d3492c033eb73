"""The pages that are read as images: named ones without a crop, and those of sources without reliable text."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.errors import PaperFileError
from paperscope_core.models.fakes import FakeEmbedder, FakeModel
from paperscope_core.protocols import PageImages
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import (
    Answer,
    AskRequest,
    Box,
    Context,
    ContextSource,
    Filters,
    ImageFinding,
    PageProblem,
    Paper,
    Place,
    UnreadImage,
)
from query import QueryEngine, Retriever
from query.element_views import ImageElement
from query.question.named_elements import find_references
from query.retrieval.page_selection import context_images, page_image
from tests.query.conftest import PAPER, TREE, MemoryLibrary

PROBLEM = PageProblem(page=2, reason="its text was recognised (OCR)", kind="text")
SCAN = replace(TREE, problems=(PROBLEM,))
WORDLESS = replace(
    TREE, elements=(), sections=(), links=(), problems=(replace(PROBLEM, page=1), PROBLEM, replace(PROBLEM, page=3))
)
PAGES = Place(paper=PAPER, page=2, box=Box(0.0, 0.0, 595.0, 842.0))


def chosen(paper: Paper, question: str, *sources: str, pictures: Sequence[str] = (), limit: int = 2) -> list[str]:
    """What is read: names of elements, and pages."""
    elements = {one.id.partition("/")[2]: one for one in paper.elements}
    rows = [
        ContextSource(id=number, content="", element=elements[name].id, place=elements[name].place)
        for number, name in enumerate(sources)
    ]
    floats = [one for name in pictures if isinstance(one := elements[name], ImageElement)]
    images = context_images(floats, rows, [paper], find_references(question, [paper]), limit=limit)
    assert [image.id for image in images] == list(range(len(images)))
    return [image.element.partition("/")[2] if image.crop else image.label for image in images]


def test_a_page_with_reliable_text_is_not_read() -> None:
    assert chosen(TREE, "What helps?", "passage-3") == []
    assert chosen(TREE, "What helps?", "passage-3", pictures=["table-2"]) == ["table-2"]


def test_the_pages_of_sources_without_reliable_text_are_read_before_crops_that_are_not_named() -> None:
    assert chosen(SCAN, "What helps?", "passage-1", "passage-3") == ["page 2"]
    assert chosen(SCAN, "What helps?", "passage-3", pictures=["table-1"]) == ["page 2", "table-1"]
    assert chosen(SCAN, "What helps?", "passage-3", pictures=["table-2"]) == ["page 2"]
    assert chosen(SCAN, "What is in Table 2?", "passage-3", pictures=["table-2"]) == ["table-2", "page 2"]
    assert chosen(SCAN, "What helps?", "passage-3", pictures=["table-1"], limit=1) == ["page 2"]
    assert chosen(SCAN, "What helps?", "passage-3", limit=0) == []


def test_a_named_page_is_read_if_no_crop_shows_what_is_on_it() -> None:
    assert chosen(TREE, "What is drawn on page 3?", "passage-1") == ["page 3"]
    assert chosen(TREE, "What is drawn on page 2?", "passage-1") == []
    assert chosen(SCAN, "What is drawn on page 2?", "passage-1") == ["page 2"]
    assert chosen(SCAN, "What is drawn on page 3?", "passage-3") == ["page 3"]
    assert chosen(TREE, "What is drawn on page 9?", "passage-1") == []
    unpaged = replace(SCAN, format="markdown")
    assert chosen(unpaged, "What is drawn on page 3?", "passage-3") == []


def test_a_paper_without_text_is_read_page_by_page() -> None:
    assert chosen(WORDLESS, "What is it about?") == ["page 1", "page 2"]
    assert chosen(WORDLESS, "What is on page 3?") == ["page 3"]


def test_a_page_is_cited_at_a_passage_on_it() -> None:
    image = page_image(TREE, 2)
    assert (image.element, image.crop, image.label, image.place) == (f"{PAPER}/passage-3", "", "page 2", PAGES)
    assert page_image(replace(TREE, elements=TREE.elements[:1]), 2).element == f"{PAPER}/passage-1"
    assert page_image(WORDLESS, 2).element == ""


def reply(text: str, *evidence: str, status: str = "answered") -> str:
    return json.dumps({"status": status, "answer": text, "claims": [{"text": text, "evidence": list(evidence)}]})


SEEN = json.dumps({"pictures": [{"picture": 1, "finding": "It helps on 7 tags.", "relevant": True, "agrees": False}]})


def page_bytes(paper: str, page: int) -> bytes:
    return f"{paper} {page}".encode()


async def ask(
    paper: Paper, question: str, *, images: int = 1, page_image: PageImages = page_bytes
) -> tuple[Answer, FakeModel]:
    library = MemoryLibrary(paper)
    vision = FakeModel([SEEN])
    engine = QueryEngine(
        library,
        library,
        FakeEmbedder(),
        FakeModel([reply("Not said.", status="unanswerable"), reply("On 7 tags.", "I0")]),
        vision,
        settings=RetrievalSettings(images=images),
        page_image=page_image,
    )
    return await engine.ask(AskRequest(question=question)), vision


async def test_the_page_of_a_scan_is_read_and_cited() -> None:
    answer, vision = await ask(SCAN, "How many rare tags does Dice help on?")
    [request] = vision.requests
    assert request.messages[-1].images == (f"{PAPER} 2".encode(),)
    assert "Picture 1: the whole of page 2" in request.messages[-1].text
    [reading] = answer.readings
    assert isinstance(reading, ImageFinding)
    assert (reading.crop, reading.place) == ("", PAGES)
    [evidence] = answer.evidence
    assert (evidence.element, evidence.place, evidence.quote) == (
        f"{PAPER}/passage-3",
        PAGES,
        "It helps on 7 tags.",
    )
    assert [check.finding for check in answer.checks] == ["printed"]
    assert answer.exhibits == ()


async def test_a_paper_without_any_text_is_answered_from_its_pages() -> None:
    answer, vision = await ask(WORDLESS, "How many tags does it help on, as page 2 shows?")
    assert vision.requests[0].messages[-1].images == (f"{PAPER} 2".encode(),)
    assert (answer.status, answer.text) == ("answered", "On 7 tags.")
    [evidence] = answer.evidence
    assert (evidence.element, evidence.place) == ("", PAGES)
    assert evidence.name.endswith("page 2")


async def test_a_page_that_cannot_be_rendered_is_unread_with_its_reason() -> None:
    def lost(_paper: str, _page: int) -> bytes:
        raise PaperFileError("'scan.pdf' is no longer where it was added from; add it again")

    answer, vision = await ask(SCAN, "How many rare tags does Dice help on?", page_image=lost)
    assert vision.requests == []
    [reading] = answer.readings
    assert isinstance(reading, UnreadImage)
    assert "no longer where it was added" in reading.reason
    assert any("the image of page 2 could not be read" in one.message for one in answer.findings)


@pytest.mark.parametrize("filters", [Filters(kinds=("text",)), Filters(sections=("3",))])
async def test_filters_on_kinds_and_sections_leave_whole_pages_out(filters: Filters) -> None:
    library = MemoryLibrary(SCAN)
    retriever = Retriever(library, library, FakeEmbedder(), settings=RetrievalSettings(images=2))
    context: Context = (await retriever.retrieve("Which tags are rare on page 3?", filters=filters)).context
    assert context.sources
    assert all(image.crop for image in context.images)
