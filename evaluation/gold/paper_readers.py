"""Readers for the gold of papers: folders, LaTeX and JATS sources, page tests, bookmarks."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter

from evaluation.gold.files import check_pages, json_file, json_lines
from evaluation.gold.papers import (
    Gold,
    GoldCaption,
    GoldHeading,
    GoldItem,
    GoldLookup,
    GoldSpan,
    GoldTable,
    Grid,
    PageTest,
)
from ingest.document.pages import OutlineEntry
from paperscope_core.errors import GoldFileError, PaperFileError

__all__ = [
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
_GOLD = TypeAdapter(Gold)
_TEST = TypeAdapter(PageTest)
_MIN_BOOKMARKS = 3


def table_of_rows(rows: Sequence[Sequence[str]], *, caption: str) -> GoldTable | None:
    """Returns a table without number from the rows of a source file, without empty rows and columns.

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
class _TranscribedTable:
    number: int | str
    grid: Grid
    page: int | None = None
    caption: str | None = None
    header_rows: tuple[int, ...] | None = None
    section_rows: tuple[int, ...] = ()
    logical_grid: Grid | None = None
    physical_to_logical: tuple[int, ...] | None = None
    spans: tuple[GoldSpan, ...] | None = None
    math_cells: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Transcription:
    tables: tuple[_TranscribedTable, ...]


_TRANSCRIPTION = TypeAdapter(_Transcription)


def load_gold_tables(file: Path) -> tuple[GoldTable, ...]:
    """Reads the tables of a file; without `logical_grid` each printed line is a row. Raises GoldFileError."""
    return tuple(_gold_table(table, file) for table in json_file(file, _TRANSCRIPTION).tables)


