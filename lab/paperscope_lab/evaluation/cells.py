"""The cells suite: does the product answer and cite the value of a gold table cell?"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from paperscope_core.types import Answer, Paper, Place
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import check_pages, gold_error, map_gold
from paperscope_lab.evaluation.gold.paper_readers import folder_items, latex_items
from paperscope_lab.evaluation.gold.papers import GoldItem, GoldLookup, GoldTable
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.matching import normalise_spaces, remove_spaces
from paperscope_lab.evaluation.metrics.numbers import as_number, numbers_in, same_number, stated_numbers
from paperscope_lab.evaluation.metrics.regions import jaccard
from paperscope_lab.evaluation.metrics.text import contains_answer
from paperscope_lab.evaluation.page_words import read_pages, words_in
from paperscope_lab.evaluation.parsing.tables import found_cells
from paperscope_lab.evaluation.question_suite import library_of_paper, question_suite
from paperscope_lab.evaluation.score import Score, score_checks
from paperscope_lab.evaluation.suite import Item, Request

__all__ = ["SUITE", "question_of", "sample_lookups", "score_cell_answer", "states_value", "table_lookups"]

_MIN_BOX_OVERLAP = 0.5
# So that a paper with many tables does not outweigh the others.
_MAX_PER_PAPER = 60


def table_lookups(table: GoldTable) -> Sequence[GoldLookup]:
    """Return each numeric cell that the name of its row and the full name of its column identify uniquely.

    A row is named by its first cell, unless that cell spans several rows. A column is named by its headers, preceded by
    the titles of their group and of the section above them. Returns nothing for a table whose header rows are unknown.
    """
    cells = list(_cells(table))
    seen = Counter(_name_key(row, column) for row, column, _ in cells)
    return [
        GoldLookup(
            label=f"Table {table.number}" if table.number else "",
            caption=table.caption or "",
            row=normalise_spaces(row),
            column=normalise_spaces(column),
            answer=text,
            page=table.page,
        )
        for row, column, text in cells
        if row and column and seen[_name_key(row, column)] == 1 and as_number(text)
    ]


def sample_lookups(lookups: Sequence[GoldLookup], *, most: int, seed: int, salt: str) -> list[tuple[int, GoldLookup]]:
    """Sample at most `most` of the look-ups, numbered from 1 and in order; the same for the same seed."""

    def lot(index: int) -> str:
        lookup = lookups[index]
        parts = (str(seed), salt, lookup.label, lookup.caption, lookup.row, lookup.column)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    return [(index + 1, lookups[index]) for index in sorted(sorted(range(len(lookups)), key=lot)[:most])]


def _cells(table: GoldTable) -> Iterator[tuple[str, str, str]]:
    """Yield the (row name, column name, text) of the body cells; the name of an unnamed row is empty."""
    grid = _expand_spans(table)
    heads = {table.logical_row[row] for row in table.header_rows or ()}
    sections = {table.logical_row[row] for row in table.section_rows}
    names: list[dict[str, None]] = []
    for row, texts in enumerate(grid):
        if row in heads:
            if row - 1 not in heads:
                names = [{} for _ in texts]
            title = next(filter(None, texts), "")
            for name, text in zip(names, texts, strict=True):
                name[title if row in sections else text] = None
        elif row not in sections and names:
            follows = grid[row + 1] if row + 1 < len(grid) and row + 1 not in heads | sections else None
            told = follows is None or bool(follows[0])
            for name, text in list(zip(names, texts, strict=False))[1:]:
                yield texts[0] if told else "", " ".join(filter(None, name)), text


def _expand_spans(table: GoldTable) -> list[list[str]]:
    """Return the logical grid with stripped texts and rows of equal length; a header's text is repeated over its
    span."""
    width = max(map(len, table.logical), default=0)
    grid = [[text.strip() for text in (*row, *[""] * (width - len(row)))] for row in table.logical]
    for span in table.spans or ():
        row = table.logical_row[span.row]
        if span.row in (table.header_rows or ()):
            for column in range(span.col, min(span.col + span.colspan, width)):
                grid[row][column] = grid[row][span.col]
    return grid


def _name_key(row: str, column: str) -> tuple[str, str]:
    return remove_spaces(row).casefold(), remove_spaces(column).casefold()


def question_of(lookup: GoldLookup) -> str:
    """Return the question for a look-up; a table without a label is named by its caption."""
    table = lookup.label or f'the table "{lookup.caption}"'
    return f"In {table}, what is the {lookup.column} of {lookup.row}?"


def score_cell_answer(answer: Answer, lookup: GoldLookup, *, paper: Paper, file: Path) -> Score:
    """Return the tallies of an answer.

    answered; right: the value is stated. If the gold names the table's page: cited_page: a claim cites that page;
    cited_cell: it cites the gold's cell as our parser has it, or else a place there that prints the value alone.
    """
    text = answer.text if answer.status == "answered" else ""
    right = bool(text) and states_value(lookup.answer, text, question=answer.question)
    checks = {"right": right, "answered": bool(text)}
    places = [evidence.place for claim in answer.claims for evidence in claim.evidence]
    if lookup.page is not None:
        there = [place for place in places if place.page == lookup.page]
        checks["cited_cell"] = bool(text) and _is_cited(there, lookup, paper=paper, file=file)
        checks["cited_page"] = bool(text) and bool(there)
    gold, shown = lookup.answer, normalise_spaces(answer.text)
    details = {"question": answer.question, "gold": gold, "answer": shown, "cited": "; ".join(map(str, places))}
    return replace(score_checks(checks, what=answer.question, gold=gold, got=shown), details=details)


def states_value(gold: str, text: str, *, question: str) -> bool:
    """Return whether the text states the cell's value: a number to the printed precision, several numbers, or words.

    Numbers in the question, and those of labels such as "Table 5", don't count, unless the value is one of the
    question's.
    """
    number = as_number(gold)
    if number is None and contains_answer(gold, text):
        return True
    wanted = (number,) if number else numbers_in(gold)
    given = numbers_in(question)
    asked = "" if any(same_number(one, other) for one in wanted for other in given) else question
    stated = stated_numbers(text, asked)
    return bool(wanted) and all(any(same_number(one, other) for other in stated) for one in wanted)


def _is_cited(places: list[Place], lookup: GoldLookup, *, paper: Paper, file: Path) -> bool:
    cells = found_cells(paper, lookup)
    if cells:
        return any(
            place.page == cell.place.page and jaccard(place.box, cell.place.box) >= _MIN_BOX_OVERLAP
            for place in places
            for cell in cells
        )
    pages = read_pages(file)
    printed = [words_in(pages[place.page - 1], place.box) for place in places if place.page <= len(pages)]
    return any(normalise_spaces(" ".join(words)) == normalise_spaces(lookup.answer) for words in printed)


def _score(lookup: GoldLookup, file: Path, libraries: Libraries) -> Score:
    """Ask the paper's library for the cell. Raises PaperFileError, and ModelError if a model is asked."""
    built = library_of_paper(libraries, file)
    library = libraries.library(built)
    paper = library.paper(built.ids[str(file)])
    answer = library.ask(question_of(lookup), papers=[paper.id])
    return score_cell_answer(answer, lookup, paper=paper, file=file)


