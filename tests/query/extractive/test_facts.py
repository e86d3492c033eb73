"""Facts of the record, and definitions in a fixed form."""

from collections.abc import Awaitable, Callable

import pytest

from paperscope_core.types import Paper, Passage
from query.evidence import Draft

Ask = Callable[..., Awaitable[Draft]]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the title of the paper?", "The title is “Seedlings under stress”."),
        ("Who wrote the paper?", "The authors are Ana Roe, Bo Lind."),
        ("Who is the first author of this article?", "The first author is Ana Roe."),
        ("How many authors does the paper have?", "The paper has 2 authors."),
        ("In which year was the paper published?", "The paper is of 2021."),
        ("Where was the paper published?", "The paper was published in Plant Letters."),
        ("In which journal did it appear?", "The paper was published in Plant Letters."),
        ("What is the DOI of the paper?", "The DOI of the paper is 10.5555/seedlings.1."),
        ("What's its DOI?", "The DOI of the paper is 10.5555/seedlings.1."),
        ("What is the arXiv id of this paper?", "The arXiv id of the paper is 2101.00001."),
        ("How many tables does the paper contain?", "The paper has 2 tables with a label: Table 1, Table 2."),
        ("How many tables are in the paper on seedlings?", "The paper has 2 tables with a label: Table 1, Table 2."),
        ("How many figures are there?", "The paper has 1 figure with a label: Figure 1."),
        ("How many equations does it have?", "The paper has 1 equation with a label: Equation 1."),
    ],
)
async def test_facts_of_the_record(ask: Ask, botany: Paper, question: str, answer: str) -> None:
    draft = await ask(question, botany)
    assert (draft.status, draft.text, draft.certain) == ("answered", answer, True)
    assert draft.claims[0].evidence


@pytest.mark.parametrize(
    "question",
    [
        "Who are the authors of the paper on drought published in Nature?",
        "How many tables of soil samples does the paper contain?",
        "How many figures show wilting?",
        "Who is the corresponding author of the paper?",
        "In which year was the first oven built?",
        "Where was the variety of wheat published?",
        "What is the DOI of the soil data?",
        "What is the title of Section 2.1?",
        "Which papers mention gibberellin?",
    ],
)
async def test_what_the_record_does_not_hold_is_no_fact(ask: Ask, botany: Paper, question: str) -> None:
    assert (await ask(question, botany)).status != "answered"


async def test_the_caption_and_the_page_of_a_named_figure(ask: Ask, botany: Paper) -> None:
    named = ("aaaa00000001/figure-1",)
    caption = await ask("What does Figure 1 show?", botany, named=named)
    assert caption.text == "The caption of Figure 1 reads: “Leaf area over time.”"
    page = await ask("On which page is Figure 1?", botany, named=named)
    assert page.text == "Figure 1 is on page 3."


async def test_facts_of_one_paper_are_not_told_of_several(
    ask: Ask, botany: Paper, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    speaks = make_passage(1, "Trees were felled.", paper="bbbb00000002")
    other = make_paper(speaks, ident="bbbb00000002", title="Forests")
    assert (await ask("What is the title of the paper?", botany, other)).status != "answered"


@pytest.mark.parametrize(
    ("question", "sentence", "lead"),
    [
        ("What is PAR short for in the paper?", "Photosynthetically active radiation (PAR) was logged.", "PAR stands"),
        (
            "What does the acronym “PAR” stand for?",
            "Photosynthetically active radiation (PAR) was logged.",
            "PAR stands for ",
        ),
        (
            "What is relative growth?",
            "We define relative growth as the gain in height over twelve weeks.",
            "“We define",
        ),
        ("How is relative growth defined?", "We define relative growth as the gain in height", "“We define"),
    ],
)
async def test_definitions_in_a_fixed_form(ask: Ask, botany: Paper, question: str, sentence: str, lead: str) -> None:
    draft = await ask(question, botany)
    assert draft.status == "answered"
    assert draft.text.startswith(lead)
    assert sentence in draft.text


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The dose ratio (r) is defined as the quotient of two doses.", "dose ratio"),
        ("Dead time refers to the interval after an event.", "dead time"),
        ("By parity we mean the number of births.", "parity"),
        ("The term epistasis denotes an interaction of genes.", "epistasis"),
    ],
)
async def test_the_forms_of_definitions(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper], text: str, term: str
) -> None:
    paper = make_paper(make_passage(1, f"Nothing here. {text}"))
    draft = await ask(f"What is {term}?", paper)
    assert (draft.status, draft.text) == ("answered", f"“{text}” (page 1)")


async def test_two_expansions_of_one_short_form_are_left_open(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    one = make_passage(1, "The mean radiant temperature (MRT) was high.")
    two = make_passage(2, "Each magnetic resonance tomography (MRT) took an hour.")
    assert (await ask("What does MRT stand for?", make_paper(one, two))).status == "evidence"


async def test_a_sentence_that_uses_a_term_defines_nothing(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    paper = make_paper(make_passage(1, "The dose ratio is high, and the dose ratio was measured twice."))
    assert (await ask("What is the dose ratio?", paper)).status == "evidence"
