"""Gold questions on PDF files and pages: DocBench, MMLongBench-Doc, OHR-Bench."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from paperscope_core.types import Box
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import check_pages, gold_error, paper_file, read_lines, separate_errors
from service.batch.question_files import GoldRecord

__all__ = [
    "GoldRecord",
    "OHRPage",
    "OHRQuestion",
    "PdfQuestion",
    "docbench_questions",
    "mmdocir_questions",
    "mmlongbench_questions",
    "ohrbench_pages",
    "ohrbench_questions",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PdfQuestion:
    """A question on the PDF `file`; pages count from 1, and an unanswerable question has none.

    `evidence_sources` are the benchmark's kinds of evidence; `answer_format` and the evidence are empty if unknown.
    `regions` are the boxes of the evidence with their pages, from MMDocIR (Dong et al., 2025).
    """

    set: Literal["docbench", "mmlongbench", "mmdocir"]
    paper: str
    id: str
    file: Path
    question: str
    answer: str
    answerable: bool
    answer_format: str = ""
    evidence_pages: tuple[int, ...] = ()
    evidence_sources: tuple[str, ...] = ()
    regions: tuple[tuple[int, Box], ...] = ()


def docbench_questions(data: Path) -> Iterator[PdfQuestion | GoldFileError]:
    """Yield the questions in files beside a PDF, and the errors of unusable files and lines.

    A question's paper is the name of the folder, and its id the number of the line.
    """
    papers = data / "papers"
    for gold in sorted(chain(papers.rglob("questions.jsonl"), papers.rglob("*_qa.jsonl"))):
        if paper := _paper_beside(gold):
            yield from _questions_on_paper(gold, paper)
        else:
            yield gold_error(f"{gold}:1", "unknown paper; put paper.pdf, or a single PDF, beside the questions")


def _paper_beside(gold: Path) -> Path | None:
    found = sorted(file for file in gold.parent.iterdir() if file.suffix.lower() == ".pdf" and file.is_file())
    named = [file for file in found if file.name == "paper.pdf"]
    return named[0] if named else found[0] if len(found) == 1 else None


def _questions_on_paper(gold: Path, paper: Path) -> Iterator[PdfQuestion | GoldFileError]:
    def question(number: int, line: GoldRecord) -> PdfQuestion:
        check_pages(line.evidence_pages, paper)
        return PdfQuestion(
            set="docbench",
            paper=gold.parent.name,
            id=str(number),
            file=paper,
            question=line.question,
            answer=line.reference,
            answerable=line.can_be_answered,
            answer_format=line.form,
            evidence_pages=line.evidence_pages,
            evidence_sources=(line.type,) if line.type else (),
        )

    yield from read_lines(gold, GoldRecord, question)


@dataclass(frozen=True, kw_only=True, slots=True)
class _MMLongBenchLine:
    id: str
    doc: str
    question: str
    answer: str
    answer_format: Literal["Int", "Float", "Str", "List", "None"]
    evidence_pages: tuple[int, ...]
    evidence_sources: tuple[str, ...] = ()
    answerable: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class _Region:
    page: int
    box: Box


@dataclass(frozen=True, kw_only=True, slots=True)
class _MMDocIRLine:
    doc: str
    question: str
    answer: str
    pages: tuple[int, ...]
    regions: tuple[_Region, ...]

    @property
    def located(self) -> tuple[tuple[int, Box], ...]:
        return tuple((one.page, one.box) for one in self.regions)


def mmdocir_questions(data: Path) -> Iterator[PdfQuestion | GoldFileError]:
    """Yield the questions of MMLongBench-Doc with the regions of their evidence, and the errors of unusable lines."""

    def question(number: int, line: _MMDocIRLine) -> PdfQuestion:
        file = paper_file(data, "mmlongbench", line.doc)
        check_pages(line.pages, file)
        return PdfQuestion(
            set="mmdocir",
            paper=file.stem,
            id=str(number),
            file=file,
            question=line.question,
            answer=line.answer,
            answerable=True,
            evidence_pages=line.pages,
            regions=line.located,
        )

    yield from read_lines(data / "eval" / "regions_mmdocir.jsonl", _MMDocIRLine, question)


def mmlongbench_questions(data: Path) -> Iterator[PdfQuestion | GoldFileError]:
    """Yield one question per line, and the errors of unusable lines."""
    found, bad = separate_errors(
        read_lines(data / "eval" / "regions_mmdocir.jsonl", _MMDocIRLine, lambda _, line: line)
    )
    yield from bad
    regions = {(line.doc, line.question): line.located for line in found}

    def question(_number: int, line: _MMLongBenchLine) -> PdfQuestion:
        file = paper_file(data, "mmlongbench", line.doc)
        check_pages(line.evidence_pages, file)
        return PdfQuestion(
            set="mmlongbench",
            paper=file.stem,
            id=line.id,
            file=file,
            question=line.question,
            answer=line.answer,
            answerable=line.answerable and line.answer_format != "None",
            answer_format=line.answer_format,
            evidence_pages=line.evidence_pages,
            evidence_sources=line.evidence_sources,
            regions=regions.get((line.doc, line.question), ()),
        )

    yield from read_lines(data / "eval" / "paperqa_mmlongbench.jsonl", _MMLongBenchLine, question)


@dataclass(frozen=True, kw_only=True, slots=True)
class OHRPage:
    """A page's true text and MinerU's reading of it ("" if there is none); `page` counts from 0."""

    doc: str
    page: int
    text_gt: str
    text_mineru: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OHRQuestion:
    """A question whose evidence is a text, table or equation on some pages, which count from 0."""

    id: Annotated[str, Field(validation_alias="ID")]
    doc: Annotated[str, Field(validation_alias="doc_name")]
    question: Annotated[str, Field(validation_alias="questions")]
    answer: Annotated[str, Field(validation_alias="answers")]
    evidence_pages: Annotated[
        tuple[int, ...],
        Field(validation_alias="evidence_page_no"),
        BeforeValidator(lambda pages: (pages,) if isinstance(pages, int) else pages),
    ]
    answer_form: str = ""
    evidence_source: str = ""


def ohrbench_pages(data: Path) -> tuple[list[OHRPage], list[GoldFileError]]:
    """Return the pages in order, and the errors of unusable lines."""
    return separate_errors(read_lines(data / "eval" / "paperqa_ohrbench_pages.jsonl", OHRPage, lambda _, page: page))


def ohrbench_questions(data: Path, pages: Collection[OHRPage]) -> Iterator[OHRQuestion | GoldFileError]:
    """Yield one question per line, and the errors of unusable lines; `pages` are the existing pages."""
    known = {(page.doc, page.page) for page in pages}
    docs = {page.doc for page in pages}

    def question(_number: int, line: OHRQuestion) -> OHRQuestion:
        if line.doc not in docs:
            raise GoldFileError(f"unknown paper {line.doc!r}; none of the pages is its")
        for page in line.evidence_pages:
            if (line.doc, page) not in known:
                raise GoldFileError(f"page {page} is out of range; {line.doc!r} has no such page")
        return line

    yield from read_lines(data / "eval" / "paperqa_ohrbench.jsonl", OHRQuestion, question)
