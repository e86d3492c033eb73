"""The report in Markdown: its form, and that no text of a paper or a model is read as markup."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope_core.text.escaping import one_line
from paperscope_core.types import (
    Answer,
    Box,
    Check,
    Claim,
    Context,
    ContextEntity,
    ContextSource,
    Evidence,
    Exhibit,
    Finding,
    ImageFinding,
    LookUp,
    Place,
    ToolCall,
    UnreadImage,
)
from query import compact
from service.batch import BatchRow, Gold
from service.batch.report import render_report
from service.batch.summary import summarize
from tests.context_parsing import parse_context
from tests.rendered_markdown import HOSTILE, RENDERERS, TEXTS, elements

PLACE = Place(paper="aaaa", page=3, box=Box(1.0, 2.0, 3.0, 4.0))
TABLE = "aaaa/table-1"
OURS = {"div", "h2", "h3", "hr", "p", "br", "strong", "em", "ul", "ol", "li", "pre", "code"}


def row(text: str) -> BatchRow:
    """A row with this text wherever a paper, a model or a person writes one."""
    answer = Answer(
        question=text,
        status="answered",
        text=text,
        initial=text,
        look_ups=(LookUp(call=ToolCall(tool="section", argument=text, paper=text), rows=(0,), message=text),),
        merged=text,
        model=text,
        claims=(Claim(text=text, evidence=(Evidence(element=TABLE, place=PLACE, quote=text, name=text),)),),
        checks=(Check(number="1", finding="computed", formula=text),),
        context=Context(
            sources=(ContextSource(id=0, content=text, element=TABLE, place=PLACE),),
            entities=(ContextEntity(id=0, entity=text, type=text, description=text, rank=1, places=()),),
        ),
        exhibits=(Exhibit(element=TABLE, kind="table", place=PLACE, label=text),),
        readings=(
            ImageFinding(element=TABLE, place=PLACE, crop="", text=text, relevant=True),
            UnreadImage(element=TABLE, place=PLACE, crop="", reason=text),
        ),
        findings=(Finding(kind="note", message=text),),
    )
    return BatchRow(index=0, question=text, status="answered", answer=answer, gold=Gold(answer=text or "1"))


def report(text: str) -> str:
    error = BatchRow(index=1, question=text, status="error", error=text)
    rows = [row(text), error]
    return render_report(rows, summarize(rows, questions=2, seconds=1.0))


def check(text: str, renderer: str) -> None:
    found = elements(report(text), renderer)
    assert {one.tag for one in found.iter()} <= OURS
    query = one_line(f"Query: {text}")
    assert [one_line(str(one.text_content())) for one in found.iter("h2", "h3")] == [
        "Summary",
        *(query, "Context", "Initial LLM Response", "Multimodal Processing (2 images)"),
        *("Merged Multimodal Response", "Final Response", query, "Final Response"),
    ]
    assert len(list(found.iter("pre"))) == 4
    words = "".join(str(found.text_content()).split())
    said = "".join(one_line(text).split())
    assert not said or words.count(said) >= 11


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("text", [*HOSTILE, "```\n![x](http://127.0.0.1/c)\n", "`" * 40, "~~~\n# a"])
def test_no_known_attack_is_read_as_markup(text: str, renderer: str) -> None:
    check(text, renderer)


@pytest.mark.parametrize("renderer", RENDERERS)
@settings(max_examples=15)
@given(TEXTS)
def test_no_text_is_read_as_markup(renderer: str, text: str) -> None:
    check(text, renderer)


@settings(max_examples=20)
@given(st.one_of(TEXTS, st.lists(st.sampled_from(["```", "\n", "\r", '"', ",", "-----Images-----"])).map("".join)))
def test_the_context_of_a_report_reads_back(text: str) -> None:
    section = report(text).partition("### Context\n\n")[2]
    context = re.split(r"\n\n### Initial LLM Response\n\n", section, maxsplit=1)[0]
    answer = row(text).answer
    assert answer is not None
    assert parse_context(context) == compact(answer.context)


def test_the_summary_shows_the_first_place_of_a_question_without_an_answer() -> None:
    shown = row("“The seed is 2.” (page 4)")
    assert shown.answer is not None
    answer = replace(shown.answer, text="Nothing is concluded.", status="evidence")
    rows = [replace(shown, answer=answer, status="evidence")]
    summary = render_report(rows, summarize(rows, questions=1, seconds=1.0)).partition("\n---\n")[0]
    assert "**evidence**: “The seed is 2.” (page 4)" in summary


def test_a_place_that_is_shown_is_written_once() -> None:
    shown = row("Which seed?")
    assert shown.answer is not None
    evidence = Evidence(element=TABLE, place=PLACE, quote="The seed is 2.", name="Seeds, Table 1, page 4")
    claim = Claim(text="“The seed is 2.” (page 4)", evidence=(evidence, evidence))
    answer = replace(shown.answer, text=f"Nothing is concluded:\n1. {claim.text}", status="evidence", claims=(claim,))
    rows = [replace(shown, answer=answer, status="evidence")]
    report = render_report(rows, summarize(rows, questions=1, seconds=1.0)).partition("### Final Response")[2]
    assert report.count("The seed is 2.") == 1
    assert f"**Places**:\n\n1. Seeds, Table 1, page 4 (`{TABLE}`" in report


def test_a_long_source_of_several_questions_is_written_once() -> None:
    long, brief = "The dice coefficient is a harmonic mean of precision and recall. " * 4, "A short passage."
    rows = [replace(row(text), index=index) for index, text in enumerate((long, long, brief, brief))]
    contexts = [
        parse_context(re.split(r"\n\n### Initial LLM Response\n\n", part, maxsplit=1)[0])
        for part in render_report(rows, summarize(rows, questions=4, seconds=1.0)).split("### Context\n\n")[1:]
    ]
    assert [context.sources[0].content for context in contexts] == [long, "see S0 of question 1", brief, brief]
    assert contexts[0].sources[0].place == contexts[1].sources[0].place == PLACE
