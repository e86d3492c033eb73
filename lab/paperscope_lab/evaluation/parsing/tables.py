"""Scores tables: cells, spans, header rows, captions, TEDS and look-ups."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from paperscope_core.types import Cell, Paper, Table
from paperscope_lab.evaluation.gold.papers import Gold, GoldLookup, GoldTable
from paperscope_lab.evaluation.matching import align, pair_best, remove_spaces, similarity
from paperscope_lab.evaluation.parsing.teds import covered_positions, teds, tree_of_gold, tree_of_table
from paperscope_lab.evaluation.score import Miss, Score, Tally, score_checks, total

__all__ = ["align_grids", "folded_grid", "found_cells", "label_number", "score_lookups", "score_tables", "shape_of"]

_LABEL_NUMBER = re.compile(r"^\D*?([A-Z]{0,2}\.?\d+(?:[.-]\d+)*[a-z]?|[IVXLC]{1,12})\W*$")
_RAISED = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u207f]+")
_CITATION = re.compile(r"\[\d+(?:[,-]\d+)*\]$")
_DROPPED = str.maketrans("", "", "*_\\{}")
_MIN_CAPTION_SIMILARITY = 0.85
# Below it, a table without a number in the gold has no counterpart.
_MIN_LIKENESS = 0.2
_MAX_MISSES_SHOWN = 12


def label_number(label: str) -> str:
    """Return the number in the label of a float or an equation, "" if it has none."""
    words = label.split()
    match = _LABEL_NUMBER.match(words[-1].strip("().:")) if words else None
    return match[1] if match else ""


def folded_grid(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Fold every text, writes superscript digits as 10^20, and pad the rows to equal length.

    Marks of emphasis and of subscripts are removed, because each source writes them differently.
    """
    width = max((len(row) for row in grid), default=0)
    return [[_folded(text) for text in (*row, *[""] * (width - len(row)))] for row in grid]


def _folded(text: str) -> str:
    return remove_spaces(_RAISED.sub(lambda match: f"^{match[0]}", text)).translate(_DROPPED)


