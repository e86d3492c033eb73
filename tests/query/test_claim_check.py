"""Statements that are checked against elements which somebody names as their evidence."""

from dataclasses import replace

import pytest

from query.claim_check import check_statement
from tests.query.conftest import PAPER, TREE, MemoryLibrary

LIBRARY = MemoryLibrary(TREE)
TABLE = next(one for one in TREE.elements if one.kind == "table")
CELL = next(one for one in TABLE.cells if one.role == "value" and one.text.replace(".", "").isdigit())


def test_a_number_of_a_cell_is_borne_out_by_that_cell() -> None:
    row = next(one.text for one in TABLE.cells if (one.row, one.column) == (CELL.row, 0))
    column = next(one.text for one in TABLE.cells if (one.row, one.column) == (0, CELL.column))
    checked = check_statement(LIBRARY, f"{row} has {column} {CELL.text}.", [TABLE.id])
    (check,) = checked.checks
    assert (check.number, check.finding) == (CELL.text, "printed")
    assert [one.place for one in check.support] == [CELL.place]
    assert checked.claims[0].evidence[0].place == CELL.place
    assert checked.claims[0].evidence[0].name.endswith(f"{TABLE.label}, page {TABLE.place.page}")
    assert checked.findings == ()


def test_what_the_evidence_lacks_is_found() -> None:
    checked = check_statement(LIBRARY, "It is 77.31. The Zorblax model wins.", [TABLE.id])
    assert [(one.kind, one.subject) for one in checked.findings] == [("number", "77.31"), ("name", "Zorblax")]
    assert [claim.text for claim in checked.claims] == ["It is 77.31.", "The Zorblax model wins."]


def test_the_title_of_the_section_of_the_evidence_bears_names() -> None:
    section = replace(TREE.sections[0], id=TABLE.section, title="Zorblax 7B", path="Zorblax 7B")
    headed = replace(TREE, sections=(section,))
    checked = check_statement(MemoryLibrary(headed), "The Zorblax 7B model wins.", [TABLE.id])
    assert checked.findings == ()


def test_each_sentence_has_the_closest_sentence_of_a_passage() -> None:
    passage = next(one for one in TREE.elements if one.kind == "passage" and "." in one.text)
    checked = check_statement(LIBRARY, passage.text, [passage.id])
    assert all(claim.evidence[0].element == passage.id for claim in checked.claims)
    assert all(claim.evidence[0].quote in passage.text for claim in checked.claims)
    assert checked.findings == ()


def test_an_unknown_element_is_an_error() -> None:
    with pytest.raises(KeyError):
        check_statement(LIBRARY, "So.", [f"{PAPER}/table-99"])
