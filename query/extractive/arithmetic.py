"""Statements from the cells that a question names: look-ups and computations."""

from collections.abc import Iterable, Sequence, Set

from paperscope_core.types import Claim, Evidence, Table
from query.extractive.cells import Selection
from query.extractive.question import Operation
from query.extractive.table_index import Header, IndexedCell, TableIndex, joined_names, number_text
from query.extractive.wording import tokens

__all__ = ["compute", "look_up", "look_up_counted", "table_name"]

# More values than this are a part of the table, not an answer.
_MAX_VALUES = 6
_MAX_WINNERS = 3
_RANKS = {1: "", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth "}
# Rows and columns that aggregate others are not candidates for the highest or lowest value.
_AGGREGATES = frozenset("all average avg mean median overall sum total".split())


def look_up(selection: Selection) -> Claim | None:
    """State the values of the named rows and columns; None if the names do not determine both."""
    cells = selection.cells
    named = all(map(selection.names, ("row", "column")))
    # A group of rows has several values in one column. All of them answer if the question names the table.
    group = selection.by_label and len({cell.column for cell in cells}) == 1
    if not named or len(cells) > _MAX_VALUES or (len(cells) != selection.wanted and not group):
        return None
    rows, columns = {cell.row_name for cell in cells}, {cell.column_name for cell in cells}
    if len(cells) > 1 and len(rows) == 1 and rows != {""}:
        said = f"{rows.pop()} has " + _listed([f"{cell.value.text} under {cell.column_name}" for cell in cells])
    elif len(cells) > 1 and len(columns) == 1 and columns != {""}:
        said = f"under {columns.pop()}, " + _listed([f"{cell.row_name} has {cell.value.text}" for cell in cells])
    else:
        said = _listed(
            [
                f"{cell.row_name} has {cell.value.text} under {cell.column_name}"
                if cell.row_name and cell.column_name
                else f"{cell.row_name or cell.column_name} is {cell.value.text}"
                for cell in cells
            ]
        )
    return _stated(said, selection, cells)


def look_up_counted(selection: Selection) -> Claim:
    """State the value in a counted row or column with its numbers and headers, so that the count can be checked."""
    (cell,) = selection.cells
    names = " / ".join(header.name for header in cell.row if not header.note)
    said = {"row": names, "column": joined_names(cell.column)}
    for axis, number in selection.counted.items():
        said[axis] = f"{number} ({said[axis]})" if said[axis] else str(number)
    where = f"Row {said['row']}, column {said['column']} of {table_name(selection.index.table)}, headers not counted"
    return _claim(f"{where}: {cell.value.text}.", selection, [cell])


def compute(operation: Operation, selection: Selection) -> Claim | None:
    """State the result of an operation over the selected cells; None if it is not defined for them."""
    cells = [cell for cell in selection.cells if cell.value.number is not None]
    if operation.kind == "extreme":
        return _extreme(operation, selection, cells)
    if len(cells) != len(selection.cells) or not all(map(selection.names, ("row", "column"))):
        return None
    if operation.kind in ("sum", "average"):
        return _aggregate(selection, cells, mean=operation.kind == "average")
    if len(cells) != 2 or selection.wanted != 2:
        return None
    first, second = _in_question_order(selection, cells)
    return (_ratio if operation.kind == "ratio" else _difference)(selection, first, second)


def table_name(table: Table) -> str:
    """The label as printed, or else the table's place."""
    return table.label or f"the table {'in' if table.place.by_line else 'on'} {table.place.where}"


def _in_question_order(selection: Selection, cells: Sequence[IndexedCell]) -> list[IndexedCell]:
    """Two cells in the order in which the question names the headers that distinguish them."""
    shared = frozenset.intersection(*(cell.headers for cell in cells))
    order = selection.named
    return sorted(cells, key=lambda cell: min(order.index(one) for one in cell.headers - shared if one in order))


def _difference(selection: Selection, first: IndexedCell, second: IndexedCell) -> Claim:
    one, other, scope = _distinguishing_names(first, second)
    said = f"{one} has {first.value.text} and {other} has {second.value.text}"
    decimals = max(first.value.decimals, second.value.decimals)
    difference = round(first.number - second.number, decimals)
    low, high = sorted((first, second), key=lambda cell: cell.number)
    amount = number_text(abs(difference), decimals)
    way = "higher" if difference > 0 else "lower"
    result = f"{one} is {way} by {amount} ({high.value.plain} − {low.value.plain} = {amount})"
    said = f"{said}: {result if difference else 'they are equal'}"
    return _stated(f"{scope}{said}", selection, (first, second))


def _ratio(selection: Selection, first: IndexedCell, second: IndexedCell) -> Claim | None:
    if not second.number:
        return None
    one, other, scope = _distinguishing_names(first, second)
    result = number_text(first.number / second.number, 2)
    said = f"the ratio of {one} to {other} is {first.value.plain} / {second.value.plain} = {result}"
    return _stated(f"{scope}{said}", selection, (first, second))


def _distinguishing_names(first: IndexedCell, second: IndexedCell) -> tuple[str, str, str]:
    """The names of the headers that distinguish two cells, and "for X, " with the headers that they share."""
    shared = first.headers & second.headers
    one, other = (
        joined_names(header for header in (*cell.row, *cell.column) if header not in shared and not header.note)
        for cell in (first, second)
    )
    scope = joined_names(header for header in (*first.row, *first.column) if header in shared)
    return one, other, f"for {scope}, " if scope else ""


def _aggregate(selection: Selection, cells: Sequence[IndexedCell], *, mean: bool) -> Claim | None:
    """The sum or the mean of the values of several rows, or columns, that the question names one by one."""
    one_line = len({cell.row for cell in cells}) == 1 or len({cell.column for cell in cells}) == 1
    if not 1 < len(cells) == selection.wanted or not one_line:
        return None
    decimals = max(cell.value.decimals for cell in cells)
    total = sum(cell.number for cell in cells)
    terms = " + ".join(number_text(cell.number, decimals) for cell in cells)
    shown = f"({terms}) / {len(cells)}" if mean else terms
    result = number_text(total / len(cells) if mean else total, decimals + mean)
    names = _listed([f"{cell.row_name} under {cell.column_name}" for cell in cells])
    text = f"the {'average' if mean else 'sum'} for {names} is {shown} = {result}"
    return _stated(text, selection, cells)


def _extreme(operation: Operation, selection: Selection, cells: Sequence[IndexedCell]) -> Claim | None:
    """The extreme value of one named column over its rows, or of one named row over columns of one measure."""
    named = set(selection.named)
    cells = [cell for cell in cells if not _is_aggregate(cell, named)]
    columns, rows = ({getattr(cell, axis) for cell in cells} for axis in ("column", "row"))
    over_rows = len(columns) == 1 and len(rows) > 1 and selection.names("column")
    over_columns = len(rows) == 1 and len(columns) > 1 and _one_measure(selection, cells)
    distinct = {cell.row_name for cell in cells} if over_rows else columns
    units = {cell.value.unit for cell in cells}
    if not (over_rows or over_columns) or len(distinct) != len(cells) or len(units) > 1:
        return None
    order = sorted({cell.number for cell in cells}, reverse=operation.direction > 0)
    if not 1 < len(order) >= operation.rank or _is_sum(order):
        return None
    winners = [cell for cell in cells if cell.number == order[operation.rank - 1]]
    if len(winners) > _MAX_WINNERS:
        return None
    shared = frozenset.intersection(*(cell.headers for cell in cells))
    names = _listed([_winner(cell, shared, selection.index) for cell in winners])
    scope = joined_names(one for one in (*winners[0].row, *winners[0].column) if one in shared)
    extreme = _RANKS[operation.rank] + ("highest" if operation.direction > 0 else "lowest")
    verb = "has" if len(winners) == 1 else "have"
    under = f" for {scope}" if scope else ""
    text = f"{names} {verb} the {extreme} value{under}: {winners[0].value.text}"
    return _stated(text, selection, winners)


def _winner(cell: IndexedCell, shared: Set[Header], index: TableIndex) -> str:
    """The headers that distinguish a cell from the others; a bare number follows the title of its column: "Seed 2"."""
    name = joined_names(header for header in (*cell.row, *cell.column) if header not in shared)
    return f"{index.stub_titles[0]} {name}" if name.isdigit() and len(index.stub_titles) == 1 else name


def _is_aggregate(cell: IndexedCell, named: set[Header]) -> bool:
    words = {word.text for header in cell.headers - named for word in tokens(header.text)}
    return not words.isdisjoint(_AGGREGATES)


def _is_sum(order: Sequence[float]) -> bool:
    """Whether the greatest value is the sum of the others, as in an unnamed row of totals."""
    greatest = max(order)
    return len(order) > 2 and abs(2 * greatest - sum(order)) <= abs(greatest) / 1000


def _one_measure(selection: Selection, cells: Sequence[IndexedCell]) -> bool:
    """Whether the columns differ in one level only and share a header that the question names."""
    shared = frozenset.intersection(*(frozenset(cell.column) for cell in cells))
    return not shared.isdisjoint(selection.named) and all(len(set(cell.column) - shared) == 1 for cell in cells)


def _stated(text: str, selection: Selection, cells: Iterable[IndexedCell]) -> Claim:
    return _claim(f"In {table_name(selection.index.table)}, {text}.", selection, cells)


def _claim(text: str, selection: Selection, cells: Iterable[IndexedCell]) -> Claim:
    """A statement with these cells as evidence."""
    cited = dict.fromkeys(cell for one in cells for cell in (one.cell, one.note) if cell is not None)
    element = selection.index.table.id
    return Claim(text=text, evidence=tuple(Evidence(element=element, place=one.place, quote=one.text) for one in cited))


def _listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
