"""Tables, their cells, and their conversion to CSV, HTML and data frames."""

import csv
import html
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from paperscope_core.types.displayable import Displayable
from paperscope_core.types.place import Place

if TYPE_CHECKING:
    from pandas import DataFrame


__all__ = ["Cell", "Table"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell of a table; `row` and `column` count from 0, spans cover the cells right of and below it.

    `role` tells a column header from a row header (a stub), a section row's title and a body value. `annotation` is
    the end of `text` that qualifies a value: "(+0.81)" of "92.11 (+0.81)", "±0.3" of "88.7±0.3", "†" of "12.3†".
    """

    row: int
    column: int
    text: str
    place: Place
    row_span: int = 1
    column_span: int = 1
    role: Literal["column_header", "row_header", "section", "value"] = "value"
    bold: bool = False
    annotation: str = ""

    @property
    def value(self) -> str:
        """The text without its annotation."""
        return self.text.removesuffix(self.annotation).rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Table(Displayable):
    """A table with its cells. `label` is as printed ("Table 5"), "" if none; `crop` names its picture.

    `confidence` (0 to 1) is the parser's own check of the grid. A table that is continued is one table: its rows follow
    each other without the repeated header, `more_places` and `more_crops` are those of its further parts.
    """

    id: str
    place: Place
    order: int
    cells: tuple[Cell, ...]
    label: str = ""
    caption: str = ""
    caption_place: Place | None = None
    header_rows: int = 0
    section: str = ""
    crop: str | None = None
    confidence: float = 1.0
    more_places: tuple[Place, ...] = ()
    more_crops: tuple[str, ...] = ()
    kind: Literal["table"] = "table"

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns), spans included."""
        rows = max((cell.row + cell.row_span for cell in self.cells), default=0)
        columns = max((cell.column + cell.column_span for cell in self.cells), default=0)
        return rows, columns

    def grid(self, *, repeat_spans: bool = False) -> list[list[str]]:
        """The texts as rows of equal length; a spanned cell stands in its first position, or in all of them."""
        rows, columns = self.shape
        grid = [[""] * columns for _ in range(rows)]
        for cell in self.cells:
            for row, column in _covered(cell) if repeat_spans else [(cell.row, cell.column)]:
                grid[row][column] = cell.text
        return grid

    def column_names(self) -> list[str]:
        """One name a column: its header cells from top to bottom, a group's title before its member's.

        The title of a section that stands above the header is no part of it: it names rows, not columns.
        """
        parts: list[dict[str, None]] = [{} for _ in range(self.shape[1])]
        for cell in sorted(self.cells, key=lambda cell: cell.row):
            if cell.row < self.header_rows and cell.role != "section" and cell.text:
                for column in range(cell.column, cell.column + cell.column_span):
                    parts[column][cell.text] = None
        return [" ".join(part) for part in parts]

    def to_csv(self) -> str:
        """RFC 4180 rows of `grid()`."""
        out = io.StringIO()
        csv.writer(out).writerows(self.grid())
        return out.getvalue()

    def to_html(self, *, marked: Collection[Cell] = ()) -> str:
        """An HTML table with spans, every text escaped; a position without a cell is an empty one.

        The texts of `marked` cells are set in <mark>.
        """
        shape = self.shape
        covered = {place for cell in self.cells for place in _covered(cell)}
        holes = ((row, column) for row in range(shape[0]) for column in range(shape[1]) if (row, column) not in covered)
        parts = [((cell.row, cell.column), _cell_html(cell, marked=cell in marked)) for cell in self.cells]
        parts += [(hole, "<td></td>") for hole in holes]
        rows: list[list[str]] = [[] for _ in range(shape[0])]
        for (row, _), part in sorted(parts):
            rows[row].append(part)
        caption = html.escape(f"{self.label}: {self.caption}" if self.label else self.caption)
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
        return f"<table><caption>{caption}</caption>{body}</table>"

    def to_frame(self) -> "DataFrame":
        """The body as a pandas DataFrame of texts under `column_names()` (needs pandas).

        Rows that only head others (section titles, repeated headers) are left out.
        """
        from pandas import DataFrame

        heads = {cell.row for cell in self.cells if cell.role in {"section", "column_header"}}
        rows = enumerate(self.grid(repeat_spans=True))
        return DataFrame([row for number, row in rows if number not in heads], columns=self.column_names())


def _covered(cell: Cell) -> Iterator[tuple[int, int]]:
    for row in range(cell.row, cell.row + cell.row_span):
        for column in range(cell.column, cell.column + cell.column_span):
            yield row, column


def _cell_html(cell: Cell, *, marked: bool) -> str:
    tag = "td" if cell.role == "value" else "th"
    spans = "".join(
        f' {name}="{count}"' for name, count in (("rowspan", cell.row_span), ("colspan", cell.column_span)) if count > 1
    )
    text = f"<mark>{html.escape(cell.text)}</mark>" if marked else html.escape(cell.text)
    return f"<{tag}{spans}>{text}</{tag}>"
