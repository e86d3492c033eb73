"""A question is understood by its history; a model is asked only where it is needed."""

import json
from dataclasses import replace

import pytest

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.types import AskRequest, Filters, Turn
from query import Progress, QueryEngine
from query.question.understanding import Understanding

PAPER = "aaaa00000001"
LAST = Turn(question="What is the F1 of Dice on CTB5 in Table 2?", answer="It is 96.30.", papers=(PAPER,))
FOLLOW_UP = AskRequest(question="and on WSJ?", history=(LAST,))
ANSWER = json.dumps({"status": "answered", "answer": "It is 95.43.", "claims": []})


def questions_of(model: FakeModel) -> list[str]:
    return [request.schema_name for request in model.requests]


async def test_without_a_model_a_message_is_a_whole_question(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    answer = await QueryEngine(corpus, index, embedder).ask(FOLLOW_UP)
    assert (answer.question, answer.asked_as, answer.status) == ("and on WSJ?", "", "evidence")
    assert "understanding" not in [stage.stage for stage in answer.stages]


async def test_a_model_rewrites_a_follow_up_and_its_call_is_counted(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    full = "What is the F1 of Dice on WSJ in Table 2?"
    model = FakeModel([json.dumps({"question": full}), ANSWER])
    answer = await QueryEngine(corpus, index, embedder, model).ask(FOLLOW_UP)
    assert answer.asked_as == full
    assert answer.usage.calls == 2
    assert questions_of(model) == ["question", "answer"]
    asked = model.requests[0].messages[-1].text
    assert "From: Dice Losses for Imbalanced Tagging" in asked
    assert "It is 96.30." in asked
    assert f"Question: {full}" in model.requests[1].messages[-1].text


@pytest.mark.parametrize(("same", "papers"), [(True, (PAPER,)), (False, ())])
async def test_a_rewritten_question_is_asked_of_the_papers_that_the_model_says(
    corpus: Corpus, same: bool, papers: tuple[str, ...]
) -> None:
    model = FakeModel([json.dumps({"question": "What is the F1 of Dice on WSJ?", "same_papers": same})])
    thanks = Turn(question="Thanks!", answer="Ask on.")
    asked = await Understanding(corpus, model).read(replace(FOLLOW_UP, history=(LAST, thanks)), Progress())
    assert asked.filters.papers == papers


async def test_no_call_is_made_for_a_question_without_a_conversation(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    model = FakeModel([ANSWER])
    answer = await QueryEngine(corpus, index, embedder, model).ask(AskRequest(question="and on WSJ?"))
    assert questions_of(model) == ["answer"]
    assert answer.asked_as == ""


@pytest.mark.parametrize(
    "question", ["Is XLNet there", "How many tokens has HTML for the same", "what does the third do", "Und auf WSJ?"]
)
async def test_a_model_reads_each_message_of_a_conversation_whatever_its_form(corpus: Corpus, question: str) -> None:
    model = FakeModel([json.dumps({"question": "What is the F1 of Dice on WSJ?"})])
    asked = await Understanding(corpus, model).read(replace(FOLLOW_UP, question=question), Progress())
    assert (asked.question, asked.filters.papers) == ("What is the F1 of Dice on WSJ?", (PAPER,))


async def test_a_paper_that_the_rewritten_question_names_is_searched_whatever_the_model_says(corpus: Corpus) -> None:
    question = "What does Dice Losses for Imbalanced Tagging show on WSJ?"
    model = FakeModel([json.dumps({"question": question, "same_papers": True})])
    other = Turn(question="Which datasets are used?", answer="Two.", papers=("bbbb00000002",))
    asked = await Understanding(corpus, model).read(
        AskRequest(question="and the Dice paper", history=(other,)), Progress()
    )
    assert (asked.question, asked.filters.papers) == (question, ())


async def test_a_reply_without_a_question_fails_the_question(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    model = FakeModel([json.dumps({"question": " "})] * 2)
    with pytest.raises(ModelReplyError, match="'question'"):
        await QueryEngine(corpus, index, embedder, model).ask(FOLLOW_UP)


async def test_filters_hold_for_the_answer_without_a_model(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    engine = QueryEngine(corpus, index, embedder)
    question = "What is the F1 of Dice on WSJ?"
    assert "95.43" in (await engine.ask(AskRequest(question=question))).text
    assert "95.43" in (await engine.ask(AskRequest(question=question, filters=Filters(kinds=("table",))))).text
    answer = await engine.ask(AskRequest(question=question, filters=Filters(sections=("A",))))
    assert "95.43" not in answer.text
    cited = {evidence.element for claim in answer.claims for evidence in claim.evidence}
    assert cited <= {f"{PAPER}/passage-4"}
