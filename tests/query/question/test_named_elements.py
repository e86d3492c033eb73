"""What a question names outright is resolved, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.types import Box, Link, Paper, Passage, Place
from query.question.named_elements import find_references


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
        ("What does Tables 1 to 2 show?", ["table-1", "table-2"]),
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


def test_a_page_is_named_by_the_number_that_is_printed_on_it(paper: Paper) -> None:
    feet = (
        Passage(
            id=f"{paper.id}/passage-{90 + page}",
            place=Place(paper=paper.id, page=page, box=Box(0, 700, 10, 710)),
            order=200 + page,
            text=str(464 + page),
            role="furniture",
        )
        for page in (1, 2, 3)
    )
    numbered = replace(paper, elements=(*paper.elements, *feet))
    found = find_references("What stands at the bottom of page 467?", [numbered])
    assert set(found.parts) == {f"{paper.id}/reference-1", f"{paper.id}/passage-93"}
    assert found.pages == {3}
    assert find_references("What stands on page 467?", [paper]).pages == frozenset()


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


def test_a_section_is_found_by_its_id_as_parsers_give_it(paper: Paper) -> None:
    ids = {section.path: section.id for section in paper.sections}
    parsed = replace(paper, elements=tuple(replace(one, section=ids.get(one.section, "")) for one in paper.elements))
    for question in ("What is said in Section 3?", "What is in subsection 3.1?", "See Appendix A."):
        assert find_references(question, [parsed]).surroundings == find_references(question, [paper]).surroundings != ()


def test_supplementary_labels_and_their_ranges(paper: Paper) -> None:
    tables = [element for element in paper.elements if element.kind == "table"]
    more = [*tables, replace(tables[0], id=f"{paper.id}/table-3")]
    odd = replace(paper, elements=tuple(replace(one, label=f"Table S{n}") for n, one in enumerate(more, start=1)))
    ids = tuple(one.id for one in odd.elements)
    assert sorted(find_references("What do Tables S1–S3 show?", [odd]).elements) == sorted(ids)
    assert find_references("And Supplementary Table 2?", [odd]).elements == (ids[1],)


def test_an_algorithm_is_found_by_its_label(paper: Paper) -> None:
    first, *rest = paper.elements
    assert first.kind == "passage"
    floating = replace(paper, elements=(replace(first, label="Algorithm 2"), *rest))
    assert find_references("What does Algorithm 2 do?", [floating]).elements == (first.id,)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What do Rare et al. (2019) say?", True),
        ("What do Rare et al., 2019a say?", True),
        ("What do Rare et al. (2018) say?", False),
        ("What do Tags et al. (2019) say?", False),
        ("What is the share of rare tags?", False),
    ],
)
def test_a_cited_work_is_found_where_it_is_cited(paper: Paper, question: str, found: bool) -> None:
    cited = [
        replace(one, text="R. Rare and T. Other. 2019. Tags.", year=2019) if one.kind == "reference" else one
        for one in paper.elements
    ]
    link = Link(source=f"{paper.id}/passage-3", target=f"{paper.id}/reference-1", text="[1]")
    citing = replace(paper, elements=tuple(cited), links=(*paper.links, link))
    expected = (link.source, link.target) if found else ()
    assert find_references(question, [citing]).surroundings == expected


@given(st.text())
def test_any_question_is_read(question: str) -> None:
    assert find_references(question, []).elements == ()


@pytest.mark.parametrize("label", ["Scheme 2", "Box 1", "Prompt 3", "Listing 4", "Algorithm 5"])
def test_labels_of_other_floats(paper: Paper, label: str) -> None:
    first = next(element for element in paper.elements if element.kind == "figure")
    odd = replace(paper, elements=(replace(first, label=label),))
    assert find_references(f"What does {label.lower()} say?", [odd]).elements == (first.id,)
    assert find_references("What does it say in the box 7, the prompt and the scheme?", [odd]).elements == ()
