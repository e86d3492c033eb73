"""Tables, their cells and rows, and their conversion to text, CSV, HTML and data frames."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from paperscope_core.text.escaping import html, spreadsheet_csv
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.place import Place

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Cell", "CellRole", "Table", "TableRow", "column_headers", "is_bracketed", "table_lines", "table_rows"]

CellRole = Literal["column_header", "row_header", "section", "value"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell of a table. Rows and columns count from 0; a span covers cells below and to the right.

    Attributes:
        role: "column_header", "row_header" (in the stub), "section" (the title of the rows below) or "value".
        annotation: The end of `text` that qualifies a value: "(+0.81)" of "92.11 (+0.81)", "±0.3" of "88.7±0.3", "†"
            of "12.3†".

    Example:
        >>> from paperscope import Box
        >>> place = Place(paper="3f2a9c1b7d10", page=4, box=Box(72, 100, 120, 110))
        >>> Cell(row=1, column=1, text="88.7±0.3", place=place, annotation="±0.3").value
        '88.7'
    """

    row: int
    column: int
    text: str
    place: Place
    row_span: int = 1
    column_span: int = 1
    role: CellRole = "value"
    bold: bool = False
    annotation: str = ""

    @property
    def value(self) -> str:
        """The text without its annotation."""
        return self.text.removesuffix(self.annotation).rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Table(Displayable):
    """A table with its cells.

    A table that continues on another page is one table: the rows follow each other without the repeated header, and
    `more_places` and `more_crops` belong to its further parts.

    Attributes:
        label: As printed ("Table 5"), "" if it has none.
        header_rows: How many rows the column header takes.
        crop: The content hash of its picture.
        confidence: The parser's estimate (0 to 1) that the grid is right.

    Example:
        >>> from paperscope import Box
        >>> place = Place(paper="3f2a9c1b7d10", page=4, box=Box(72, 100, 300, 140))
        >>> texts = [["Loss", "F1"], ["Dice", "92.11"]]
        >>> table = Table(
        ...     id="3f2a9c1b7d10/table-5",
        ...     place=place,
        ...     order=0,
        ...     header_rows=1,
        ...     cells=tuple(
        ...         Cell(row=row, column=column, text=text, place=place)
        ...         for row, line in enumerate(texts)
        ...         for column, text in enumerate(line)
        ...     ),
        ... )
        >>> table.shape
        (2, 2)
        >>> table.column_names()
        ['Loss', 'F1']
        >>> table.grid()
        [['Loss', 'F1'], ['Dice', '92.11']]
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
        """The number of rows and of columns, spans included."""
        rows = max((cell.row + cell.row_span for cell in self.cells), default=0)
        columns = max((cell.column + cell.column_span for cell in self.cells), default=0)
        return rows, columns

    def grid(self, *, repeat_spans: bool = False) -> list[list[str]]:
        """Return the texts as rows of equal length.

        Args:
            repeat_spans: Whether a spanned cell's text is repeated in all its positions, instead of only the first one.
        """
        rows, columns = self.shape
        grid = [[""] * columns for _ in range(rows)]
        for cell in self.cells:
            for row, column in _covered(cell) if repeat_spans else [(cell.row, cell.column)]:
                grid[row][column] = cell.text
        return grid

    def column_names(self) -> list[str]:
        """Return one name per column: the texts of its header cells from top to bottom, each once.

        A section's title above the header is left out, because it names rows.
        """
        parts: list[dict[str, None]] = [{} for _ in range(self.shape[1])]
        for cell in sorted(self.cells, key=lambda cell: cell.row):
            if cell.row < self.header_rows and cell.role != "section" and cell.text:
                for column in range(cell.column, cell.column + cell.column_span):
                    parts[column][cell.text] = None
        return [" ".join(part) for part in parts]

    def to_csv(self) -> str:
        """`grid()` as CSV (RFC 4180). A cell that a spreadsheet could run as a formula begins with an apostrophe."""
        return spreadsheet_csv(self.grid())

    def to_html(self, *, marked: Collection[Cell] = ()) -> Markup:
        """Return an HTML table with spans, all texts escaped.

        Args:
            marked: Cells whose texts are highlighted with <mark>.
        """
        shape = self.shape
        covered = {position for cell in self.cells for position in _covered(cell)}
        empty = ((row, column) for row in range(shape[0]) for column in range(shape[1]) if (row, column) not in covered)
        parts = [((cell.row, cell.column), _cell_html(cell, marked=cell in marked)) for cell in self.cells]
        parts += [(position, Markup("<td></td>")) for position in empty]
        rows: list[list[Markup]] = [[] for _ in range(shape[0])]
        for (row, _), part in sorted(parts):
            rows[row].append(part)
        caption = f"{self.label}: {self.caption}" if self.label else self.caption
        body = Markup().join(html("<tr>{}</tr>", Markup().join(row)) for row in rows)
        return html("<table><caption>{}</caption>{}</table>", caption, body)

    def to_frame(self) -> "DataFrame":
        """Return the body as a pandas DataFrame of texts under `column_names()`; needs pandas.

        Rows that contain only headings (section titles, repeated headers) are left out.
        """
        from pandas import DataFrame

        heads = {cell.row for cell in self.cells if cell.role in {"section", "column_header"}}
        rows = enumerate(self.grid(repeat_spans=True))
        return DataFrame([row for number, row in rows if number not in heads], columns=self.column_names())


def _covered(cell: Cell) -> Iterator[tuple[int, int]]:
    for row in range(cell.row, cell.row + cell.row_span):
        for column in range(cell.column, cell.column + cell.column_span):
            yield row, column


def _cell_html(cell: Cell, *, marked: bool) -> Markup:
    spans = Markup().join(
        html(' {}="{}"', name, count)
        for name, count in (("rowspan", cell.row_span), ("colspan", cell.column_span))
        if count > 1
    )
    text = html("<mark>{}</mark>" if marked else "{}", cell.text)
    return html("<{tag}{spans}>{text}</{tag}>", tag="td" if cell.role == "value" else "th", spans=spans, text=text)


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """One body row of a table.

    Attributes:
        number: Its position in the table, from 0.
        sections: The title of its section row, if any.
        stubs: The cells of its row headers from left to right; of a section row, those of its titles.
        values: Its value cells, each with the number of its column; a section row has none.
    """

    number: int
    sections: tuple[str, ...]
    stubs: tuple[Cell, ...]
    values: tuple[tuple[int, Cell], ...]

    @property
    def headers(self) -> tuple[str, ...]:
        """The row headers from left to right."""
        return tuple(_one_line(cell.text) for cell in self.stubs)

    @property
    def name(self) -> str:
        """The row's name, qualified by its section."""
        return " ".join((*(title for title in self.sections if title not in self.headers), *self.headers))


