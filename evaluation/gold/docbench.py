"""Question files in DocBench's format (Zou et al., 2024), a user's own among them.

A file is `questions.jsonl` or `N_qa.jsonl`, in any folder below DIR/papers that holds `paper.pdf` or a single PDF.
A line has question, answer, and, if wanted: type, evidence, answer_format, evidence_pages (from 1), answerable.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.docbench_line import DocBenchLine
from evaluation.gold.files import json_lines
from evaluation.gold.page_numbers import check_pages
from paperscope_core.errors import GoldFileError

__all__ = ["DocBenchQuestion", "docbench_questions"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocBenchQuestion:
    """The question on line `number` of a file that lies beside the PDF `file`, in the folder called `paper`.

    `type` is DocBench's kind of evidence; `answer_format` and `evidence_pages` are empty where unknown.
    """

    paper: str
    number: int
    file: Path
    question: str
    answer: str
    answerable: bool
    type: str = ""
    answer_format: str = ""
    evidence_pages: tuple[int, ...] = ()


_LINE = TypeAdapter(DocBenchLine)


def docbench_questions(data: Path) -> Iterator[DocBenchQuestion | GoldFileError]:
    """One question a line, and the errors of files and lines that can't be used."""
    papers = data / "papers"
    for gold in sorted(chain(papers.rglob("questions.jsonl"), papers.rglob("*_qa.jsonl"))):
        paper = _paper_beside(gold)
        if paper is None:
            yield GoldFileError(f"{gold}:1: unknown paper; put paper.pdf, or a single PDF, beside the questions")
        else:
            yield from _questions(gold, paper)


def _paper_beside(gold: Path) -> Path | None:
    found = sorted(file for file in gold.parent.iterdir() if file.suffix.lower() == ".pdf" and file.is_file())
    named = [file for file in found if file.name == "paper.pdf"]
    return named[0] if named else found[0] if len(found) == 1 else None


def _questions(gold: Path, paper: Path) -> Iterator[DocBenchQuestion | GoldFileError]:
    bad: list[GoldFileError] = []
    for number, line in json_lines(gold, _LINE, bad=bad):
        try:
            check_pages(line.evidence_pages, paper, where=f"{gold}:{number}")
        except GoldFileError as error:
            bad.append(error)
            continue
        yield DocBenchQuestion(
            paper=gold.parent.name,
            number=number,
            file=paper,
            question=line.question,
            answer=line.reference,
            answerable=line.can_be_answered,
            type=line.type,
            answer_format=line.form,
            evidence_pages=line.evidence_pages,
        )
    yield from bad
