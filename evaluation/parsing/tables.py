"""Scores tables: cells, exact tables, spans, header rows, captions, TEDS."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.gold.values import Gold, GoldTable
from evaluation.matching import pair_best, similarity
from evaluation.parsing.grids import Alignment, align_grids, folded_grid, without_citations
from evaluation.parsing.labels import number_of
from evaluation.parsing.teds import teds, tree_of_gold, tree_of_table
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Paper, Table

__all__ = ["score_tables"]


_SAME_CAPTION = 0.85
_SHOWN_MISSES = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """One way to read the gold (by printed lines, or by logical rows), held against a table."""

    weights: dict[tuple[int, int], int]
    texts: dict[tuple[int, int], str]
    right: frozenset[tuple[int, int]]
    alignment: Alignment
    same_shape: bool
    logical: bool

    @property
    def tally(self) -> Tally:
        return Tally(right=sum(self.weights[key] for key in self.right), total=sum(self.weights.values()))


def score_tables(paper: Paper, gold: Gold) -> Score:
    """Hold each gold table against the table of that number, or the likest one where the gold has no number.

    - tables.cells: non-empty gold cells whose text stands in the aligned row and column; the better of two readings, by
      printed lines or by logical rows (a cell printed on two lines counts twice in both).
    - tables.exact: all cells right, and as many rows and columns.
    - tables.spans: gold spans met by a cell at that place with the same row and column span.
    - tables.header_rows: the set of rows that head columns is the same (per table).
    - tables.captions: the table under this number has this caption, and no other table fits the gold's cells better.
    - tables.teds, tables.teds_struct: see `teds`; a missing table counts 0.
    - tables.true (where the gold has all tables): found tables that the gold knows.
    """
    tables = [element for element in paper.elements if isinstance(element, Table)]
    pairs = _pairs(gold.tables, tables)
    score = Score()
    for index, expected in enumerate(gold.tables):
        table = tables[pairs[index]] if index in pairs else None
        score += _score_one(expected, table, tables)
    if gold.all_tables:
        known = set(pairs.values())
        extra = [table for number, table in enumerate(tables) if number not in known]
        score += Score(
            tallies={"tables.true": Tally(right=len(known), total=len(tables))},
            misses=tuple(
                Miss(
                    metric="tables.true", what=f"page {table.place.page}", gold="no table", got=table.label or "a table"
                )
                for table in extra
            ),
        )
    return score


def _pairs(gold: Sequence[GoldTable], tables: Sequence[Table]) -> dict[int, int]:
    pairs: dict[int, int] = {}
    by_number = {number_of(table.label): index for index, table in reversed(list(enumerate(tables))) if table.label}
    for index, expected in enumerate(gold):
        if expected.number and expected.number in by_number:
            pairs[index] = by_number[expected.number]
    rest = [index for index, expected in enumerate(gold) if not expected.number]
    free = [index for index in range(len(tables)) if index not in pairs.values()]
    likeness = pair_best(rest, free, worth=lambda a, b: _likeness(gold[a], tables[b]), least=0.2)
    return pairs | {rest[a]: free[b] for a, b in likeness.items()}


def _likeness(expected: GoldTable, table: Table) -> float:
    """By caption where the gold has one, else by the share of cells that are right."""
    if expected.caption:
        return similarity(expected.caption, table.caption)
    return _best_reading(expected, table).tally.share


def _score_one(expected: GoldTable, table: Table | None, tables: Sequence[Table]) -> Score:
    name = f"Table {expected.number or '?'}" + (f", page {expected.page}" if expected.page else "")
    reading = _best_reading(expected, table)
    tally = reading.tally
    exact = tally.right == tally.total and reading.same_shape
    tallies = {
        "tables.cells": tally,
        "tables.exact": Tally(right=exact, total=1),
        "tables.teds": Tally(right=_teds(expected, table, reading, structure_only=False), total=1),
        "tables.teds_struct": Tally(right=_teds(expected, table, reading, structure_only=True), total=1),
    }
    misses = _cell_misses(name, reading, expected, table)
    if expected.spans is not None:
        tallies["tables.spans"] = _spans(expected, table, reading)
    if expected.header_rows is not None:
        tallies["tables.header_rows"] = Tally(right=_same_header(expected, table, reading), total=1)
    if expected.number:
        bound = table is not None and _caption_bound(expected, table, tables)
        tallies["tables.captions"] = Tally(right=bound, total=1)
        if not bound:
            got = table.caption if table else ""
            misses.append(Miss(metric="tables.captions", what=name, gold=expected.caption or name, got=got))
    return Score(tallies=tallies, misses=tuple(misses))


def _best_reading(expected: GoldTable, table: Table | None) -> _Reading:
    readings = [_reading(expected, table, logical=False), _reading(expected, table, logical=True)]
    return max(readings, key=lambda reading: (reading.tally.share, reading.same_shape))


def _reading(expected: GoldTable, table: Table | None, *, logical: bool) -> _Reading:
    rows = folded_grid(expected.logical if logical else expected.grid)
    row_of = expected.logical_row if logical else range(len(expected.grid))
    weights: dict[tuple[int, int], int] = {}
    for line, row in enumerate(expected.grid):
        for column, text in enumerate(row):
            if text.strip() and (line, column) not in expected.formulas:
                weights[row_of[line], column] = weights.get((row_of[line], column), 0) + 1
    got = folded_grid(table.grid(repeat_spans=expected.from_source)) if table else []
    if expected.from_source:
        rows, got = without_citations(rows), without_citations(got)
    alignment = align_grids(rows, got)
    right = {
        (row, column)
        for row, column in weights
        if row in alignment.rows
        and column in alignment.columns
        and rows[row][column] == got[alignment.rows[row]][alignment.columns[column]]
    }
    return _Reading(
        weights=weights,
        texts={(row, column): rows[row][column] for row, column in weights},
        right=frozenset(right),
        alignment=alignment,
        same_shape=_shape(rows) == _shape(got),
        logical=logical,
    )


def _shape(grid: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Rows and columns that hold anything."""
    return sum(1 for row in grid if any(row)), sum(1 for column in zip(*grid, strict=True) if any(column))


