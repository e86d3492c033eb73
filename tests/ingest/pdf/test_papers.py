"""Real papers: the structure of one, and that every paper is read. The suite `parsing` checks cells of tables."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.pdf import PdfParser
from paperscope_core.types import Equation, PaperFile, ParsedPaper

DPI = 20  # The crops are only counted.


@pytest.mark.slow
def test_the_structure_of_the_reference_paper(shared: Path, parse_once: Callable[[Path], ParsedPaper]) -> None:
    reference = parse_once(shared / "papers" / "acl-2020-45" / "paper.pdf")
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
    for file in files[::3]:
        paper = PdfParser(dpi=DPI).parse(PaperFile(file)).paper
        passages = [item.place.page for item in paper.elements if item.kind == "passage"]
        unread = [problem.page for problem in paper.problems]
        assert {page.number for page in paper.pages} == {*passages, *unread}, file.name
