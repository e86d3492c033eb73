"""Ids are the labels, whatever the order, the repeats and the signs of the labels."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.assembly import UniqueNames, element_names, section_names
from paperscope_core.types import Box, Equation, Figure, Passage, Place, Reference, Table

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
TABLE = Table(id="", place=PLACE, order=0, cells=())
FIGURE = Figure(id="", place=PLACE, order=0)
EQUATION = Equation(id="", place=PLACE, order=0, text="a = b")
PASSAGE = Passage(id="", place=PLACE, order=0, text="Words.")
REFERENCE = Reference(id="", place=PLACE, order=0, text="Li. 2020.")


@pytest.mark.parametrize(
    ("element", "label", "name"),
    [
        (TABLE, "Table 7", "table-7"),
        (TABLE, "Table A.1", "table-a.1"),
        (TABLE, "Figure 3", "figure-3"),
        (FIGURE, "Figure S2", "figure-s2"),
        (EQUATION, "Equation 3", "equation-3"),
        (PASSAGE, "Algorithm 1", "algorithm-1"),
        (PASSAGE, "Listing 2", "listing-2"),
        (REFERENCE, "[12]", "reference-12"),
        (REFERENCE, "Li et al., 2020", "reference-li-et-al.-2020"),
        (TABLE, "7", "table-7"),
        (TABLE, "…", "table-unlabelled-1"),
        (TABLE, "", "table-unlabelled-1"),
        (PASSAGE, "", "passage-1"),
    ],
)
def test_an_elements_id_is_its_label(
    element: Table | Figure | Equation | Passage | Reference, label: str, name: str
) -> None:
    assert element_names([replace(element, label=label)]) == [name]


def test_ids_follow_the_label_and_not_the_order() -> None:
    tables = [replace(TABLE, label=label) for label in ("Table 2", "", "Table 1", "Table 2", "", "Table 2")]
    assert element_names([PASSAGE, *tables, PASSAGE]) == [
        "passage-1",
        *("table-2", "table-unlabelled-1", "table-1", "table-2-2", "table-unlabelled-2", "table-2-3"),
        "passage-2",
    ]


def test_a_section_is_named_by_its_number_or_its_title() -> None:
    titles = [("", "Abstract"), ("4.2", "Results"), ("A", "Prompts"), ("", "Results"), ("4.2", "Results"), ("", "—")]
    assert section_names(titles) == [
        *("section-abstract", "section-4.2", "section-a", "section-results", "section-4.2-2", "section-untitled"),
    ]


@given(st.lists(st.sampled_from(["table-2", "table-2-2", "table", "table-2-2-2"])))
def test_no_two_names_are_equal(wanted: list[str]) -> None:
    names = UniqueNames()
    assert len({names.add(name) for name in wanted}) == len(wanted)
