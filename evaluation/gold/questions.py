"""Gold questions on PDF files and pages: DocBench, MMLongBench-Doc, OHR-Bench."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import TypeAdapter

from evaluation.gold.files import check_pages, json_lines
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Box

__all__ = [
    "AnswerFormat",
    "DocBenchLine",
    "DocBenchQuestion",
    "MMLongBenchQuestion",
    "OHRPage",
    "OHRQuestion",
    "docbench_questions",
    "mmlongbench_questions",
    "ohrbench_pages",
    "ohrbench_questions",
]


_Scalar = str | bool | int | float


AnswerFormat = Literal["Int", "Float", "Str", "List", "None"]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocBenchLine:
    """See `docbench_questions`; unused fields are omitted."""

    question: str
    answer: _Scalar | tuple[_Scalar, ...]
    type: str = ""
    answer_format: str = ""
    evidence_pages: tuple[int, ...] = ()
    answerable: bool | None = None

    @property
    def reference(self) -> str:
        """The answer as text: a list as Python writes it, true and false as yes and no."""
        if isinstance(self.answer, tuple):
            return str(list(self.answer))
        if isinstance(self.answer, bool):
            return "yes" if self.answer else "no"
        return str(self.answer)

    @property
    def form(self) -> str:
        """The stated `answer_format`, or that of several answers."""
        return self.answer_format or ("List" if isinstance(self.answer, tuple) else "")

    @property
    def can_be_answered(self) -> bool:
        """Whether the paper has the answer."""
        if self.answerable is not None:
            return self.answerable
        # DocBench's types of unanswerable questions are "una", "una-web" and the like.
        return self.answer_format != "None" and not self.type.casefold().startswith("una")


@dataclass(frozen=True, kw_only=True, slots=True)
class DocBenchQuestion:
    """The question on line `number` of a file beside the PDF `file`, in the folder `paper`.

    `type` is DocBench's kind of evidence; `answer_format` and `evidence_pages` are empty if unknown.
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


_DOCBENCH_LINE = TypeAdapter(DocBenchLine)


def docbench_questions(data: Path) -> Iterator[DocBenchQuestion | GoldFileError]:
    """Yields one question per line, and the errors of unusable files and lines."""
    papers = data / "papers"
    for gold in sorted(chain(papers.rglob("questions.jsonl"), papers.rglob("*_qa.jsonl"))):
        paper = _paper_beside(gold)
        if paper is None:
            yield GoldFileError(f"{gold}:1: unknown paper; put paper.pdf, or a single PDF, beside the questions")
        else:
            yield from _questions_of_file(gold, paper)


def _paper_beside(gold: Path) -> Path | None:
    found = sorted(file for file in gold.parent.iterdir() if file.suffix.lower() == ".pdf" and file.is_file())
    named = [file for file in found if file.name == "paper.pdf"]
    return named[0] if named else found[0] if len(found) == 1 else None


def _questions_of_file(gold: Path, paper: Path) -> Iterator[DocBenchQuestion | GoldFileError]:
    bad: list[GoldFileError] = []
    for number, line in json_lines(gold, _DOCBENCH_LINE, bad=bad):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class MMLongBenchQuestion:
    """A question on the PDF `file`; pages count from 1, and an unanswerable question has none.

    `regions` are the boxes of its evidence with their pages, from MMDocIR (Dong et al., 2025); empty if unknown.
    """

    id: str
    file: Path
    question: str
    answer: str
    answer_format: AnswerFormat
    answerable: bool
    evidence_pages: tuple[int, ...]
    evidence_sources: tuple[str, ...]
    regions: tuple[tuple[int, Box], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _MMLongBenchLine:
    id: str
    doc: str
    question: str
    answer: str
    answer_format: AnswerFormat
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
    regions: tuple[_Region, ...]


_MMLONGBENCH_LINE = TypeAdapter(_MMLongBenchLine)
_MMDOCIR_LINE = TypeAdapter(_MMDocIRLine)


def mmlongbench_questions(data: Path) -> Iterator[MMLongBenchQuestion | GoldFileError]:
    """Yields one question per line, and the errors of unusable lines."""
    gold = data / "eval" / "paperqa_mmlongbench.jsonl"
    bad: list[GoldFileError] = []
    regions = {
        (line.doc, line.question): tuple((region.page, region.box) for region in line.regions)
        for _, line in json_lines(data / "eval" / "regions_mmdocir.jsonl", _MMDOCIR_LINE, bad=bad)
    }
    for number, line in json_lines(gold, _MMLONGBENCH_LINE, bad=bad):
        file = data / "papers" / "mmlongbench" / PurePosixPath(line.doc).name
        where = f"{gold}:{number}"
        if not file.is_file():
            bad.append(GoldFileError(f"{where}: unknown paper {line.doc!r}; {file} is not there"))
            continue
        try:
            check_pages(line.evidence_pages, file, where=where)
        except GoldFileError as error:
            bad.append(error)
            continue
        yield MMLongBenchQuestion(
            id=line.id,
            file=file,
            question=line.question,
            answer=line.answer,
            answer_format=line.answer_format,
            answerable=line.answerable and line.answer_format != "None",
            evidence_pages=line.evidence_pages,
            evidence_sources=line.evidence_sources,
            regions=regions.get((line.doc, line.question), ()),
        )
    yield from bad


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

    id: str
    doc: str
    question: str
    answer: str
    answer_form: str
    evidence_source: str
    evidence_context: str
    evidence_pages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _OHRBenchLine:
    doc_name: str
    ID: str
    questions: str
    answers: str
    evidence_page_no: int | tuple[int, ...]
    answer_form: str = ""
    evidence_source: str = ""
    evidence_context: str = ""


_OHRBENCH_PAGE = TypeAdapter(OHRPage)
_OHRBENCH_LINE = TypeAdapter(_OHRBenchLine)


def ohrbench_pages(data: Path, *, bad: list[GoldFileError]) -> list[OHRPage]:
    """Returns the pages in order; the errors of unusable lines are added to `bad`."""
    file = data / "eval" / "paperqa_ohrbench_pages.jsonl"
    return [page for _, page in json_lines(file, _OHRBENCH_PAGE, bad=bad)]


def ohrbench_questions(data: Path, pages: Collection[OHRPage]) -> Iterator[OHRQuestion | GoldFileError]:
    """Yields one question per line, and the errors of unusable lines; `pages` are the existing pages."""
    file = data / "eval" / "paperqa_ohrbench.jsonl"
    known = {(page.doc, page.page) for page in pages}
    docs = {page.doc for page in pages}
    bad: list[GoldFileError] = []
    for number, line in json_lines(file, _OHRBENCH_LINE, bad=bad):
        numbers = (line.evidence_page_no,) if isinstance(line.evidence_page_no, int) else line.evidence_page_no
        missing = next((page for page in numbers if (line.doc_name, page) not in known), None)
        if line.doc_name not in docs:
            bad.append(GoldFileError(f"{file}:{number}: unknown paper {line.doc_name!r}; none of the pages is its"))
        elif missing is not None:
            bad.append(
                GoldFileError(f"{file}:{number}: page {missing} is out of range; {line.doc_name!r} has no such page")
            )
        else:
            yield OHRQuestion(
                id=line.ID,
                doc=line.doc_name,
                question=line.questions,
                answer=line.answers,
                answer_form=line.answer_form,
                evidence_source=line.evidence_source,
                evidence_context=line.evidence_context,
                evidence_pages=numbers,
            )
    yield from bad
