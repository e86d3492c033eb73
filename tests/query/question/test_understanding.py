"""A question is understood by its history and its parts; a model is asked only where it is needed."""

import json
from dataclasses import replace

import pytest

from paperscope_core.errors import ModelReplyError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex
from paperscope_core.settings import AnswerSettings, RetrievalSettings
from paperscope_core.types import AskRequest, Context, Filters, Turn
from query import Progress, QueryEngine
from query.context import render_for_model
from query.question.understanding import Understanding, has_parts
from query.retrieval.context_builder import merge_contexts

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
    answer = await QueryEngine(corpus, index, embedder, model, answering=AnswerSettings(decompose=True)).ask(
        AskRequest(question="and on WSJ?")
    )
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


async def test_the_parts_of_a_question_are_looked_up_one_by_one(
    corpus: Corpus, index: GraphIndex, embedder: Embedder
) -> None:
    parts = ["How long did training take on one machine?", "What ratio does QUOREF have in Table 1?"]
    question = "How long did training take, and what is the ratio of QUOREF?"
    model = FakeModel([json.dumps({"questions": parts}), ANSWER])
    engine = QueryEngine(
        corpus, index, embedder, model, answering=AnswerSettings(decompose=True), settings=RetrievalSettings(chunks=2)
    )
    answer = await engine.ask(AskRequest(question=question))
    assert questions_of(model) == ["questions", "answer"]
    assert {source.element for source in answer.context.sources} == {f"{PAPER}/passage-4", f"{PAPER}/table-1"}
    assert [source.id for source in answer.context.sources] == [0, 1]
    assert answer.asked_as == ""


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("What is the loss, and which data is used?", True),
        ("How many layers? How many heads?", True),
        ("Compare the F1 of A and B.", True),
        ("What are the F1 scores of A and B, respectively?", True),
        ("What is the F1 of BERT on QUOREF?", False),
        ("Which precision and recall does it reach?", False),
    ],
)
def test_what_seems_to_have_parts(question: str, several: bool) -> None:
    assert has_parts(question) is several


async def test_a_united_context_keeps_to_its_budget(corpus: Corpus, index: GraphIndex, embedder: Embedder) -> None:
    engine = QueryEngine(corpus, index, embedder)
    contexts = [await engine.retrieve(AskRequest(question=question)) for question in ("Table 1?", "Dice on rare tags?")]
    whole = merge_contexts(contexts, tokens=100_000, count=count_tokens)
    assert len(whole.sources) == max(len(context.sources) for context in contexts)
    less = merge_contexts(contexts, tokens=count_tokens(render_for_model(whole)) // 2, count=count_tokens)
    assert 0 < len(less.sources) < len(whole.sources)
    assert len(merge_contexts(contexts, tokens=0, count=count_tokens).sources) == 1
    assert merge_contexts([], tokens=10, count=count_tokens) == Context()


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
