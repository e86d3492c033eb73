"""A large table reduced to what a question is about: whole cells under their headers, never a grid cut off."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from paperscope.table_text import TableRow, column_headers, table_lines, table_rows, title_lines
from paperscope.types import Table
from query.words import Rarity, content_words

__all__ = ["table_excerpt", "without_note"]

# A question's word in a cell may be a value that it gives; in a header it names the row.
_IN_CELLS = 0.5
# What shares less with the question than this part of the best is not what it is about.
_TELLING = 0.5

_NOTE = re.compile(r"(?m)^… \d+ of \d+ rows, \d+ of \d+ columns shown$\n?")

Count = Callable[[str], int]


def table_excerpt(table: Table, question: str, *, tokens: int, count: Count) -> str:
    """The table's title, headers, and the rows and columns nearest to the question, within so many tokens.

    Rows and columns are those whose headers share the question's telling words; where room is left, further ones in
    the table's order. One row and one column are there whatever they take. The last line says how much is shown.
    """
    rows = {row.number: row for row in table_rows(table) if row.values}
    costs = _Costs.of(table, rows.values(), count=count)
    last = _shown(0, 0, rows, costs, table)
    room = tokens - sum(map(count, (*title_lines(table), last)))
    asked = content_words(question)
    ranked_rows = _ranked({number: _row_texts(row) for number, row in rows.items()}, asked)
    headers = {column: (" ".join(names), "") for column, names in enumerate(column_headers(table))}
    ranked_columns = _ranked({column: headers[column] for column in costs.headers}, asked)
    chosen_rows, chosen_columns = _chosen(ranked_rows, ranked_columns, costs, room)
    stubs = set(range(table.shape[1])).difference(costs.headers)
    lines = table_lines(table, rows=chosen_rows, columns=stubs.union(chosen_columns))
    last = _shown(len(chosen_rows), len(chosen_columns), rows, costs, table)
    return "\n".join((*title_lines(table), *lines, last))


def without_note(content: str) -> str:
    """A source without the line that tells of an excerpt: no paper says it."""
    return _NOTE.sub("", content)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Costs:
    """The tokens of each row's name, of each value, and of each column's header; columns without a value have none."""

    names: Mapping[int, int]
    values: Mapping[int, Mapping[int, int]]
    headers: Mapping[int, int]

    @classmethod
    def of(cls, table: Table, rows: Iterable[TableRow], *, count: Count) -> "_Costs":
        headers = [" ".join(names) for names in column_headers(table)]
        names, values = dict[int, int](), dict[int, dict[int, int]]()
        for row in rows:
            names[row.number] = count(f"{row.name}\n")
            values[row.number] = {column: count(f" | {headers[column]}: {cell.text}") for column, cell in row.values}
        used = sorted({column for cells in values.values() for column in cells})
        return cls(names=names, values=values, headers={column: count(f" | {headers[column]}") for column in used})

    def row(self, row: int, columns: Iterable[int]) -> int:
        return self.names[row] + sum(self.values[row].get(column, 0) for column in columns)

    def grid(self, rows: Iterable[int], columns: Sequence[int]) -> int:
        return sum(self.headers[column] for column in columns) + sum(self.row(row, columns) for row in rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ranked:
    """Numbers of rows or columns, best first; the first `telling` of them are what the question is about."""

    order: tuple[int, ...]
    telling: int


def _ranked(texts: Mapping[int, tuple[str, str]], asked: frozenset[str]) -> _Ranked:
    rarity = Rarity.of(" ".join(parts) for parts in texts.values())
    scores = {
        number: rarity.coverage(asked, header) + _IN_CELLS * rarity.coverage(asked, cells)
        for number, (header, cells) in texts.items()
    }
    best = max(scores.values(), default=0.0)
    return _Ranked(
        order=tuple(sorted(scores, key=lambda number: (-scores[number], number))),
        telling=sum(score >= _TELLING * best for score in scores.values()) if best else 0,
    )


def _chosen(rows: _Ranked, columns: _Ranked, costs: _Costs, room: int) -> tuple[set[int], set[int]]:
    """Columns that the question names (none: all), as many as leave room for the rows that it names; then further
    rows, and if all are in, further columns."""
    wanted = list(columns.order[: columns.telling or None])
    needed = rows.order[: max(rows.telling, 1)]
    while len(wanted) > 1 and costs.grid(needed, wanted) > room:
        wanted.pop()
    kept = list(rows.order[:1])
    used = costs.grid(kept, wanted)
    for row in rows.order[1:]:
        used += costs.row(row, wanted)
        if used > room:
            return set(kept), set(wanted)
        kept.append(row)
    for column in columns.order:
        if column not in wanted and costs.grid(kept, [*wanted, column]) <= room:
            wanted.append(column)
    return set(kept), set(wanted)


def _row_texts(row: TableRow) -> tuple[str, str]:
    return row.name, " ".join(cell.text for _, cell in row.values)


def _shown(rows: int, columns: int, of_rows: Mapping[int, TableRow], costs: _Costs, table: Table) -> str:
    """The line that tells of an excerpt; columns of row headers are always shown."""
    whole = table.shape[1]
    kept = whole - len(costs.headers) + columns
    return f"… {rows} of {len(of_rows)} rows, {kept} of {whole} columns shown"
