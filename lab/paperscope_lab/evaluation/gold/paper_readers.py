"""Readers for the gold of papers: folders, LaTeX and JATS sources, page tests, bookmarks."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from ingest.document.pages import OutlineEntry
from paperscope_core.errors import PaperFileError
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import (
    check_pages,
    gold_error,
    paper_file,
    read_json,
    read_lines,
    separate_errors,
)
from paperscope_lab.evaluation.gold.papers import (
    FieldLine,
    Gold,
    GoldCaption,
    GoldHeading,
    GoldItem,
    GoldLookup,
    GoldTable,
    Grid,
    PageTest,
)

__all__ = [
    "FIELDS_SET",
    "field_items",
    "folder_items",
    "jose_items",
    "latex_items",
    "load_gold_tables",
    "load_items",
    "olmocr_items",
    "outline_items",
    "table_of_rows",
]


_FOLDER_FILES = ("gold_tables.json", "gold.json", "cells.jsonl")
_MIN_BOOKMARKS = 3
FIELDS_SET = "fields"


def table_of_rows(rows: Sequence[Sequence[str]], *, caption: str) -> GoldTable | None:
    """Return a table without number from the rows of a source file, without empty rows and columns.

    Its logical rows join the second row to the first if it may be the second line of the first. Returns None if the
    rows have only one column, as the line breaks of a header cell leave behind.
    """
    rows = [row for row in rows if any(text.strip() for text in row)]
    width = max((len(row) for row in rows), default=0)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [column for column in range(width) if any(row[column].strip() for row in padded)]
    if len(kept) < 2:
        return None
    grid = tuple(tuple(row[column] for column in kept) for row in padded)
    logical, mapping = _join_header_lines(grid)
    return GoldTable(caption=caption or None, grid=grid, logical=logical, logical_row=mapping, from_source=True)


def _join_header_lines(grid: Grid) -> tuple[Grid, tuple[int, ...]]:
    mapping = tuple(range(len(grid)))
    if len(grid) < 3 or grid[1][0].strip():
        return grid, mapping
    head = tuple(first if first == second else f"{first} {second}" for first, second in zip(*grid[:2], strict=True))
    return (head, *grid[2:]), (0, *mapping[:-1])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Transcription:
    tables: tuple[GoldTable, ...]


def load_gold_tables(file: Path) -> tuple[GoldTable, ...]:
    """Read the tables of a file; without `logical_grid` each printed line is a row. Raises GoldFileError."""
    return tuple(_with_rows(table, file) for table in read_json(file, _Transcription).tables)


def _with_rows(table: GoldTable, file: Path) -> GoldTable:
    where = f"{file}: table {table.number}"
    logical = table.logical or table.grid
    logical_row = table.logical_row or tuple(range(len(table.grid)))
    if len(logical_row) != len(table.grid) or max(logical_row, default=-1) >= len(logical):
        raise gold_error(where, "'physical_to_logical' does not fit its grids")
    last = max((*(table.header_rows or ()), *(span.row + span.rowspan - 1 for span in table.spans or ())), default=0)
    if last >= len(table.grid):
        raise gold_error(where, f"row {last} is not in its grid")
    return replace(table, logical=logical, logical_row=logical_row)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    row: str
    col: str
    answer: str
    page: int | None = None

    def lookup(self, line: int, *, label: str = "", caption: str = "") -> GoldLookup:
        return GoldLookup(
            label=label, caption=caption, row=self.row, column=self.col, answer=self.answer, page=self.page, line=line
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _FolderCell(_Cell):
    table: str


def folder_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yield one item per folder that has a paper and any gold."""
    for folder in sorted((data / "papers").glob("*/")):
        if (folder / "paper.pdf").is_file() and any((folder / name).is_file() for name in _FOLDER_FILES):
            try:
                yield from _folder_item(folder)
            except GoldFileError as error:
                yield error


