"""What a parsed paper consists of: passages, tables, figures, equations, references."""

import csv
import hashlib
import html
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from paperscope.types.place import Place

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Cell",
    "Element",
    "Equation",
    "Figure",
    "Link",
    "Page",
    "PageProblem",
    "Paper",
    "PaperEntry",
    "ParsedPaper",
    "Passage",
    "PassageRole",
    "Reference",
    "Section",
    "Table",
    "content_hash",
]

PassageRole = Literal["title", "authors", "abstract", "heading", "paragraph", "list", "footnote", "code", "furniture"]


def content_hash(data: bytes) -> str:
    """The name under which bytes (a crop, a file) are kept: their SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Running text. `more_places` holds the rest of a passage that goes on in another column or page."""

    id: str
    place: Place
    order: int
    text: str
    role: PassageRole = "paragraph"
    section: str = ""
    level: int = 0
    more_places: tuple[Place, ...] = ()
    kind: Literal["passage"] = "passage"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell of a table; `row` and `column` count from 0, spans cover the cells right of and below it.

    `role` tells a column header from a row header (a stub), a section row's title and a body value.
    """

    row: int
    column: int
    text: str
    place: Place
    row_span: int = 1
    column_span: int = 1
    role: Literal["column_header", "row_header", "section", "value"] = "value"
    bold: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table with its cells. `label` is as printed ("Table 5"), "" if none; `crop` names its picture.

    `confidence` (0 to 1) is the parser's own check of the grid.
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
            down, right = (cell.row_span, cell.column_span) if repeat_spans else (1, 1)
            for row in range(cell.row, cell.row + down):
                for column in range(cell.column, cell.column + right):
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

    def to_html(self) -> str:
        """An HTML table with spans, every text escaped."""
        rows: list[list[str]] = [[] for _ in range(self.shape[0])]
        for cell in sorted(self.cells, key=lambda cell: (cell.row, cell.column)):
            tag = "td" if cell.role == "value" else "th"
            spans = "".join(
                f' {name}="{count}"'
                for name, count in (("rowspan", cell.row_span), ("colspan", cell.column_span))
                if count > 1
            )
            rows[cell.row].append(f"<{tag}{spans}>{html.escape(cell.text)}</{tag}>")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A picture; `text` is what the page itself prints inside its box (axis labels and the like)."""

    id: str
    place: Place
    order: int
    label: str = ""
    caption: str = ""
    caption_place: Place | None = None
    text: str = ""
    section: str = ""
    crop: str | None = None
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation:
    """A display equation; `label` is "Equation 3" where a number stands beside it, else ""."""

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    section: str = ""
    crop: str | None = None
    kind: Literal["equation"] = "equation"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """One entry of the bibliography; `label` is as cited ("[12]", "Li et al., 2020"), "" if unknown."""

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    year: int | None = None
    section: str = ""
    kind: Literal["reference"] = "reference"


Element = Passage | Table | Figure | Equation | Reference


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section; `path` names it with its parents ("4 Experiments > 4.2 Results"), `level` counts from 1."""

    id: str
    number: str
    title: str
    level: int
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page's number (from 1) and size in points."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageProblem:
    """A page, or part of one, that could not be read, and why."""

    page: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A cross-reference: element `source` names element `target` with `text` ("Table 6", "Eq. (3)", "[12]")."""

    source: str
    target: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A parsed paper. `id` derives from the file's SHA-256; `file` is the file's name; elements are in reading order.

    Element ids are `PAPER/KIND-N`, N counting from 1 within the kind in reading order (`3f2a9c1b7d10/table-5`).
    """

    id: str
    title: str
    authors: tuple[str, ...]
    sha256: str
    file: str
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    elements: tuple[Element, ...]
    links: tuple[Link, ...] = ()
    problems: tuple[PageProblem, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperEntry:
    """A paper as the library lists it, without its elements; `source` is the file it was added from, `revision` the
    one that added it, `embedder` names the weights of its vectors."""

    id: str
    title: str
    file: str
    source: str
    sha256: str
    embedder: str
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPaper:
    """What a parser hands over: the paper, and the PNG bytes of its crops by content hash."""

    paper: Paper
    crops: Mapping[str, bytes] = field(default_factory=dict)