def _read(request: Request, libraries: Libraries) -> Iterator[Item | GoldFileError]:
    """Yield all look-ups of the data, in the sets "papers" (cells.jsonl), "latexgold", and "gold-tables", which are
    sampled from gold_tables.json."""

    def item(name: str, gold: GoldItem, lookup: GoldLookup) -> Item:
        return Item(name=name, score=partial(_score, lookup, gold.file, libraries), gold=lookup, files=(gold.file,))

    found = list(chain(folder_items(request.data), latex_items(request.data)))
    yield from map_gold(found, lambda gold: (item(f"{gold.name}/{it.line}", gold, it) for it in gold.gold.lookups))
    for gold in found:
        if isinstance(gold, GoldItem) and gold.gold.all_tables:
            paper = gold.file.parent.name
            lookups, bad = _lookups_of_tables(gold)
            yield from bad
            for number, lookup in sample_lookups(lookups, most=_MAX_PER_PAPER, seed=request.seed, salt=paper):
                yield item(f"gold-tables/{paper}/{number}", gold, lookup)


def _lookups_of_tables(gold: GoldItem) -> tuple[list[GoldLookup], list[GoldFileError]]:
    lookups: list[GoldLookup] = []
    bad = []
    for table in gold.gold.tables:
        try:
            check_pages([table.page], gold.file)
        except GoldFileError as error:
            where = f"{gold.file.with_name('gold_tables.json')}: table {table.number}"
            bad.append(gold_error(where, str(error)))
        else:
            lookups += table_lookups(table)
    return lookups, bad


SUITE = question_suite(
    "cells",
    _read,
    headline=("right", "cited_cell", "cited_page", "answered"),
    missing="no cells here; name a folder with papers/NAME/cells.jsonl",
)