def _folder_item(folder: Path) -> Iterator[GoldItem | GoldFileError]:
    tables, text, cells = (folder / name for name in _FOLDER_FILES)
    paper = folder / "paper.pdf"

    def lookup(number: int, cell: _FolderCell) -> GoldLookup:
        check_pages([cell.page], paper)
        return cell.lookup(number, label=cell.table)

    gold = read_json(text, Gold) if text.is_file() else Gold()
    if tables.is_file():
        gold = replace(gold, tables=load_gold_tables(tables), all_tables=True)
    lookups, bad = separate_errors(read_lines(cells, _FolderCell, lookup))
    yield from bad
    yield GoldItem(name=f"papers/{folder.name}", file=paper, gold=replace(gold, lookups=tuple(lookups)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _SourceTable:
    caption: str
    rows: tuple[tuple[str, ...], ...]


def _tables_of_source(tables: Sequence[_SourceTable]) -> tuple[GoldTable, ...]:
    return tuple(filter(None, (table_of_rows(table.rows, caption=table.caption) for table in tables)))


@dataclass(frozen=True, kw_only=True, slots=True)
class _LatexPaper:
    sections: tuple[str, ...]
    captions: tuple[str, ...]
    tables: tuple[_SourceTable, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _LatexCell(_Cell):
    doc: str
    caption: str


def latex_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yield one item per gold file, and the errors of unusable gold."""
    folder = data / "papers" / "latexgold"
    papers = {file.name.removesuffix(".gold.json"): file for file in sorted(folder.glob("*.gold.json"))}

    def lookup(number: int, cell: _LatexCell) -> tuple[str, GoldLookup]:
        if cell.doc not in papers:
            raise GoldFileError(f"unknown paper {cell.doc!r}; papers/latexgold has no such gold")
        if (pdf := folder / f"{cell.doc}.pdf").is_file():
            check_pages([cell.page], pdf)
        return cell.doc, cell.lookup(number, caption=cell.caption)

    lookups, bad = separate_errors(read_lines(data / "eval" / "tablecells_latex.jsonl", _LatexCell, lookup))
    yield from bad
    for name, file in papers.items():
        try:
            paper = read_json(file, _LatexPaper)
        except GoldFileError as error:
            yield error
            continue
        gold = Gold(
            tables=_tables_of_source(paper.tables),
            lookups=tuple(lookup for doc, lookup in lookups if doc == name),
            headings=tuple(GoldHeading(title=title) for title in paper.sections),
            captions=tuple(GoldCaption(text=caption) for caption in paper.captions),
        )
        yield GoldItem(name=f"latexgold/{name}", file=folder / f"{name}.pdf", gold=gold)


@dataclass(frozen=True, kw_only=True, slots=True)
class _JatsPaper:
    id: str
    title: str
    sections: tuple[str, ...]
    paragraphs: tuple[str, ...]
    tables: tuple[_SourceTable, ...]
    figure_captions: tuple[str, ...]
    n_refs: int


def jose_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yield one item per line, and the errors of unusable lines."""

    def item(_number: int, paper: _JatsPaper) -> GoldItem:
        gold = Gold(
            title=paper.title,
            headings=tuple(GoldHeading(title=title) for title in paper.sections),
            paragraphs=paper.paragraphs,
            tables=_tables_of_source(paper.tables),
            captions=tuple(GoldCaption(text=caption, kind="figure") for caption in paper.figure_captions),
            reference_count=paper.n_refs,
        )
        return GoldItem(name=f"jose/{paper.id}", file=paper_file(data, "jose", f"{paper.id}.pdf"), gold=gold)

    yield from read_lines(data / "eval" / "parse_jose_jats.jsonl", _JatsPaper, item)


def olmocr_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yield one item per PDF that the tests name, and the errors of unusable lines."""

    def parsed(_number: int, test: PageTest) -> tuple[Path, PageTest]:
        return paper_file(data, "olmocr", test.pdf), test

    found, bad = separate_errors(read_lines(data / "eval" / "parse_olmocr_unit_tests.jsonl", PageTest, parsed))
    yield from bad
    for pdf in sorted({pdf for pdf, _ in found}):
        tests = tuple(test for file, test in found if file == pdf)
        yield GoldItem(name=f"olmocr/{pdf.stem}", file=pdf, gold=Gold(tests=tests))


def field_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yield one item per paper of DIR/papers/fields, and the errors of unusable lines.

    Rules of the parser were chosen on these papers, so all are in the part `fitting`.
    """
    folder = data / "papers" / FIELDS_SET

    def checked(_number: int, line: FieldLine) -> tuple[Path, FieldLine]:
        file = paper_file(data, f"{FIELDS_SET}/papers", line.paper)
        check_pages([line.page], file)
        if line.page and not (line.bbox or line.no_table or line.phantom or line.starts):
            raise GoldFileError("the page has neither 'bbox' nor 'no_table', 'phantom' or 'starts'")
        return file, line

    names = ("tables", "order", "records", "figures")
    files = (read_lines(folder / f"{name}.jsonl", FieldLine, checked) for name in names)
    found, bad = separate_errors(chain.from_iterable(files))
    yield from bad
    for pdf in sorted({pdf for pdf, _ in found}):
        lines = tuple(line for file, line in found if file == pdf)
        yield GoldItem(name=f"{FIELDS_SET}/{pdf.stem}", file=pdf, gold=Gold(fields=lines), part="fitting")


def outline_items(
    data: Path, *, known: Set[Path], read_outline: Callable[[Path], Sequence[OutlineEntry]]
) -> Iterator[GoldItem]:
    """Yield one item per PDF in `papers` with bookmarks, except the `known` ones, whose headings have gold already.

    The bookmarks are hidden from the parser, which would otherwise be scored on its own input.
    """
    for file in sorted((data / "papers").rglob("*.pdf")):
        if file in known:
            continue
        try:
            outline = read_outline(file)
        except PaperFileError:
            continue
        if len(outline) >= _MIN_BOOKMARKS:
            headings = tuple(GoldHeading(title=entry.title, level=entry.level) for entry in outline)
            name = file.parent.name if file.name == "paper.pdf" else file.stem
            yield GoldItem(name=f"outline/{name}", file=file, gold=Gold(headings=headings), hide_outline=True)


def load_items(
    data: Path, *, read_outline: Callable[[Path], Sequence[OutlineEntry]]
) -> tuple[list[GoldItem], list[GoldFileError]]:
    """Return the papers with gold below `data`, and the errors of unusable gold."""
    found = chain(folder_items(data), latex_items(data), jose_items(data), olmocr_items(data), field_items(data))
    items, bad = separate_errors(found)
    known = {item.file for item in items if item.gold.headings is not None}
    return [*items, *outline_items(data, known=known, read_outline=read_outline)], bad