def table_rows(table: Table) -> Iterator[TableRow]:
    """Yield the rows below the header; spanned cells are repeated in each row, empty cells and repeated headers left
    out.

    A header cell that spans the whole width is the title of the first section. Where an outer row header is empty, the
    one above counts; a row without a header whose values are all in brackets, such as standard errors, has the headers
    of the row above.
    """
    by_row: dict[int, list[Cell]] = {}
    for cell in sorted(table.cells, key=lambda cell: (cell.column, cell.row)):
        for row in range(max(cell.row, table.header_rows), cell.row + cell.row_span):
            if cell.text.strip():
                by_row.setdefault(row, []).append(cell)
    has_stub = any(cell.role == "row_header" for cell in table.cells)
    sections = tuple(_one_line(cell.text) for cell in table.cells if _spans_header(cell, table))
    above: tuple[Cell, ...] = ()
    for number in sorted(by_row):
        cells = by_row[number]
        if all(cell.role == "column_header" for cell in cells):
            continue
        if all(cell.role == "section" for cell in cells):
            sections, above = tuple(_one_line(cell.text) for cell in cells), ()
            yield TableRow(number=number, sections=(), stubs=tuple(cells), values=())
            continue
        stubs = tuple(cell for cell in cells if _is_row_header(cell, has_stub=has_stub))
        values = tuple((cell.column, cell) for cell in cells if cell not in stubs)
        if stubs:
            above = stubs = (*(cell for cell in above if cell.column < stubs[0].column), *stubs)
        elif all(is_bracketed(cell.text) for cell in cells):
            stubs = above
        yield TableRow(number=number, sections=sections, stubs=stubs, values=values)


def is_bracketed(text: str) -> bool:
    """Return whether brackets enclose the text: "(0.012)", "[1.2, 3.4]**"."""
    inner = text.strip().rstrip("*\u2020\u2021 ")
    return inner[:1] + inner[-1:] in ("()", "[]")


def column_headers(table: Table) -> list[tuple[str, ...]]:
    """Return the headers of each column from top to bottom, without repeats.

    A header that spans the whole width is left out, because it does not distinguish columns.
    """
    columns: list[dict[str, None]] = [{} for _ in range(table.shape[1])]
    for cell in sorted(table.cells, key=lambda cell: cell.row):
        if cell.row < table.header_rows and cell.text.strip() and not _spans_header(cell, table):
            for column in range(cell.column, cell.column + cell.column_span):
                columns[column].setdefault(_one_line(cell.text))
    return [tuple(headers) for headers in columns]


def _spans_header(cell: Cell, table: Table) -> bool:
    return cell.row < table.header_rows and 1 < table.shape[1] == cell.column_span and bool(cell.text.strip())


def _is_row_header(cell: Cell, *, has_stub: bool) -> bool:
    """Return whether a cell is a row header; if the parser found none, a cell with letters in the first column is
    one."""
    if has_stub or cell.role != "value":
        return cell.role != "value"
    return cell.column == 0 and any(character.isalpha() for character in cell.text)


def table_lines(
    table: Table,
    *,
    keeps: Callable[[str], bool] = bool,
    rows: Collection[int] | None = None,
    columns: Collection[int] | None = None,
) -> Iterator[str]:
    """Yield a table as text: a line of column headers, and one line per row, "ROW | COLUMN: VALUE | ...".

    Args:
        table: The table.
        keeps: Whether a value is included, by its text.
        rows: The numbers of the rows to include; None for all.
        columns: The numbers of the columns to include; None for all.
    """
    names = [" ".join(headers) for headers in column_headers(table)]
    shown = [name for column, name in enumerate(names) if name and (columns is None or column in columns)]
    if shown:
        yield "Columns: " + " | ".join(shown)
    for row in table_rows(table):
        if rows is not None and row.number not in rows:
            continue
        parts = [row.name] if row.name else []
        for column, cell in row.values:
            text = _one_line(cell.text)
            if keeps(text) and (columns is None or column in columns):
                parts.append(f"{names[column]}: {text}" if names[column] else text)
        if parts:
            yield " | ".join(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())
