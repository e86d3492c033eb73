"""Scores tables: cells, spans, header rows, captions, TEDS and look-ups."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evaluation.gold.papers import Gold, GoldLookup, GoldTable
from evaluation.matching import align, pair_best, remove_spaces, similarity
from evaluation.parsing.teds import teds, tree_of_gold, tree_of_table
from evaluation.score import Miss, Score, Tally
from paperscope_core.types import Cell, Paper, Table

__all__ = [
    "Alignment",
    "align_grids",
    "folded_grid",
    "found_cells",
    "label_number",
    "score_lookups",
    "score_tables",
    "without_citations",
]


_LABEL_NUMBER = re.compile(r"^\D*?\s*([A-Z]{0,2}\.?\d+(?:[.-]\d+)*[a-z]?|[IVXLC]+)\W*$")


_RAISED = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u207f]+")
_CITATION = re.compile(r"\[\d+(?:[,-]\d+)*\]$")
_DROPPED = str.maketrans("", "", "*_\\{}")
_MIN_CAPTION_SIMILARITY = 0.85
_MAX_MISSES_SHOWN = 12
_MIN_LOOKUP_CAPTION_SIMILARITY = 0.85


def label_number(label: str) -> str:
    """The number in the label of a float or an equation, "" if it has none."""
    last = label.strip().split()[-1:] if label.strip() else []
    match = _LABEL_NUMBER.match(last[0].strip("().:")) if last else None
    return match[1] if match else ""


def folded_grid(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Folds every text, writes superscript digits as 10^20, and pads the rows to equal length.

    Marks of emphasis and of subscripts are removed, because each source writes them differently.
    """
    width = max((len(row) for row in grid), default=0)
    return [[_folded(text) for text in (*row, *[""] * (width - len(row)))] for row in grid]


def _folded(text: str) -> str:
    return remove_spaces(_RAISED.sub(lambda match: f"^{match[0]}", text)).translate(_DROPPED)


def without_citations(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """A folded grid without the numeric citations at the end of its texts."""
    return [[_CITATION.sub("", text) for text in row] for row in grid]


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """The rows and columns of the gold grid that have a counterpart in the other grid, by index."""

    rows: dict[int, int]
    columns: dict[int, int]


def align_grids(gold: Sequence[Sequence[str]], got: Sequence[Sequence[str]]) -> Alignment:
    """The monotone mapping of rows and columns under which most cells agree (greedy).

    First rows are aligned by the texts that they share, then columns given the rows, then rows again given the columns.
    Empty cells don't count. A missing or extra row or column therefore costs only itself and shifts nothing.
    """
    rows = align(gold, got, worth=_shared_texts)
    gold_columns, got_columns = range(len(gold[0]) if gold else 0), range(len(got[0]) if got else 0)
    columns = align(
        gold_columns,
        got_columns,
        worth=lambda a, b: sum(1 for i, k in rows.items() if gold[i][a] and gold[i][a] == got[k][b]),
    )
    rows = align(
        range(len(gold)),
        range(len(got)),
        worth=lambda i, k: sum(1 for a, b in columns.items() if gold[i][a] and gold[i][a] == got[k][b]),
    )
    return Alignment(rows=rows, columns=columns)


def _shared_texts(first: Sequence[str], second: Sequence[str]) -> int:
    return (Counter(filter(None, first)) & Counter(filter(None, second))).total()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """A table compared with one reading of the gold: by printed lines, or by logical rows."""

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
    """Compares each gold table with the table of that number, or with the most similar one if the gold has no number.

    - tables.cells: non-empty gold cells whose text is in the aligned row and column; the better of two readings, by
      printed lines or by logical rows (a cell printed on two lines counts twice in both).
    - tables.exact: all cells are correct, and the numbers of rows and columns are equal.
    - tables.spans: gold spans matched by a cell in that position with the same row and column span.
    - tables.header_rows: the set of header rows is the same (per table).
    - tables.captions: the table with this number has this caption, and no other table fits the gold's cells better.
    - tables.teds, tables.teds_struct: see `teds`; a missing table counts 0.
    - tables.true (if the gold has all tables): found tables that are in the gold.
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
    by_number = {label_number(table.label): index for index, table in reversed(list(enumerate(tables))) if table.label}
    for index, expected in enumerate(gold):
        if expected.number and expected.number in by_number:
            pairs[index] = by_number[expected.number]
    rest = [index for index, expected in enumerate(gold) if not expected.number]
    free = [index for index in range(len(tables)) if index not in pairs.values()]
    likeness = pair_best(rest, free, worth=lambda a, b: _likeness(gold[a], tables[b]), least=0.2)
    return pairs | {rest[a]: free[b] for a, b in likeness.items()}


def _likeness(expected: GoldTable, table: Table) -> float:
    """The similarity of the captions if the gold has one, else the share of correct cells."""
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
    """The numbers of rows and columns that are not empty."""
    return sum(1 for row in grid if any(row)), sum(1 for column in zip(*grid, strict=True) if any(column))


def _row_of(expected: GoldTable, reading: _Reading, line: int) -> int | None:
    """The table's row for a printed line of the gold; None if there is no such row."""
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
    if (
        expected.caption is not None
        and similarity(_caption_without_label(expected), table.caption) < _MIN_CAPTION_SIMILARITY
    ):
        return False
    own = _best_reading(expected, table).tally.right
    return own > 0 and all(_best_reading(expected, other).tally.right <= own for other in tables)


def _caption_without_label(expected: GoldTable) -> str:
    """The caption without its label ("Table 5: ")."""
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
    return misses[:_MAX_MISSES_SHOWN]


def score_lookups(paper: Paper, gold: Gold) -> Score:
    """tables.lookups: the questions whose answer is found in a cell."""
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
    """The cells of the named table whose value is the answer.

    Each is in a row that has all named parts before the cell, and under a column whose header (with the title of the
    row's section, if any) is the named one.
    """
    tables = [element for element in paper.elements if isinstance(element, Table) and _is_meant(element, lookup)]
    return [cell for table in tables for position in _positions(table, lookup) for cell in _cells_at(table, *position)]


def _is_meant(table: Table, lookup: GoldLookup) -> bool:
    if lookup.label:
        return label_number(table.label) == label_number(lookup.label)
    return similarity(table.caption, lookup.caption) >= _MIN_LOOKUP_CAPTION_SIMILARITY


def _positions(table: Table, lookup: GoldLookup) -> Iterator[tuple[int, int]]:
    wanted, column_name, *parts = folded_grid([[lookup.answer, lookup.column, *lookup.row.split(" / ")]])[0]
    grid = without_citations(folded_grid(_without_annotations(table).grid(repeat_spans=True)))
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


def _without_annotations(table: Table) -> Table:
    """The table without its annotations."""
    return replace(table, cells=tuple(replace(cell, text=cell.value) for cell in table.cells))
