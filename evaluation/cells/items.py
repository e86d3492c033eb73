"""A look-up as an item, and all of a data folder."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evaluation.asking import shelf_of
from evaluation.cells.generated import drawn, table_lookups
from evaluation.cells.scoring import question_of, score_answer
from evaluation.gold.latex import latex_items
from evaluation.gold.page_numbers import check_pages
from evaluation.gold.paper_folders import folder_items
from evaluation.gold.values import GoldItem, GoldLookup, GoldTable
from evaluation.libraries import Libraries
from evaluation.values import Score
from paperscope_core.codec import to_json
from paperscope_core.errors import GoldFileError

__all__ = ["CellItem", "cell_items"]


# A paper with many tables shall not outweigh the others.
_MOST = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class CellItem:
    """Asks the library of the paper for the cell."""

    name: str
    file: Path
    lookup: GoldLookup
    libraries: Libraries

    @property
    def fingerprint(self) -> str:
        """A hash of the file and of its gold."""
        data = self.file.read_bytes() if self.file.is_file() else b""
        return hashlib.sha256(data + b"\0" + to_json(self.lookup).encode()).hexdigest()

    def score(self) -> Score:
        """Raises PaperFileError, and ModelError where a model is asked."""
        shelf = shelf_of(self.libraries, self.file)
        library = self.libraries.library(shelf)
        paper = library.paper(shelf.ids[str(self.file)])
        answer = library.ask(question_of(self.lookup), papers=[paper.id])
        return score_answer(answer, self.lookup, paper=paper, file=self.file)


def cell_items(data: Path, libraries: Libraries, *, seed: int) -> tuple[list[CellItem], list[GoldFileError]]:
    """All look-ups below `data`, and the gold that can't be used. Raises GoldFileError where there is nothing to ask.

    Sets: "papers" (cells.jsonl), "latexgold", and "gold-tables", drawn from gold_tables.json.
    """
    bad: list[GoldFileError] = []
    given: list[CellItem] = []
    made: list[CellItem] = []
    for gold in chain(folder_items(data), latex_items(data)):
        if isinstance(gold, GoldFileError):
            bad.append(gold)
            continue
        for name, lookup in _drawn(gold, seed=seed, bad=bad):
            made.append(CellItem(name=name, file=gold.file, lookup=lookup, libraries=libraries))
        for lookup in gold.gold.lookups:
            name = f"{gold.name}/{lookup.line}"
            given.append(CellItem(name=name, file=gold.file, lookup=lookup, libraries=libraries))
    if not given and not made:
        raise bad[0] if bad else GoldFileError(f"{data}: no cells here; name a folder with papers/NAME/cells.jsonl")
    return given + made, bad


def _drawn(gold: GoldItem, *, seed: int, bad: list[GoldFileError]) -> Iterator[tuple[str, GoldLookup]]:
    """Look-ups of fully transcribed tables with their names: the paper and their number among all of it."""
    if not gold.gold.all_tables:
        return
    paper = gold.file.parent.name
    tables = [table for table in gold.gold.tables if _has_page(table, gold.file, bad)]
    lookups = [lookup for table in tables for lookup in table_lookups(table)]
    for number, lookup in drawn(lookups, most=_MOST, seed=seed, salt=paper):
        yield f"gold-tables/{paper}/{number}", lookup


def _has_page(table: GoldTable, paper: Path, bad: list[GoldFileError]) -> bool:
    try:
        check_pages(
            [table.page] if table.page is not None else [],
            paper,
            where=f"{paper.with_name('gold_tables.json')}: table {table.number}",
        )
    except GoldFileError as error:
        bad.append(error)
        return False
    return True