def _without_citations(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a folded grid without the numeric citations at the end of its texts."""
    return [[_CITATION.sub("", text) for text in row] for row in grid]


def align_grids(gold: Sequence[Sequence[str]], got: Sequence[Sequence[str]]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the monotone mappings of row and column indices under which most cells agree (greedy).

    First rows are aligned by the texts that they share, then columns given the rows, then rows again given the columns.
    Empty cells don't count. A missing or extra row or column therefore costs only itself and shifts nothing.
    """

    def agree(row: int, column: int, got_row: int, got_column: int) -> bool:
        return bool(gold[row][column]) and gold[row][column] == got[got_row][got_column]

    rows = align(gold, got, worth=_shared_texts)
    columns = align(
        range(len(gold[0]) if gold else 0),
        range(len(got[0]) if got else 0),
        worth=lambda column, other: sum(agree(row, column, got_row, other) for row, got_row in rows.items()),
    )
    rows = align(
        range(len(gold)),
        range(len(got)),
        worth=lambda row, other: sum(agree(row, column, other, got_column) for column, got_column in columns.items()),
    )
    return rows, columns


def _shared_texts(first: Sequence[str], second: Sequence[str]) -> int:
    return (Counter(filter(None, first)) & Counter(filter(None, second))).total()


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """A table, if one was found, compared with one reading of the gold: by printed lines, or by logical rows."""

    gold: GoldTable
    table: Table | None
    logical: bool

    @property
    def rows(self) -> Sequence[int]:
        """The row of each printed line of the gold."""
        return self.gold.logical_row if self.logical else range(len(self.gold.grid))

    @cached_property
    def wanted(self) -> list[list[str]]:
        return self._folded(self.gold.logical if self.logical else self.gold.grid)

    @cached_property
    def printed(self) -> list[list[str]]:
        return self.table.grid(repeat_spans=self.gold.from_source) if self.table else []

    @cached_property
    def got(self) -> list[list[str]]:
        return self._folded(self.printed)

    def _folded(self, grid: Sequence[Sequence[str]]) -> list[list[str]]:
        folded = folded_grid(grid)
        return _without_citations(folded) if self.gold.from_source else folded

    @cached_property
    def weights(self) -> Counter[tuple[int, int]]:
        """The number of printed cells at each position of the gold."""
        return Counter(
            (self.rows[line], column)
            for line, row in enumerate(self.gold.grid)
            for column, text in enumerate(row)
            if text.strip() and (line, column) not in self.gold.formulas
        )

    @cached_property
    def alignment(self) -> tuple[dict[int, int], dict[int, int]]:
        return align_grids(self.wanted, self.got)

    def position(self, row: int | None, column: int | None) -> tuple[int, int] | None:
        """Return the position in the table of a position of the gold; None if it has no counterpart."""
        rows, columns = self.alignment
        return (rows[row], columns[column]) if row in rows and column in columns else None

    def text_at(self, grid: Sequence[Sequence[str]], row: int, column: int) -> str | None:
        """Return the text of the table's grid at a position of the gold."""
        position = self.position(row, column)
        return grid[position[0]][position[1]] if position else None

    @cached_property
    def wrong(self) -> list[tuple[int, int]]:
        """The positions of the gold whose text is different in the table."""
        return [at for at in self.weights if self.text_at(self.got, *at) != self.wanted[at[0]][at[1]]]

    @property
    def tally(self) -> Tally:
        cells = self.weights.total()
        return Tally(right=cells - sum(self.weights[position] for position in self.wrong), total=cells)

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of the gold and of the table."""
        return shape_of(self.wanted), shape_of(self.got)

    @property
    def same_shape(self) -> bool:
        return self.shapes[0] == self.shapes[1]


def shape_of(grid: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Return the numbers of rows and columns that are not empty."""
    return sum(1 for row in grid if any(row)), sum(1 for column in zip(*grid, strict=True) if any(column))


def _best_reading(expected: GoldTable, table: Table | None) -> _Reading:
    readings = [_Reading(gold=expected, table=table, logical=logical) for logical in (False, True)]
    return max(readings, key=lambda reading: (reading.tally.share, reading.same_shape))


def score_tables(paper: Paper, gold: Gold) -> Score:
    """Compare each gold table with the table of that number, or with the most similar one if the gold has no number.

    - tables.cells: non-empty gold cells whose text is in the aligned row and column; the better of two readings, by
      printed lines or by logical rows (a cell printed on two lines counts twice in both).
    - tables.exact: all cells are correct, and the numbers of rows and columns are equal.
    - tables.spans: gold spans matched by a cell in that position with the same row and column span.
    - tables.header_rows: the set of header rows is the same (per table).
    - tables.captions: the table with this number has this caption, and no other table fits the gold's cells better.
    - tables.teds: see `teds`; a missing table counts 0.
    - tables.true (if the gold has all tables): found tables that are in the gold.
    """
    tables = [element for element in paper.elements if isinstance(element, Table)]
    pairs = _pairs(gold.tables, tables)
    score = total(
        _score_one(expected, tables[pairs[index]] if index in pairs else None, tables)
        for index, expected in enumerate(gold.tables)
    )
    if not gold.all_tables:
        return score
    known = set(pairs.values())
    misses = tuple(
        Miss(metric="tables.true", what=f"page {table.place.page}", gold="no table", got=table.label or "a table")
        for index, table in enumerate(tables)
        if index not in known
    )
    return score + Score(tallies={"tables.true": Tally(right=len(known), total=len(tables))}, misses=misses)


def _pairs(gold: Sequence[GoldTable], tables: Sequence[Table]) -> dict[int, int]:
    by_number = {label_number(table.label): index for index, table in reversed(list(enumerate(tables))) if table.label}
    pairs = {
        index: by_number[expected.number]
        for index, expected in enumerate(gold)
        if expected.number and expected.number in by_number
    }
    rest = [index for index, expected in enumerate(gold) if not expected.number]
    free = [index for index in range(len(tables)) if index not in pairs.values()]
    likeness = pair_best(rest, free, worth=lambda a, b: _likeness(gold[a], tables[b]), least=_MIN_LIKENESS)
    return pairs | {rest[a]: free[b] for a, b in likeness.items()}


def _likeness(expected: GoldTable, table: Table) -> float:
    """Return the similarity of the captions if the gold has one, else the share of correct cells."""
    if expected.caption:
        return similarity(expected.caption, table.caption)
    return _best_reading(expected, table).tally.share


def _score_one(expected: GoldTable, table: Table | None, tables: Sequence[Table]) -> Score:
    name = f"Table {expected.number or '?'}" + (f", page {expected.page}" if expected.page else "")
    reading = _best_reading(expected, table)
    tally = reading.tally
    tallies = {
        "tables.cells": tally,
        "tables.exact": Tally(right=tally.right == tally.total and reading.same_shape, total=1),
        "tables.teds": Tally(right=_teds(reading), total=1),
    }
    if expected.spans is not None:
        tallies["tables.spans"] = _spans(reading)
    if expected.header_rows is not None:
        tallies["tables.header_rows"] = Tally(right=_same_header(reading), total=1)
    score = Score(tallies=tallies, misses=tuple(_cell_misses(name, reading)))
    if not expected.number:
        return score
    bound = {"tables.captions": table is not None and _is_caption_bound(expected, table, tables)}
    got = table.caption if table else ""
    return score + score_checks(bound, what=name, gold=expected.caption or name, got=got)


def _spans(reading: _Reading) -> Tally:
    spans = reading.gold.spans or ()
    cells = reading.table.cells if reading.table else ()
    sizes = {(cell.row, cell.column): (cell.row_span, cell.column_span) for cell in cells}
    right = 0
    for span in spans:
        top, bottom = reading.rows[span.row], reading.rows[span.row + span.rowspan - 1]
        position = reading.position(top, span.col)
        right += position is not None and sizes.get(position) == (bottom - top + 1, span.colspan)
    return Tally(right=right, total=len(spans))


def _same_header(reading: _Reading) -> bool:
    if reading.table is None:
        return False
    lines = set(reading.gold.header_rows or ()) - set(reading.gold.section_rows)
    rows, _ = reading.alignment
    heads = {cell.row for cell in reading.table.cells if cell.role == "column_header"}
    return {rows.get(reading.rows[line]) for line in lines} == heads


def _is_caption_bound(expected: GoldTable, table: Table, tables: Sequence[Table]) -> bool:
    if expected.caption is not None:
        # Some gold repeats the label in the caption: "Table 5: ".
        bare = re.sub(rf"^Table {re.escape(expected.number)}[ :.|\u2013\u2014-]*", "", expected.caption)
        if similarity(bare, table.caption) < _MIN_CAPTION_SIMILARITY:
            return False
    own = _best_reading(expected, table).tally.right
    return own > 0 and all(_best_reading(expected, other).tally.right <= own for other in tables)


def _teds(reading: _Reading) -> float:
    if reading.table is None:
        return 0.0
    return teds(
        tree_of_gold(reading.gold, logical=reading.logical),
        tree_of_table(reading.table, repeat_spans=reading.gold.from_source),
    )


def _cell_misses(name: str, reading: _Reading) -> list[Miss]:
    if reading.table is None:
        return [Miss(metric="tables.cells", what=name, gold=f"{reading.tally.total:g} cells", got="no such table")]
    misses = [
        Miss(
            metric="tables.cells",
            what=f"{name}, row {row}, column {column}",
            gold=reading.wanted[row][column],
            got=reading.text_at(reading.printed, row, column) or "",
        )
        for row, column in reading.wrong
    ]
    if not misses and not reading.same_shape:
        gold, got = reading.shapes
        misses.append(Miss(metric="tables.exact", what=name, gold=f"shape {gold}", got=f"shape {got}"))
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
    """Return the cells of the named table whose value is the answer.

    Each is in a row that has all named parts before the cell, and under a column whose header (with the title of the
    row's section, if any) is the named one.
    """
    tables = [element for element in paper.elements if isinstance(element, Table) and _is_meant(element, lookup)]
    return [cell for table in tables for cell in _cells_with_answer(table, lookup)]


def _is_meant(table: Table, lookup: GoldLookup) -> bool:
    if lookup.label:
        return label_number(table.label) == label_number(lookup.label)
    return similarity(table.caption, lookup.caption) >= _MIN_CAPTION_SIMILARITY


def _cells_with_answer(table: Table, lookup: GoldLookup) -> Iterator[Cell]:
    wanted, column_name, *parts = folded_grid([[lookup.answer, lookup.column, *lookup.row.split(" / ")]])[0]
    values = replace(table, cells=tuple(replace(cell, text=cell.value) for cell in table.cells))
    grid = _without_citations(folded_grid(values.grid(repeat_spans=True)))
    heads = folded_grid([table.column_names()])[0]
    cells = {position: cell for cell in table.cells for position in covered_positions(cell)}
    sections = {cell.row for cell in table.cells if cell.role == "section"}
    section = ""
    for row, texts in enumerate(grid):
        if row in sections:
            section = next(filter(None, texts), "")
            continue
        for column, text in enumerate(texts):
            named = column_name in (heads[column], section + heads[column])
            if text == wanted and named and all(part in texts[:column] for part in parts) and (row, column) in cells:
                yield cells[row, column]
