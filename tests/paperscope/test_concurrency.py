"""Many callers of one library at once, from several threads and event loops."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from paperscope.library import Library
from paperscope_core.models import build_embedder, build_reranker
from paperscope_core.settings import EmbedSettings, RetrievalSettings, Settings
from paperscope_core.types import Answer

QUESTIONS = [
    "Which tagger has the highest F1?",
    "What is in Table 1?",
    "What does Figure 1 show?",
    "What is the F1 of the Mean tagger?",
    "How many sentences were used?",
    "What is compared?",
    "Who wrote the paper?",
    "Which loss is used?",
]


@pytest.fixture
def library(example_library: Path) -> Iterator[Library]:
    with Library.open(example_library, settings=Settings()) as opened:
        yield opened


def timeless(answer: Answer) -> Answer:
    return replace(answer, seconds=0.0, stages=())


@pytest.mark.slow
def test_concurrent_questions_get_the_same_answers_as_single_ones(library: Library) -> None:
    alone = [timeless(library.ask(question)) for question in QUESTIONS]
    assert any(answer.status == "answered" for answer in alone)

    async def streamed(question: str) -> Answer:
        events = [event async for event in library.stream(question)]
        answer = getattr(events[-1], "answer", None)
        assert isinstance(answer, Answer)
        return answer

    def in_a_loop(number: int, question: str) -> Answer:
        if number % 2:
            return asyncio.run(streamed(question))
        return asyncio.run(library.ask_async(question))

    with ThreadPoolExecutor(16) as pool:
        synchronous = pool.map(library.ask, QUESTIONS)
        in_loops = pool.map(in_a_loop, range(len(QUESTIONS)), QUESTIONS)
        assert list(map(timeless, synchronous)) == alone
        assert list(map(timeless, in_loops)) == alone


def test_libraries_share_their_weights(tmp_path: Path) -> None:
    assert build_embedder(EmbedSettings()) is build_embedder(EmbedSettings())
    (tmp_path / "model.safetensors").write_bytes(b"x")
    reranked = RetrievalSettings(reranker=str(tmp_path))
    assert build_reranker(reranked) is build_reranker(reranked)
