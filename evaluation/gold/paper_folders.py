"""Papers in a folder of their own: `papers/NAME/paper.pdf` with `gold_tables.json`, `gold.json`, `cells.jsonl`.

`gold.json` holds the fields of `Gold` (all optional): title, headings, paragraphs, captions, references, equations …
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_file, json_lines
from evaluation.gold.tables_json import load_gold_tables
from evaluation.gold.values import Gold, GoldItem, GoldLookup
from paperscope.errors import GoldFileError

__all__ = ["folder_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    table: str
    row: str
    col: str
    answer: str


_GOLD = TypeAdapter(Gold)
_CELL = TypeAdapter(_Cell)


def folder_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """One item a folder that has a paper and any gold."""
    for folder in sorted((data / "papers").glob("*/")):
        files = [folder / name for name in ("gold_tables.json", "gold.json", "cells.jsonl")]
        if (folder / "paper.pdf").is_file() and any(file.is_file() for file in files):
            try:
                gold = _gold(*files)
            except GoldFileError as error:
                yield error
            else:
                yield GoldItem(name=f"papers/{folder.name}", file=folder / "paper.pdf", gold=gold)


def _gold(tables: Path, text: Path, cells: Path) -> Gold:
    gold = json_file(text, _GOLD) if text.is_file() else Gold()
    if tables.is_file():
        gold = replace(gold, tables=load_gold_tables(tables), all_tables=True)
    bad: list[GoldFileError] = []
    lookups = tuple(
        GoldLookup(label=cell.table, row=cell.row, column=cell.col, answer=cell.answer)
        for _, cell in json_lines(cells, _CELL, bad=bad)
    )
    if bad:
        raise bad[0]
    return replace(gold, lookups=lookups)
