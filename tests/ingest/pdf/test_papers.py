"""Real papers: the share of correct cells, and that every paper is read."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from ingest.pdf import PdfParser
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Equation, Paper, PaperFile, ParsedPaper, Table

DPI = 20  # The crops are only counted.


def plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("−", "-").replace("–", "-")
    return re.sub(r"[\s_*\\]", "", text)


def rows_right(
    gold: Sequence[Sequence[str]], read: Sequence[Sequence[str]], *, skip: set[tuple[int, int]]
) -> tuple[int, int]:
    """(cells right, cells in gold): rows are matched in order, a cell counts at its own column only."""
    texts = [tuple(plain(cell) for cell in row) for row in gold]
    found = [tuple(plain(cell) for cell in row) for row in read]
    right = 0
    matcher = SequenceMatcher(a=texts, b=found, autojunk=False)
    for _, first, last, start, stop in matcher.get_opcodes():
        for row, other in zip(range(first, last), range(start, stop), strict=False):
            pairs = zip(texts[row], found[other], strict=False)
            right += sum(
                bool(cell) and cell == mine and (row, column) not in skip for column, (cell, mine) in enumerate(pairs)
            )
    total = sum(
        bool(cell) and (row, column) not in skip for row, cells in enumerate(texts) for column, cell in enumerate(cells)
    )
    return right, total


def score(paper: Paper, gold_file: Path) -> tuple[int, int, int]:
    """(cells right, cells in gold, tables all right)."""
    tables = {item.label.removeprefix("Table "): item for item in paper.elements if isinstance(item, Table)}
    right = total = exact = 0
    for gold in json.loads(gold_file.read_text(encoding="utf-8"))["tables"]:
        table = tables.get(str(gold["number"]))
        skip = {tuple(pair) for pair in gold.get("math_cells", [])}
        here, all_ = rows_right(gold["logical_grid"], table.grid() if table else [], skip=skip)
        right, total, exact = right + here, total + all_, exact + (here == all_)
    return right, total, exact


def test_the_scorer_sees_errors() -> None:
    gold = [["a", "b"], ["c", "d"]]
    assert rows_right(gold, gold, skip=set()) == (4, 4)
    assert rows_right(gold, [["a", "x"], ["c", "d"]], skip=set()) == (3, 4)
    assert rows_right(gold, [["b", "a"], ["d", "c"]], skip=set()) == (0, 4)
    assert rows_right(gold, [], skip={(0, 0)}) == (0, 3)


@pytest.fixture(scope="module")
def reference(shared: Path) -> ParsedPaper:
    return PdfParser(dpi=DPI).parse(PaperFile(shared / "papers" / "acl-2020-45" / "paper.pdf"))


@pytest.mark.slow
def test_all_cells_of_the_gold_papers(shared: Path, reference: ParsedPaper) -> None:
    other = PdfParser(dpi=DPI).parse(PaperFile(shared / "papers" / "mmgraphrag" / "paper.pdf"))
    for name, paper, tables in (("acl-2020-45", reference.paper, 10), ("mmgraphrag", other.paper, 12)):
        right, total, exact = score(paper, shared / "papers" / name / "gold_tables.json")
        assert total > 400
        assert right == total
        assert exact == tables


@pytest.mark.slow
def test_the_structure_of_the_reference_paper(reference: ParsedPaper) -> None:
    paper = reference.paper
    labels = Counter(item.label for item in paper.elements if isinstance(item, Equation))
    assert labels == Counter(f"Equation {number}" for number in range(1, 13))
    assert len(paper.sections) == 27
    assert paper.sections[7].path == "3 Losses > 3.2 Cross Entropy Loss"
    text = next(item.text for item in paper.elements if item.kind == "passage" and "coefficient α" in item.text)
    assert "lg( (n−n_t)/n_t +K)" in text
    assert len(reference.crops) == 23
    assert not paper.problems


@pytest.mark.slow
def test_odd_papers_are_read(shared: Path) -> None:
    files = [*sorted((shared / "papers" / "jose").glob("*.pdf")), *sorted((shared / "papers" / "olmocr").glob("*.pdf"))]
    assert len(files) > 15
    for file in files:
        paper = PdfParser(dpi=DPI).parse(PaperFile(file)).paper
        assert paper.elements or paper.problems, file.name


@pytest.mark.slow
def test_hostile_files_print_nothing(shared: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for file in sorted((shared / "eval" / "hostile").glob("*.pdf")):
        with suppress(PaperFileError):
            PdfParser(dpi=DPI).parse(PaperFile(file))
    assert capfd.readouterr().err == ""
