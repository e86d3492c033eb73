"""A question whose paper is removed meanwhile is answered from the remaining papers."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.errors import StoreError, UnknownElementError, UnknownPaperError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, AskRequest, Candidates, DoneEvent, RetrievalRequest, TextEvent
from query import Progress, QueryEngine
from tests.paperscope.blocking import BlockingModel
from tests.paperscope.test_adding import write_pdf

QUESTION = "Which taggers are compared?"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    store = Store.open(tmp_path / "library")
    with Library(store=store, settings=Settings(), models=Models(embedder=FakeEmbedder())) as opened:
        opened.add(
            write_pdf(tmp_path / "a.pdf", "Conditional random fields (CRF) are taggers. Three taggers are compared.")
        )
        opened.add(write_pdf(tmp_path / "b.pdf", "Two taggers are compared in another report."))
        yield opened


class Remover:
    """Removes a paper when a stage begins, once."""

    def __init__(self, library: Library, paper: str, *, at: str) -> None:
        self.stages: list[str] = []
        self._library, self._paper, self._at = library, paper, at

    def __call__(self, stage: str) -> None:
        if stage == self._at and stage not in self.stages:
            self._library.remove(self._paper)
        self.stages.append(stage)


@pytest.mark.parametrize("stage", ["retrieving", "answering", "verifying"])
def test_a_question_is_answered_from_the_remaining_papers(library: Library, stage: str) -> None:
    gone, left = library.entries()
    cited = {evidence.element for claim in library.ask(QUESTION).claims for evidence in claim.evidence}
    if not any(element.startswith(gone.id) for element in cited):
        gone, left = left, gone
    removing = Remover(library, gone.id, at=stage)
    answer = library.ask(QUESTION, on_stage=removing)
    assert stage in removing.stages
    assert {source.place.paper for source in answer.context.sources} == {left.id}
    assert all(evidence.place.paper == left.id for claim in answer.claims for evidence in claim.evidence)


@pytest.mark.parametrize("stage", ["retrieving", "answering", "verifying"])
def test_a_question_to_a_removed_paper_is_an_error_that_names_it(library: Library, stage: str) -> None:
    gone = library.entries()[0].id
    with pytest.raises(UnknownPaperError, match=f"no paper '{gone}' in the library"):
        library.ask(QUESTION, papers=[gone], on_stage=Remover(library, gone, at=stage))


@pytest.mark.parametrize("streamed", [True, False])
async def test_nothing_found_during_a_removal_is_no_answer(
    library: Library, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    gone, left = library.entries()
    retrieve = library._index.retrieve

    def late(request: RetrievalRequest) -> Candidates:
        if gone not in library.entries():
            return retrieve(request)
        library.remove(gone.id)
        return Candidates()

    monkeypatch.setattr(library._index, "retrieve", late)
    if streamed:
        [answer] = [event.answer async for event in library.stream(QUESTION) if isinstance(event, DoneEvent)]
    else:
        answer = await library.ask_async(QUESTION)
    assert {source.place.paper for source in answer.context.sources} == {left.id}


class _Broken:
    """An engine that meets a paper that goes when its text is half told."""

    def __init__(self, library: Library, paper: str, answer: Answer) -> None:
        self._library, self._paper, self._answer = library, paper, answer

    async def ask(self, _request: AskRequest, progress: Progress) -> Answer:
        progress.begin()
        if self._paper:
            progress.grow('{"answer": "Three')
            self._paper = self._library.remove(self._paper).id[:0]
            raise UnknownElementError("a/passage-1")
        progress.grow('{"answer": "Two')
        progress.end("Two taggers.")
        return self._answer


async def test_a_streamed_answer_starts_over_after_a_removal(library: Library) -> None:
    answer = library.ask(QUESTION)
    engine = _Broken(library, library.entries()[0].id, answer)
    library.__dict__["_asker"] = replace(library._asker, engine=cast("QueryEngine", engine))
    events = [event async for event in library.stream(QUESTION)]
    told = [TextEvent(text="Three"), TextEvent(text="Two", anew=True), TextEvent(text=" taggers.")]
    assert events == [*told, DoneEvent(answer=answer)]


async def test_a_missing_element_without_a_removal_is_an_error(library: Library) -> None:
    class Faulty:
        async def retrieve(self, _request: AskRequest) -> None:
            raise UnknownElementError("a/passage-1")

    faulty = replace(library._asker, engine=cast("QueryEngine", Faulty()))
    with pytest.raises(UnknownElementError):
        await faulty.retrieve(AskRequest(question=QUESTION))


async def test_closing_ends_questions_with_an_error(tmp_path: Path) -> None:
    model = BlockingModel()
    store = Store.open(tmp_path / "library")
    library = Library(store=store, settings=Settings(), models=Models(embedder=FakeEmbedder(), answer=model))
    library.add(write_pdf(tmp_path / "a.pdf", "Three taggers are compared in this report."))
    model.blocked = True
    here, asked = asyncio.get_running_loop(), asyncio.Event()

    def on_stage(stage: str) -> None:
        if stage not in ("retrieving", "understanding"):
            here.call_soon_threadsafe(asked.set)

    async def streamed() -> list[object]:
        return [event async for event in library.stream(QUESTION)]

    asking = [
        asyncio.create_task(library.ask_async(QUESTION, on_stage=on_stage)),
        asyncio.create_task(asyncio.to_thread(library.ask, QUESTION)),
        asyncio.create_task(streamed()),
    ]
    await asyncio.wait_for(asked.wait(), timeout=30)
    await asyncio.sleep(0.5)
    await asyncio.wait_for(asyncio.to_thread(library.close), timeout=10)
    for one in asking:
        with pytest.raises(StoreError, match="the library was closed before this was done"):
            await asyncio.wait_for(one, timeout=5)
    with pytest.raises(StoreError, match="the library is closed"):
        await library.ask_async(QUESTION)


@pytest.mark.slow
async def test_look_ups_can_be_awaited(library: Library) -> None:
    context = await library.retrieve_async(QUESTION)
    assert context == library.retrieve(QUESTION)
    (entity,) = library.most_connected(library.entries()[0].id, limit=1)
    assert await library.neighbourhood_async(entity) == library.neighbourhood(entity)
    first = library.entries()[0]
    assert (await library.page_picture_async(first.id, 1, dpi=36)).startswith(b"\x89PNG")
    assert (await library.remove_async(first.id)).id == first.id
    assert [entry.id for entry in library.entries()] != [first.id]


def test_elements_are_filtered_by_kind(library: Library) -> None:
    paper = library.papers()[0]
    assert tuple(library.elements(paper.id)) == paper.elements
    assert library.elements(paper.id, kind="table") == []
    assert all(element.kind == "passage" for element in library.elements(paper.id, kind="passage"))
