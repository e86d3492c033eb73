"""Papers are named by title, file, authors and year, or by part of their title; nothing else names one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import Paper
from query.question.paper_names import Citation, PaperNames, citations, short_title
from tests.query.conftest import listed


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does 'Dice losses for imbalanced tagging' propose?", True),
        ("What is the loss in 2020.dice-45.pdf?", True),
        ("What is the loss in 2020.dice-45?", True),
        ("What are dice losses for tagging?", False),
        ("What does the paper propose?", False),
    ],
)
def test_papers_named_by_title_or_file(paper: Paper, question: str, named: bool) -> None:
    assert PaperNames().named_in(question, [listed(paper)]) == ((paper.id,) if named else ())


def test_accents_of_titles_and_authors_do_not_count(paper: Paper) -> None:
    entry = replace(listed(paper), title="Naïve Sampling of Gödel Numbers", authors=("Jörg Müller",))
    assert PaperNames().named_in("What does Naive Sampling of Godel Numbers show?", [entry]) == (paper.id,)
    assert PaperNames().named_in("What do Muller et al. propose?", [entry]) == (paper.id,)


def test_a_file_or_title_that_is_a_common_word_names_nothing(paper: Paper) -> None:
    plain = replace(paper, title="Losses", file="paper.pdf")
    assert PaperNames().named_in("Which losses does the paper use?", [listed(plain)]) == ()
    assert PaperNames().named_in("", [listed(replace(paper, title="", file=""))]) == ()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What do Author and Other (2020) propose?", True),
        ("What do Author et al. 2021 propose?", True),
        ("What do Author et al., 2017 propose?", False),
        ("What do Author et al. propose?", True),
        ("What is the loss in the paper by Author?", True),
        ("What is the loss in Author's paper?", True),
        ("What is the loss in the Dice Losses paper?", True),
        ("What is the loss in the DiceLosses paper by Other?", True),
        ("Which author wrote the paper?", False),
        ("Author guidelines?", False),
        ("What do Other et al. (2020) propose?", False),
        ("What is the best loss in this paper?", False),
        ("What does the Unrelated Things paper say?", False),
    ],
)
def test_papers_named_by_authors_or_part_of_the_title(paper: Paper, question: str, named: bool) -> None:
    entry = replace(listed(paper), authors=("An Author", "S. Other"), year=2020)
    assert PaperNames().named_in(question, [entry]) == ((paper.id,) if named else ())


def test_citations_are_read_with_their_authors_and_year() -> None:
    text = "Do O’Neil & Ünal (2019b), and Van-Dam et al. [2020], beat the work of Li?"
    assert list(citations(text)) == [
        Citation(surnames=("o’neil", "ünal"), year=2019),
        Citation(surnames=("van-dam",), year=2020),
        Citation(surnames=("li",)),
    ]


@given(st.text())
def test_any_question_is_read(question: str) -> None:
    assert PaperNames().named_in(question, []) == ()


def test_the_ids_are_those_of_the_papers_given(paper: Paper) -> None:
    names, other = PaperNames(), replace(paper, id="other")
    for papers in ((listed(paper),), (listed(paper), listed(other)), ()):
        assert names.ids(papers) == tuple(one.id for one in papers)


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("SCITAB: A Challenging Benchmark", "SCITAB"),
        ("Four Reports", "Four Reports"),
        ("Ratio 3:1 and Others", "Ratio 3:1 and Others"),
        ("word " * 20, "word word word word word word word word word word word…"),
        ("x" * 70, "x" * 59 + "…"),
        ("", ""),
    ],
)
def test_a_short_title_has_no_subtitle(title: str, short: str) -> None:
    assert short_title(title) == short
