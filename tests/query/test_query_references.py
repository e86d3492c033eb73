"""What a question names outright is resolved, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope.types import Paper
from query.references import find_references, named_papers
from tests.query.conftest import listed


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does Table 2 show?", ["table-2"]),
        ("According to table 2, which is best?", ["table-2"]),
        ("Compare Tables 1 and 2.", ["table-1", "table-2"]),
        ("Compare Tab. 1-2.", ["table-1", "table-2"]),
        ("See Fig. 1b and Eq. (1).", ["figure-1", "equation-1"]),
        ("What is K in equation 1?", ["equation-1"]),
        ("What is in the last table?", ["table-2"]),
        ("What is the first figure about?", ["figure-1"]),
        ("What does Table 7 show?", []),
        ("Which table has 2 rows?", []),
        ("How does vegetable 2 taste?", []),
    ],
)
def test_labels(paper: Paper, question: str, names: list[str]) -> None:
    found = find_references(question, [paper]).elements
    assert list(found) == [f"{paper.id}/{name}" for name in names]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is said in Section 3.1?", {"passage-3", "table-2", "figure-1"}),
        ("What is said in §3?", {"passage-3", "table-2", "figure-1"}),
        ("What does Appendix A tell?", {"passage-4"}),
        ("What stands on page 3?", {"reference-1"}),
        ("What is said in Section 9?", set()),
    ],
)
def test_sections_and_pages(paper: Paper, question: str, names: set[str]) -> None:
    references = find_references(question, [paper])
    assert set(references.surroundings) == {f"{paper.id}/{name}" for name in names}
    assert references.elements == ()


def test_a_label_is_resolved_in_every_paper(paper: Paper) -> None:
    other = replace(
        paper, id="bbbb", elements=tuple(replace(one, id=one.id.replace(paper.id, "bbbb")) for one in paper.elements)
    )
    assert find_references("Table 1?", [paper, other]).elements == (f"{paper.id}/table-1", "bbbb/table-1")


def test_roman_and_appendix_labels(paper: Paper) -> None:
    first, *rest = [element for element in paper.elements if element.kind == "table"]
    odd = replace(
        paper, elements=(replace(first, label="TABLE IV"), *(replace(one, label="Table A.3") for one in rest))
    )
    assert find_references("What is in Table IV?", [odd]).elements == (first.id,)
    assert find_references("What is in Table A.3?", [odd]).elements == (rest[0].id,)


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
    assert named_papers(question, [listed(paper)]) == ((paper.id,) if named else ())


def test_a_file_or_title_that_is_a_common_word_names_nothing(paper: Paper) -> None:
    plain = replace(paper, title="Losses", file="paper.pdf")
    assert named_papers("Which losses does the paper use?", [listed(plain)]) == ()
    assert named_papers("", [listed(replace(paper, title="", file=""))]) == ()


@given(st.text())
def test_any_question_is_read(question: str) -> None:
    assert find_references(question, []).elements == ()
    assert named_papers(question, []) == ()
