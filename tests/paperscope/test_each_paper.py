"""`Library.ask(each_paper=True)`: each paper is asked, and one answer says what they say."""

import json
from collections.abc import Callable

import pytest

from paperscope.library import Library
from paperscope_core.errors import BudgetError, InputError
from paperscope_core.models.fakes import FakeModel
from paperscope_core.types import AskRequest, ModelRequest
from tests.paperscope.test_table_exports import PAPERS
from tests.paperscope.test_table_filling import opened

__all__ = ["opened"]

Open = Callable[[FakeModel | None], Library]
QUESTION = "Which F1 does each tagger reach, and how do they differ?"


def reply(request: ModelRequest) -> str:
    """Say the F1 of each paper but the last, then compare the first two."""
    shown = request.messages[-1].text
    if "- question (" not in shown:
        claim = {"text": "They reach 0.80 and 0.81.", "evidence": ["S0", "S1"]}
        return json.dumps({"status": "answered", "answer": "They reach 0.80 and 0.81.", "claims": [claim]})
    value = "0.8" + shown.partition("F1 of 0.8")[2][:1]
    said = {"value": value, "status": "stated", "evidence": ["S1"]}
    silent = {"value": "", "status": "not stated", "evidence": []}
    return json.dumps(
        {"rows": [{"row": "", "cells": [{"column": "question"} | (silent if value == "0.82" else said)]}]}
    )


def test_an_answer_is_concluded_from_each_paper_and_grouped_by_paper(opened: Open) -> None:
    model = FakeModel(reply)
    library = opened(model)
    stages: list[str] = []
    answer = library.ask(QUESTION, each_paper=True, on_stage=stages.append)
    assert answer.text == (
        "They reach 0.80 and 0.81.\n\nOf 3 papers that were asked, 2 speak of it:\n- Paper 0: 0.80\n"
        "- Paper 1: 0.81\nNothing about it was found in: Paper 2."
    )
    assert (answer.status, answer.question, len(model.requests)) == ("answered", QUESTION, 4)
    assert [one.evidence[0].place.paper for one in answer.claims[1:]] == PAPERS[:2]
    assert {one.place.paper for one in answer.claims[0].evidence} == {*PAPERS[:2]}
    assert (answer.usage.calls, answer.findings) == (4, ())
    assert "asking papers: 3 of 3" in stages
    # The conclusion is made from what was found, and from the papers' own words.
    assert "F1 of 0.81" in model.requests[-1].messages[-1].text
    assert "words: 0.81⟧" in model.requests[-1].messages[-1].text
    # A selection asks its papers only, from stored replies.
    again = library.ask(QUESTION, papers=PAPERS[:1], each_paper=True)
    assert "Of 1 papers" in again.text


def test_without_a_model_the_best_place_of_each_paper_is_shown(opened: Open) -> None:
    answer = opened(None).ask("Which F1 does the tagger reach?", each_paper=True)
    assert answer.status == "evidence"
    assert [one.evidence[0].place.paper for one in answer.claims] == PAPERS
    assert "3 papers were searched, and this is the nearest place in each of 3" in answer.text
    assert all(one.text.startswith("Paper ") for one in answer.claims)


def test_sources_of_a_retrieval_are_spread_over_papers(opened: Open) -> None:
    library = opened(None)
    sources = library.retrieve("F1 of the tagger", each_paper=True).sources
    assert {one.place.paper for one in sources[:3]} == {*PAPERS}
    assert max(sum(one.place.paper == paper for one in sources) for paper in PAPERS) <= 3


def test_what_no_paper_says_is_unanswerable_and_one_that_fails_is_a_finding(opened: Open) -> None:
    def silent(request: ModelRequest) -> str:
        return "no JSON" if any("Paper 1" in one.text for one in request.messages) else json.dumps({"rows": []})

    answer = opened(FakeModel(silent)).ask(QUESTION, each_paper=True)
    assert answer.status == "unanswerable"
    assert answer.text.startswith("Of 3 papers that were asked, 0 speak of it. Nothing about it was found in: Paper 0")
    assert [one.kind for one in answer.findings] == ["paper"]
    with pytest.raises(InputError, match="the maximum is 1000"):
        opened(FakeModel(silent)).ask("why? " * 300, each_paper=True)


def test_the_cost_is_estimated_before_and_a_spent_budget_ends_the_question(opened: Open) -> None:
    def stopping(request: ModelRequest) -> str:
        if "Paper 2" in request.messages[-1].text:
            raise BudgetError("the budget is spent")
        return reply(request)

    library = opened(FakeModel(stopping))
    estimated = library.wait(library.question_estimator().estimate(AskRequest(question=QUESTION, each_paper=True)))
    assert estimated.least["answer"].calls == 4
    assert estimated.most["answer"].calls > 4
    with pytest.raises(BudgetError):
        library.ask(QUESTION, each_paper=True)
