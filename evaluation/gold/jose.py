"""`eval/parse_jose_jats.jsonl`: gold drawn from the JATS XML of papers in `papers/jose`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.rows import table_of_rows
from evaluation.gold.values import Gold, GoldCaption, GoldHeading, GoldItem
from paperscope_core.errors import GoldFileError

__all__ = ["jose_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Paper:
    id: str
    title: str
    sections: tuple[str, ...]
    paragraphs: tuple[str, ...]
    tables: tuple[_Table, ...]
    figure_captions: tuple[str, ...]
    n_refs: int


_PAPER = TypeAdapter(_Paper)


def jose_items(data: Path) -> Iterator[GoldItem | GoldFileError]:
    """One item a line."""
    file = data / "eval" / "parse_jose_jats.jsonl"
    bad: list[GoldFileError] = []
    for number, paper in json_lines(file, _PAPER, bad=bad):
        pdf = data / "papers" / "jose" / f"{paper.id}.pdf"
        if pdf.is_file():
            yield GoldItem(name=f"jose/{paper.id}", file=pdf, gold=_gold(paper))
        else:
            yield GoldFileError(f"{file}:{number}: unknown paper {paper.id!r}; {pdf} is not there")
    yield from bad


def _gold(paper: _Paper) -> Gold:
    tables = (table_of_rows(table.rows, caption=table.caption) for table in paper.tables)
    return Gold(
        title=paper.title,
        headings=tuple(GoldHeading(title=title) for title in paper.sections),
        paragraphs=paper.paragraphs,
        tables=tuple(table for table in tables if table),
        captions=tuple(GoldCaption(text=caption, kind="figure") for caption in paper.figure_captions),
        reference_count=paper.n_refs,
    )
