"""Checks the numbers of a paper against each other."""

from collections.abc import Iterator

from paperscope_core.types import Paper
from query.papercheck.bold_marks import find_wrong_bold
from query.papercheck.cited_cells import find_wrong_citations
from query.papercheck.discrepancies import Discrepancy
from query.papercheck.identities import find_broken_identities
from query.papercheck.number_grid import NumberGrid, sound_tables
from query.papercheck.reported_tests import find_wrong_p_values

__all__ = ["check_paper"]


def check_paper(paper: Paper) -> tuple[Discrepancy, ...]:
    """Return the numbers of a paper that do not fit together, tables first. It calls no model."""
    return tuple(_discrepancies(paper))


def _discrepancies(paper: Paper) -> Iterator[Discrepancy]:
    tables = {table.id: table for table in sound_tables(paper)}
    for table in tables.values():
        grid = NumberGrid(table)
        yield from find_broken_identities(grid)
        yield from find_wrong_bold(grid)
    yield from find_wrong_citations(paper, tables)
    yield from find_wrong_p_values(paper)
