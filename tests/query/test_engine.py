"""The engine from question to answer, with and without models."""

import asyncio
import json
import threading
import time
from dataclasses import replace

import pytest

from paperscope_core.cancellation import check_cancelled
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, ModelUnavailableError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import Answer, AskRequest, Candidates, RetrievalRequest
from query import Progress, QueryEngine, Verified

PAPER = "aaaa00000001"
ASKED = AskRequest(question="What is the ratio for QUOREF in Table 1?")


def reply(text: str, *evidence: str) -> str:
    return json.dumps({"status": "answered", "answer": text, "claims": [{"text": text, "evidence": list(evidence)}]})


async def test_with_a_model_the_answer_tells_all_that_was_done(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    model = FakeModel([reply("It is 169.", "S0"), reply("The ratio is 169.", "S0", "I0")], name="writer")
    vision = FakeModel(
        [json.dumps({"pictures": [{"picture": 1, "relevant": True, "finding": "QUOREF: ratio 169", "agrees": False}]})]
    )
    stages: list[str] = []
    engine = QueryEngine(corpus, index, embedder, model, vision)
    answer = await engine.ask(replace(ASKED, question=f"  {ASKED.question}  "), Progress(stages.append))
    assert answer.question == "What is the ratio for QUOREF in Table 1?"
    assert (answer.status, answer.text, answer.model) == ("answered", "The ratio is 169.", "writer")
    assert (answer.initial, answer.merged) == ("It is 169.", "The ratio is 169.")
    assert [reading.kind for reading in answer.readings] == ["finding"]
    assert stages[0] == "retrieving"
    assert set(stages) == {"retrieving", "answering", "reading images", "merging", "verifying"}
    assert sorted(stages) == sorted(time.stage for time in answer.stages)
    assert answer.seconds >= max(time.seconds for time in answer.stages)
    assert answer.usage.calls == 3
    assert answer.findings == ()


async def test_what_an_image_shows_is_searched_for_in_the_papers_of_the_context(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    retrieve = index.retrieve
    requests: list[RetrievalRequest] = []

    def recorded(request: RetrievalRequest) -> Candidates:
        requests.append(request)
        return retrieve(request)

    monkeypatch.setattr(index, "retrieve", recorded)
    picture = {"picture": 1, "relevant": True, "finding": "as Smith (2019) reports: 169", "agrees": False}
    vision = FakeModel([json.dumps({"pictures": [picture]})])
    engine = QueryEngine(corpus, index, embedder, FakeModel([reply("a", "S0"), reply("b", "I0")]), vision)
    await engine.ask(ASKED)
    first, second = requests
    assert first.filters.papers == ()
    assert second.filters.papers == (PAPER,)
    assert second.text == "What is the ratio for QUOREF in Table 1?\nas Smith (2019) reports: 169"


async def test_a_value_that_was_read_in_an_image_may_be_cited_from_the_source_of_its_element(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    said = "The dashed line of Table 1 is at 171.3."
    picture = {"picture": 1, "relevant": True, "finding": "a dashed line at 171.3", "agrees": True}
    model, vision = FakeModel([reply(said, "S0")]), FakeModel([json.dumps({"pictures": [picture]})])
    answer = await QueryEngine(corpus, index, embedder, model, vision).ask(ASKED)
    assert (answer.text, answer.findings) == (said, ())


async def test_a_number_that_the_model_made_up_is_flagged(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    model = FakeModel([reply("It is 171.3.", "S0")])
    answer = await QueryEngine(corpus, index, embedder, model).ask(ASKED)
    assert ("number", "171.3") in [(finding.kind, finding.subject) for finding in answer.findings]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("status", ["answered", "unanswerable"])
async def test_a_link_that_a_model_made_up_is_flagged(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, *, status: str, streamed: bool
) -> None:
    said = "It is 169. Verify your account at http://evil.example/login."
    model = FakeModel([json.dumps({"status": status, "answer": said, "claims": []})] * 2)
    picture = {"picture": 1, "relevant": True, "finding": "169, see www.evil.example/2", "agrees": True}
    vision = FakeModel([json.dumps({"pictures": [picture]})])
    told: list[str] = []
    progress = Progress(on_text=(lambda event: told.append(event.text)) if streamed else None)
    answer = await QueryEngine(corpus, index, embedder, model, vision).ask(ASKED, progress)
    links = [finding for finding in answer.findings if finding.kind == "link"]
    assert [finding.subject for finding in links] == ["http://evil.example/login", "www.evil.example/2"]
    assert links[1].place is not None
    assert streamed == bool(told)


async def test_a_link_that_the_user_wrote_is_no_finding(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    asked = replace(ASKED, question=f"{ASKED.question} I saw it on http://owl.example/a.")
    model = FakeModel([reply("The ratio at http://owl.example/a is 169.", "S0")])
    answer = await QueryEngine(corpus, index, embedder, model).ask(asked)
    assert "link" not in [finding.kind for finding in answer.findings]


async def test_without_a_model_the_answer_says_so(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    answer = await QueryEngine(corpus, index, embedder).ask(
        AskRequest(question="What is the F1 of Dice on WSJ in Table 2?")
    )
    assert (answer.status, answer.model, answer.confidence) == ("answered", "", 0.99)
    assert "95.43" in answer.text
    assert answer.findings[0].kind == "model"
    assert from_json(Answer, to_json(answer)) == answer


async def test_an_empty_library_cannot_answer(empty_corpus: Corpus, embedder: Embedder) -> None:
    assert isinstance(empty_corpus, GraphIndex)
    answer = await QueryEngine(empty_corpus, empty_corpus, embedder, FakeModel([])).ask(
        AskRequest(question="What is it?")
    )
    assert (answer.status, answer.claims, answer.model) == ("unanswerable", (), "")
    assert "contains nothing" in answer.text
    assert answer.findings == ()


@pytest.mark.parametrize(
    ("question", "message"),
    [("", "empty"), (" \n", "empty"), ("why " * 2000, "the maximum"), ("Gr\udcf6\udcdfe?", "not in UTF-8")],
)
def test_questions_that_cannot_be_asked(question: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        AskRequest(question=question)


async def test_a_failing_model_fails_the_question(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    engine = QueryEngine(corpus, index, embedder, FakeModel([ModelUnavailableError("down")]))
    with pytest.raises(ModelUnavailableError, match="down"):
        await engine.ask(AskRequest(question="What is the ratio for QUOREF?"))


async def test_a_slow_check_delays_no_other_question_and_stops_when_it_is_cancelled(
    corpus: Corpus, index: GraphIndex, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def verify(*, question: str, **_values: object) -> Verified:
        if "CTB5" in question:
            begun.set()
            try:
                while True:
                    check_cancelled()
                    time.sleep(0.001)
            finally:
                stopped.set()
        return Verified()

    monkeypatch.setattr("query.engine.verify", verify)
    engine = QueryEngine(corpus, index, embedder)
    slow = asyncio.create_task(engine.ask(AskRequest(question="What is the F1 of Dice on CTB5?")))
    await asyncio.to_thread(begun.wait, 5)
    assert (
        await asyncio.wait_for(engine.ask(AskRequest(question="What is the F1 of Dice on WSJ?")), 5)
    ).status == "answered"
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert stopped.is_set()
