"""An answer told as it comes about ends as the plain one does."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from paperscope_core.errors import ModelUnavailableError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import (
    Answer,
    AskRequest,
    Finding,
    ModelReply,
    ModelRequest,
    TextEvent,
    Usage,
)
from query import Progress, QueryEngine

ASKED = AskRequest(question="What is the ratio for QUOREF in Table 1?")
INITIAL, MERGED = "It is 169, says Table 1.", "The ratio is 169."


def reply(text: str, *evidence: str) -> str:
    return json.dumps({"status": "answered", "answer": text, "claims": [{"text": text, "evidence": list(evidence)}]})


def finding(*, relevant: bool) -> str:
    return json.dumps(
        {"pictures": [{"picture": 1, "relevant": relevant, "finding": "QUOREF: ratio 169", "agrees": False}]}
    )


async def heard(engine: QueryEngine) -> tuple[list[str], list[TextEvent], Answer]:
    """The stages and the pieces of the text that are told, and the answer."""
    stages: list[str] = []
    pieces: list[TextEvent] = []
    return stages, pieces, await engine.ask(ASKED, Progress(stages.append, pieces.append))


def joined(pieces: Sequence[TextEvent]) -> str:
    text = ""
    for piece in pieces:
        text = piece.text if piece.anew else text + piece.text
    return text


def _replaced(pieces: Sequence[TextEvent]) -> int:
    """The number of pieces before the text begins anew."""
    return next((number for number, piece in enumerate(pieces) if piece.anew), len(pieces))


def engines(corpus: Corpus, index: GraphIndex, embedder: Embedder, *, relevant: bool | None) -> list[QueryEngine]:
    """Two engines of the same kind: one to stream, one to ask."""
    return [
        QueryEngine(
            corpus,
            index,
            embedder,
            FakeModel([reply(INITIAL, "S0", "S99"), reply(MERGED, "S0", "I0")], name="writer"),
            FakeModel([finding(relevant=relevant)]) if relevant is not None else None,
        )
        for _ in range(2)
    ]


@pytest.mark.parametrize(("relevant", "final"), [(None, INITIAL), (False, INITIAL), (True, MERGED)])
async def test_the_pieces_make_up_the_final_text_and_the_answer_is_the_plain_one(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, *, relevant: bool | None, final: str
) -> None:
    streaming, plain = engines(corpus, index, embedder, relevant=relevant)
    stages, pieces, answer = await heard(streaming)
    asked = await plain.ask(ASKED)
    assert (joined(pieces), answer.text) == (final, final)
    for field in (
        "status",
        "text",
        "claims",
        "context",
        "readings",
        "exhibits",
        "initial",
        "merged",
        "usage",
        "checks",
    ):
        assert getattr(answer, field) == getattr(asked, field)
    assert answer.findings == asked.findings
    # The initial answer is told at once, and replaced when an image changes it.
    assert joined(pieces[: _replaced(pieces)]) == INITIAL
    assert len(pieces) > 1
    assert sum(piece.anew for piece in pieces) == bool(relevant)
    assert sorted(stages) == sorted(stage.stage for stage in answer.stages)


async def test_rows_that_the_context_lacks_are_counted_in_a_stream_too(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    streaming, _ = engines(corpus, index, embedder, relevant=None)
    _, _, answer = await heard(streaming)
    message = "the model cited 1 rows that the context does not have: 'S99'"
    assert Finding(kind="citation", subject="S99", message=message) in answer.findings


async def test_the_embedded_answer_comes_in_one_piece(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    _, pieces, answer = await heard(QueryEngine(corpus, index, embedder))
    assert pieces == [TextEvent(text=answer.text)]


async def test_the_usage_of_an_answer_is_that_of_its_stages(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    _, asking = engines(corpus, index, embedder, relevant=True)
    answer = await asking.ask(ASKED)
    used = {stage.stage: stage.usage for stage in answer.stages}
    calls = {stage: usage.calls for stage, usage in used.items() if usage != Usage()}
    assert calls == {"answering": 1, "reading images": 1, "merging": 1}
    assert sum(used.values(), Usage()) == answer.usage


def test_a_stage_that_is_repeated_is_measured_once() -> None:
    told: list[str] = []
    progress = Progress(told.append)
    for _ in range(2):
        with progress.stage("merging") as stage:
            stage.usage += Usage(calls=1, prompt_tokens=5)
    [merging] = progress.times
    assert (merging.usage, told) == (Usage(calls=2, prompt_tokens=10), ["merging", "merging"])


async def test_errors_come_through(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    with pytest.raises(ModelUnavailableError, match="down"):
        await heard(QueryEngine(corpus, index, embedder, FakeModel([ModelUnavailableError("down")])))


async def test_a_question_that_is_left_stops_the_work(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    class Endless(FakeModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()
            return await super().complete(request)

    asking = asyncio.create_task(QueryEngine(corpus, index, embedder, Endless([])).ask(ASKED))
    async with asyncio.timeout(5):
        await begun.wait()
        asking.cancel()
        await stopped.wait()


def test_a_text_that_changes_is_told_anew_and_one_that_stays_is_not() -> None:
    told: list[TextEvent] = []
    text = Progress(on_text=told.append)
    text.grow('{"answer": "ab')
    text.restart()
    text.grow('{"answer": "a')
    text.grow('{"answer": "ab')
    text.grow('{"answer": "abc  ')
    text.grow('{"answer": "x')
    text.end("xy")
    assert told == [TextEvent(text="ab"), TextEvent(text="c"), TextEvent(text="x", anew=True), TextEvent(text="y")]


def test_an_attempt_that_begins_anew_tells_what_differs() -> None:
    told: list[TextEvent] = []
    text = Progress(on_text=told.append)
    text.grow('{"answer": "Three ')
    text.begin()
    text.grow('{"answer": "Three taggers')
    text.begin()
    text.end("Two taggers")
    assert told == [TextEvent(text="Three"), TextEvent(text=" taggers"), TextEvent(text="Two taggers", anew=True)]


def test_a_long_reply_is_not_read_anew_for_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def partial_text(reply: str, _: str) -> str:
        read.append(len(reply))
        return ""

    monkeypatch.setattr("query.progress.partial_text", partial_text)
    text = Progress(on_text=lambda _: None)
    reply = f'{{"answer": "{"a" * 100_000}'
    for end in range(0, len(reply), 4):
        text.grow(reply[:end])
    assert sum(read) < 200 * len(reply)