def _row_of(expected: GoldTable, reading: _Reading, line: int) -> int | None:
    """The table's row for a printed line of the gold; None where it has none."""
    return reading.alignment.rows.get(expected.logical_row[line] if reading.logical else line)


def _spans(expected: GoldTable, table: Table | None, reading: _Reading) -> Tally:
    spans = expected.spans or ()
    sizes = {(cell.row, cell.column): (cell.row_span, cell.column_span) for cell in table.cells} if table else {}
    right = 0
    for span in spans:
        last = span.row + span.rowspan - 1
        down = expected.logical_row[last] - expected.logical_row[span.row] + 1 if reading.logical else span.rowspan
        row, column = _row_of(expected, reading, span.row), reading.alignment.columns.get(span.col)
        right += row is not None and column is not None and sizes.get((row, column)) == (down, span.colspan)
    return Tally(right=right, total=len(spans))


def _same_header(expected: GoldTable, table: Table | None, reading: _Reading) -> bool:
    if table is None:
        return False
    lines = set(expected.header_rows or ()) - set(expected.section_rows)
    wanted = {_row_of(expected, reading, line) for line in lines}
    heads = {cell.row for cell in table.cells if cell.role == "column_header"}
    return wanted == heads


def _caption_bound(expected: GoldTable, table: Table, tables: Sequence[Table]) -> bool:
    if expected.caption is not None and similarity(_bare(expected), table.caption) < _SAME_CAPTION:
        return False
    own = _best_reading(expected, table).tally.right
    return own > 0 and all(_best_reading(expected, other).tally.right <= own for other in tables)


def _bare(expected: GoldTable) -> str:
    """The caption without its "Table 5: "."""
    caption = expected.caption or ""
    head = f"Table {expected.number}"
    return caption.removeprefix(head).lstrip(" :.|-\u2013\u2014") if caption.startswith(head) else caption


def _teds(expected: GoldTable, table: Table | None, reading: _Reading, *, structure_only: bool) -> float:
    if table is None:
        return 0.0
    return teds(
        tree_of_gold(expected, logical=reading.logical),
        tree_of_table(table, repeat_spans=expected.from_source),
        structure_only=structure_only,
    )


def _cell_misses(name: str, reading: _Reading, expected: GoldTable, table: Table | None) -> list[Miss]:
    if table is None:
        return [Miss(metric="tables.cells", what=name, gold=f"{reading.tally.total:g} cells", got="no such table")]
    got = table.grid(repeat_spans=expected.from_source)
    misses = []
    for (row, column), text in reading.texts.items():
        if (row, column) not in reading.right:
            at_row, at_column = reading.alignment.rows.get(row), reading.alignment.columns.get(column)
            there = "" if at_row is None or at_column is None else got[at_row][at_column]
            misses.append(Miss(metric="tables.cells", what=f"{name}, row {row}, column {column}", gold=text, got=there))
    if not misses and not reading.same_shape:
        gold_rows = expected.logical if reading.logical else expected.grid
        shapes = _shape(folded_grid(gold_rows)), _shape(folded_grid(got))
        misses.append(Miss(metric="tables.exact", what=name, gold=f"shape {shapes[0]}", got=f"shape {shapes[1]}"))
    return misses[:_SHOWN_MISSES]
