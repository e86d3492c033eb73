"""Papers in a folder of their own: `papers/NAME/paper.pdf` with `gold_tables.json`, `gold.json`, `cells.jsonl`.

`gold.json` holds the fields of `Gold` (all optional): title, headings, paragraphs, captions, references, equations …
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_file, json_lines
from evaluation.gold.page_numbers import check_pages
from evaluation.gold.tables_json import load_gold_tables
from evaluation.gold.values import Gold, GoldItem, GoldLookup
from paperscope_core.errors import GoldFileError

__all__ = ["folder_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    table: str
    row: str
    col: str
    answer: str
    page: int | None = None


_FILES = ("gold_tables.json", "gold.json", "cells.jsonl")
_GOLD = TypeAdapter(Gold)
_CELL = TypeAdapter(_Cell)


def folder_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """One item a folder that has a paper and any gold."""
    for folder in sorted((data / "papers").glob("*/")):
        if (folder / "paper.pdf").is_file() and any((folder / name).is_file() for name in _FILES):
            bad: list[GoldFileError] = []
            try:
                gold = _gold(folder, bad=bad)
            except GoldFileError as error:
                yield error
            else:
                yield from bad
                yield GoldItem(name=f"papers/{folder.name}", file=folder / "paper.pdf", gold=gold)


def _gold(folder: Path, *, bad: list[GoldFileError]) -> Gold:
    tables, text, cells = (folder / name for name in _FILES)
    gold = json_file(text, _GOLD) if text.is_file() else Gold()
    if tables.is_file():
        gold = replace(gold, tables=load_gold_tables(tables), all_tables=True)
    return replace(gold, lookups=tuple(_lookups(cells, folder / "paper.pdf", bad=bad)))


def _lookups(file: Path, paper: Path, *, bad: list[GoldFileError]) -> Iterator[GoldLookup]:
    for line, cell in json_lines(file, _CELL, bad=bad):
        try:
            check_pages([cell.page] if cell.page is not None else [], paper, where=f"{file}:{line}")
        except GoldFileError as error:
            bad.append(error)
        else:
            yield GoldLookup(
                label=cell.table, row=cell.row, column=cell.col, answer=cell.answer, page=cell.page, line=line
            )
