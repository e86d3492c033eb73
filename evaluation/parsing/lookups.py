"""Scores questions such as "what stands under COLUMN in ROW of TABLE"."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluation.gold.values import Gold, GoldLookup
from evaluation.matching import similarity
from evaluation.parsing.grids import folded_grid, without_citations
from evaluation.parsing.labels import number_of
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Cell, Paper, Table

__all__ = ["found_cells", "score_lookups"]


_SAME_CAPTION = 0.85


def score_lookups(paper: Paper, gold: Gold) -> Score:
    """tables.lookups: questions whose answer is found in a cell."""
    if not gold.lookups:
        return Score()
    missed = [lookup for lookup in gold.lookups if not found_cells(paper, lookup)]
    return Score(
        tallies={"tables.lookups": Tally(right=len(gold.lookups) - len(missed), total=len(gold.lookups))},
        misses=tuple(
            Miss(
                metric="tables.lookups",
                what=f"{miss.label or miss.caption[:30]}: {miss.row} | {miss.column}",
                gold=miss.answer,
            )
            for miss in missed
        ),
    )


def found_cells(paper: Paper, lookup: GoldLookup) -> Sequence[Cell]:
    """The cells of that table whose value is the answer, in a row that has all named parts in front of it, under a
    column whose header (with the section above the row, if any) is the named one."""
    tables = [element for element in paper.elements if isinstance(element, Table) and _is_meant(element, lookup)]
    return [cell for table in tables for position in _positions(table, lookup) for cell in _cells_at(table, *position)]


def _is_meant(table: Table, lookup: GoldLookup) -> bool:
    if lookup.label:
        return number_of(table.label) == number_of(lookup.label)
    return similarity(table.caption, lookup.caption) >= _SAME_CAPTION


def _positions(table: Table, lookup: GoldLookup) -> Iterator[tuple[int, int]]:
    wanted, column_name, *parts = folded_grid([[lookup.answer, lookup.column, *lookup.row.split(" / ")]])[0]
    grid = without_citations(folded_grid(_values(table).grid(repeat_spans=True)))
    heads = folded_grid([table.column_names()])[0]
    section = ""
    for row, texts in enumerate(grid):
        if any(cell.row == row and cell.role == "section" for cell in table.cells):
            section = next(filter(None, texts), "")
            continue
        for column, text in enumerate(texts):
            names = {heads[column], section + heads[column]}
            if text == wanted and column_name in names and all(part in texts[:column] for part in parts):
                yield row, column


def _cells_at(table: Table, row: int, column: int) -> Iterator[Cell]:
    for cell in table.cells:
        across = cell.column <= column < cell.column + cell.column_span
        if across and cell.row <= row < cell.row + cell.row_span:
            yield cell


def _values(table: Table) -> Table:
    """The table without its annotations."""
    return replace(table, cells=tuple(replace(cell, text=cell.value) for cell in table.cells))
