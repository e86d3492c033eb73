"""`papers/latexgold/*.gold.json` and `eval/tablecells_latex.jsonl`: gold drawn from LaTeX sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_file, json_lines
from evaluation.gold.page_numbers import check_pages
from evaluation.gold.rows import table_of_rows
from evaluation.gold.values import Gold, GoldCaption, GoldHeading, GoldItem, GoldLookup
from paperscope_core.errors import GoldFileError

__all__ = ["latex_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Paper:
    sections: tuple[str, ...]
    captions: tuple[str, ...]
    tables: tuple[_Table, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    doc: str
    caption: str
    row: str
    col: str
    answer: str
    page: int | None = None


_PAPER = TypeAdapter(_Paper)
_CELL = TypeAdapter(_Cell)


def latex_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """One item a gold file, and the errors of gold that can't be used."""
    papers = sorted((data / "papers" / "latexgold").glob("*.gold.json"))
    bad: list[GoldFileError] = []
    known = {_id(file): _pdf(file) for file in papers}
    lookups = _lookups(data / "eval" / "tablecells_latex.jsonl", known=known, bad=bad)
    yield from bad
    for file in papers:
        try:
            paper = json_file(file, _PAPER)
        except GoldFileError as error:
            yield error
            continue
        yield GoldItem(
            name=f"latexgold/{_id(file)}",
            file=_pdf(file),
            gold=_gold(paper, lookups.get(_id(file), ())),
        )


def _id(file: Path) -> str:
    return file.name.removesuffix(".gold.json")


def _pdf(gold: Path) -> Path:
    return gold.with_name(f"{_id(gold)}.pdf")


def _lookups(file: Path, *, known: Mapping[str, Path], bad: list[GoldFileError]) -> dict[str, list[GoldLookup]]:
    lookups: dict[str, list[GoldLookup]] = {}
    for line, cell in json_lines(file, _CELL, bad=bad):
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


def _gold(paper: _Paper, lookups: Sequence[GoldLookup]) -> Gold:
    tables = (table_of_rows(table.rows, caption=table.caption) for table in paper.tables)
    return Gold(
        tables=tuple(table for table in tables if table),
        lookups=tuple(lookups),
        headings=tuple(GoldHeading(title=title) for title in paper.sections),
        captions=tuple(GoldCaption(text=caption) for caption in paper.captions),
    )
