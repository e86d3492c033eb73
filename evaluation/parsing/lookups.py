"""Scores questions such as "what stands under COLUMN in ROW of TABLE"."""

from dataclasses import replace

from evaluation.gold.values import Gold, GoldLookup
from evaluation.matching import similarity
from evaluation.parsing.grids import folded_grid, without_citations
from evaluation.parsing.labels import number_of
from evaluation.values import Miss, Score, Tally
from paperscope.types import Paper, Table

__all__ = ["score_lookups"]

_SAME_CAPTION = 0.85


def score_lookups(paper: Paper, gold: Gold) -> Score:
    """tables.lookups: questions whose answer is the value of a cell of that table, in a row that has all named parts in
    front of it, under a column whose header (with the section above the row, if any) is the named one."""
    if not gold.lookups:
        return Score()
    tables = [element for element in paper.elements if isinstance(element, Table)]
    missed = [lookup for lookup in gold.lookups if not any(_answered(table, lookup) for table in tables)]
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


def _answered(table: Table, lookup: GoldLookup) -> bool:
    if lookup.label and number_of(table.label) != number_of(lookup.label):
        return False
    if not lookup.label and similarity(table.caption, lookup.caption) < _SAME_CAPTION:
        return False
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
                return True
    return False


def _values(table: Table) -> Table:
    """The table without its annotations."""
    return replace(table, cells=tuple(replace(cell, text=cell.value) for cell in table.cells))
