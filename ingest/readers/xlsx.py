"""Reads Excel workbooks: each region of cells of a sheet is a table. A place is the row of a cell in its sheet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING

from ingest.document.bylines import author_names
from ingest.document.drafts import draft_passage
from ingest.readers.element_collector import Reading, Source, SourceLines
from ingest.readers.float_captions import read_caption
from ingest.readers.inline_text import collapse_spaces
from ingest.readers.number_formats import displayed_value
from ingest.readers.table_grid import MarkupCell, table_of_rows
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Element, PageProblem

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = ["read_xlsx"]

# A workbook takes fifty times the memory of its XML.
_MAX_SHEET = 60_000_000
_MAX_CELLS = 500_000
_SHEET_PART = re.compile(r"xl/worksheets/[^/]+\.xml")
# A formula whose value the program that wrote the file did not store.
_NO_VALUE = re.compile(rb"(?:</f>|<f(?:[^<>/]|/(?!>))*+/>)\s*+(?:(?:<v\s*+/>|<v></v>)\s*+)?</c>")


def read_xlsx(source: Source) -> Reading:
    """Read a workbook. Raise `PaperFileError` if it is damaged or too large."""
    archive = ZipArchive(source.data, name=source.name, kind="XLSX")
    # Before it is opened, because a sheet that is too large is refused.
    parts = filter(_SHEET_PART.fullmatch, archive.names)
    empty = sum(len(_NO_VALUE.findall(archive.read(part, most=_MAX_SHEET) or b"")) for part in parts)
    workbook = _open(source)
    sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
    title = collapse_spaces(workbook.properties.title or "")
    elements: list[Element] = [
        draft_passage(title or source.name.rsplit(".", 1)[0], "title", source.lines.at(1, 1)),
    ]
    for sheet in sheets:
        found = list(_elements(sheet, lines=source.lines))
        if found and len(sheets) > 1:
            elements.append(draft_passage(sheet.title, "heading", source.lines.at(1, 1), level=1))
        elements.extend(found)
    return Reading(
        elements=elements if len(elements) > 1 else [],
        title=title,
        creators=author_names([workbook.properties.creator or ""], metadata=""),
        problems=tuple(_problems(workbook, empty)),
    )


def _open(source: Source) -> "Workbook":
    import warnings

    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load_workbook(BytesIO(source.data), data_only=True, keep_links=False)
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError) as error:
        raise PaperFileError(
            f"{source.name!r} holds no Excel workbook that can be read ({error}). Save it again as XLSX."
        ) from error


def _problems(workbook: "Workbook", empty: int) -> Iterator[PageProblem]:
    hidden = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state != "visible"]
    if hidden:
        yield PageProblem(page=1, reason=f"hidden sheets are left out: {', '.join(hidden)}")
    if empty:
        reason = f"{empty} formulas have no stored value; open the file in a spreadsheet program and save it"
        yield PageProblem(page=1, reason=reason)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Region:
    """The cells of a rectangle, by row and column."""

    cells: Mapping[tuple[int, int], MarkupCell]

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows and columns."""
        (top, left), (bottom, right) = self._corners
        return bottom - top, right - left

    @property
    def _corners(self) -> tuple[tuple[int, int], tuple[int, int]]:
        ends = [(row + cell.row_span, column + cell.column_span) for (row, column), cell in self.cells.items()]
        return (
            (min(row for row, _ in self.cells), min(column for _, column in self.cells)),
            (max(row for row, _ in ends), max(column for _, column in ends)),
        )

    def rows(self) -> list[list[MarkupCell]]:
        """Return the cells of each row, empty ones included, without those that others span."""
        (top, left), (bottom, right) = self._corners
        blank = replace(next(iter(self.cells.values())), text="", row_span=1, column_span=1)
        covered = {
            (row + down, column + along)
            for (row, column), cell in self.cells.items()
            for down in range(cell.row_span)
            for along in range(cell.column_span)
        }
        return [
            [
                self.cells.get((row, column), blank)
                for column in range(left, right)
                if (row, column) in self.cells or (row, column) not in covered
            ]
            for row in range(top, bottom)
        ]

    def parts(self) -> Iterator["_Region"]:
        """Yield the regions between blank rows and columns, from the top, then from the left."""
        for axis in (0, 1):
            runs = list(self._runs(axis))
            if len(runs) > 1:
                for run in runs:
                    yield from run.parts()
                return
        yield self

    def _runs(self, axis: int) -> Iterator["_Region"]:
        end = None
        run: dict[tuple[int, int], MarkupCell] = {}
        for at, cell in sorted(self.cells.items(), key=lambda item: (item[0][axis], item[0])):
            if end is not None and at[axis] > end:
                yield _Region(cells=run)
                run = {}
            run[at] = cell
            last = at[axis] + (cell.row_span, cell.column_span)[axis]
            end = max(end or 0, last)
        yield _Region(cells=run)


def _elements(sheet: "Worksheet", *, lines: SourceLines) -> Iterator[Element]:
    """Yield the tables of a sheet, and its columns of texts as paragraphs."""
    cells = _cells(sheet, lines=lines)
    for region in _Region(cells=cells).parts() if cells else ():
        rows, columns = region.size
        if rows * columns > _MAX_CELLS:
            raise PaperFileError(
                f"the sheet {sheet.title!r} holds a table of {rows} rows and {columns} columns, over the limit of "
                f"{_MAX_CELLS} cells. Save what you need of it in a workbook of its own."
            )
        yield from _region_elements(region, sheet=sheet.title, lines=lines)


def _region_elements(region: _Region, *, sheet: str, lines: SourceLines) -> Iterator[Element]:
    rows = region.rows()
    if region.size[1] == 1:
        yield from (draft_passage(cell.text, "paragraph", cell.place) for (cell,) in filter(None, rows) if cell.text)
        return
    titles: list[str] = []
    while len(rows) > 2 and len(filled := [cell for cell in rows[0] if cell.text]) <= 1:
        titles += (cell.text for cell in filled)
        del rows[0]
    numbers = [int(cell.place.box.y0) for cell in region.cells.values()]
    place = lines.at(min(numbers), max(numbers))
    caption = read_caption(" ".join(titles) or sheet, place=place)
    yield table_of_rows(rows, place, head=_merged_head(rows[0]), caption=caption)


def _merged_head(top: Sequence[MarkupCell]) -> int:
    """Return the rows of a header whose first row has cells merged along and down; 0 for any other."""
    grouped = any(cell.column_span > 1 for cell in top)
    return max(cell.row_span for cell in top) if grouped and any(cell.row_span > 1 for cell in top) else 0


def _cells(sheet: "Worksheet", *, lines: SourceLines) -> dict[tuple[int, int], MarkupCell]:
    """Return the cells that display something, by row and column, with the area that merged ones span."""
    cells: dict[tuple[int, int], MarkupCell] = {}
    # The sheet's own iterators create every cell up to the last one.
    for (row, column), cell in sorted(sheet._cells.items()):  # noqa: SLF001
        if text := displayed_value(cell.value, cell.number_format):
            cells[row, column] = MarkupCell(text=text, place=lines.at(row, row), bold=bool(cell.font.bold))
    last_row, last_column = (max((at[axis] for at in cells), default=0) for axis in (0, 1))
    for area in sheet.merged_cells.ranges:
        if found := cells.get((area.min_row, area.min_col)):
            cells[area.min_row, area.min_col] = replace(
                found,
                row_span=max(1, min(area.max_row, last_row) - area.min_row + 1),
                column_span=max(1, min(area.max_col, last_column) - area.min_col + 1),
            )
    return cells