def _gold_table(table: _TranscribedTable, file: Path) -> GoldTable:
    mapping = table.physical_to_logical or tuple(range(len(table.grid)))
    logical = table.logical_grid or table.grid
    lines = [*(table.header_rows or ()), *(span.row + span.rowspan - 1 for span in table.spans or ())]
    if len(mapping) != len(table.grid) or max(mapping, default=-1) >= len(logical):
        raise GoldFileError(
            f"{file}: table {table.number}: 'physical_to_logical' does not fit its grids; correct the gold"
        )
    if any(line >= len(table.grid) for line in lines):
        raise GoldFileError(f"{file}: table {table.number}: row {max(lines)} is not in its grid; correct the gold")
    return GoldTable(
        number=str(table.number),
        page=table.page,
        caption=table.caption,
        grid=table.grid,
        logical=logical,
        logical_row=mapping,
        header_rows=table.header_rows,
        section_rows=table.section_rows,
        spans=table.spans,
        formulas=table.math_cells,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _FolderCell:
    table: str
    row: str
    col: str
    answer: str
    page: int | None = None


_FOLDER_CELL = TypeAdapter(_FolderCell)


def folder_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yields one item per folder that has a paper and any gold."""
    for folder in sorted((data / "papers").glob("*/")):
        if (folder / "paper.pdf").is_file() and any((folder / name).is_file() for name in _FOLDER_FILES):
            bad: list[GoldFileError] = []
            try:
                gold = _folder_gold(folder, bad=bad)
            except GoldFileError as error:
                yield error
            else:
                yield from bad
                yield GoldItem(name=f"papers/{folder.name}", file=folder / "paper.pdf", gold=gold)


def _folder_gold(folder: Path, *, bad: list[GoldFileError]) -> Gold:
    tables, text, cells = (folder / name for name in _FOLDER_FILES)
    gold = json_file(text, _GOLD) if text.is_file() else Gold()
    if tables.is_file():
        gold = replace(gold, tables=load_gold_tables(tables), all_tables=True)
    return replace(gold, lookups=tuple(_folder_lookups(cells, folder / "paper.pdf", bad=bad)))


def _folder_lookups(file: Path, paper: Path, *, bad: list[GoldFileError]) -> Iterator[GoldLookup]:
    for line, cell in json_lines(file, _FOLDER_CELL, bad=bad):
        try:
            check_pages([cell.page] if cell.page is not None else [], paper, where=f"{file}:{line}")
        except GoldFileError as error:
            bad.append(error)
        else:
            yield GoldLookup(
                label=cell.table, row=cell.row, column=cell.col, answer=cell.answer, page=cell.page, line=line
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class _SourceTable:
    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _LatexPaper:
    sections: tuple[str, ...]
    captions: tuple[str, ...]
    tables: tuple[_SourceTable, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _LatexCell:
    doc: str
    caption: str
    row: str
    col: str
    answer: str
    page: int | None = None


_LATEX_PAPER = TypeAdapter(_LatexPaper)
_LATEX_CELL = TypeAdapter(_LatexCell)


def latex_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yields one item per gold file, and the errors of unusable gold."""
    papers = sorted((data / "papers" / "latexgold").glob("*.gold.json"))
    bad: list[GoldFileError] = []
    known = {_latex_id(file): _latex_pdf(file) for file in papers}
    lookups = _latex_lookups(data / "eval" / "tablecells_latex.jsonl", known=known, bad=bad)
    yield from bad
    for file in papers:
        try:
            paper = json_file(file, _LATEX_PAPER)
        except GoldFileError as error:
            yield error
            continue
        yield GoldItem(
            name=f"latexgold/{_latex_id(file)}",
            file=_latex_pdf(file),
            gold=_latex_gold(paper, lookups.get(_latex_id(file), ())),
        )


def _latex_id(file: Path) -> str:
    return file.name.removesuffix(".gold.json")


def _latex_pdf(gold: Path) -> Path:
    return gold.with_name(f"{_latex_id(gold)}.pdf")


def _latex_lookups(file: Path, *, known: Mapping[str, Path], bad: list[GoldFileError]) -> dict[str, list[GoldLookup]]:
    lookups: dict[str, list[GoldLookup]] = {}
    for line, cell in json_lines(file, _LATEX_CELL, bad=bad):
        if cell.doc not in known:
            bad.append(GoldFileError(f"{file}:{line}: unknown paper {cell.doc!r}; papers/latexgold has no such gold"))
            continue
        try:
            if cell.page is not None and known[cell.doc].is_file():
                check_pages([cell.page], known[cell.doc], where=f"{file}:{line}")
        except GoldFileError as error:
            bad.append(error)
        else:
            lookup = GoldLookup(
                caption=cell.caption, row=cell.row, column=cell.col, answer=cell.answer, page=cell.page, line=line
            )
            lookups.setdefault(cell.doc, []).append(lookup)
    return lookups


def _latex_gold(paper: _LatexPaper, lookups: Sequence[GoldLookup]) -> Gold:
    tables = (table_of_rows(table.rows, caption=table.caption) for table in paper.tables)
    return Gold(
        tables=tuple(table for table in tables if table),
        lookups=tuple(lookups),
        headings=tuple(GoldHeading(title=title) for title in paper.sections),
        captions=tuple(GoldCaption(text=caption) for caption in paper.captions),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _JatsTable:
    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _JatsPaper:
    id: str
    title: str
    sections: tuple[str, ...]
    paragraphs: tuple[str, ...]
    tables: tuple[_JatsTable, ...]
    figure_captions: tuple[str, ...]
    n_refs: int


_JATS_PAPER = TypeAdapter(_JatsPaper)


def jose_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yields one item per line."""
    file = data / "eval" / "parse_jose_jats.jsonl"
    bad: list[GoldFileError] = []
    for number, paper in json_lines(file, _JATS_PAPER, bad=bad):
        pdf = data / "papers" / "jose" / f"{paper.id}.pdf"
        if pdf.is_file():
            yield GoldItem(name=f"jose/{paper.id}", file=pdf, gold=_jats_gold(paper))
        else:
            yield GoldFileError(f"{file}:{number}: unknown paper {paper.id!r}; {pdf} is not there")
    yield from bad


def _jats_gold(paper: _JatsPaper) -> Gold:
    tables = (table_of_rows(table.rows, caption=table.caption) for table in paper.tables)
    return Gold(
        title=paper.title,
        headings=tuple(GoldHeading(title=title) for title in paper.sections),
        paragraphs=paper.paragraphs,
        tables=tuple(table for table in tables if table),
        captions=tuple(GoldCaption(text=caption, kind="figure") for caption in paper.figure_captions),
        reference_count=paper.n_refs,
    )


def olmocr_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """Yields one item per PDF that the tests name, and the errors of unusable lines."""
    file = data / "eval" / "parse_olmocr_unit_tests.jsonl"
    bad: list[GoldFileError] = []
    tests: dict[str, list[PageTest]] = {}
    for number, test in json_lines(file, _TEST, bad=bad):
        pdf = data / "papers" / "olmocr" / PurePosixPath(test.pdf).name
        if pdf.is_file():
            tests.setdefault(pdf.name, []).append(test)
        else:
            bad.append(GoldFileError(f"{file}:{number}: unknown paper {test.pdf!r}; {pdf} is not there"))
    yield from bad
    for name, found in sorted(tests.items()):
        pdf = data / "papers" / "olmocr" / name
        yield GoldItem(name=f"olmocr/{pdf.stem}", file=pdf, gold=Gold(tests=tuple(found)))


def outline_items(
    data: Path, *, known: Set[Path], read_outline: Callable[[Path], Sequence[OutlineEntry]]
) -> Iterator[GoldItem]:
    """Yields one item per PDF in `papers` with bookmarks, except the `known` ones, whose headings have gold already.

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
    """Returns the papers with gold below `data`, and the errors of unusable gold.

    Raises GoldFileError if there is nothing to score.
    """
    found = list(chain(folder_items(data), latex_items(data), jose_items(data), olmocr_items(data)))
    items = [item for item in found if isinstance(item, GoldItem)]
    known = {item.file for item in items if item.gold.headings is not None}
    items += outline_items(data, known=known, read_outline=read_outline)
    if not found and not items:
        raise GoldFileError(
            f"{data}: no gold here; name a folder with papers/NAME/paper.pdf and gold_tables.json beside it"
        )
    return items, [item for item in found if isinstance(item, GoldFileError)]
