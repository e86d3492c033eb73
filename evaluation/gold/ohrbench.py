"""`eval/paperqa_ohrbench.jsonl` and `…_pages.jsonl`: OHR-Bench's questions and pages (Zhang et al., 2024)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from paperscope_core.errors import GoldFileError

__all__ = ["OHRPage", "OHRQuestion", "ohrbench_pages", "ohrbench_questions"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OHRPage:
    """A page's true text and what MinerU read of it ("" where there is none); `page` counts from 0."""

    doc: str
    page: int
    text_gt: str
    text_mineru: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OHRQuestion:
    """A question whose evidence is a text, table or equation of some pages, which count from 0."""

    id: str
    doc: str
    question: str
    answer: str
    answer_form: str
    evidence_source: str
    evidence_context: str
    evidence_pages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    doc_name: str
    ID: str
    questions: str
    answers: str
    evidence_page_no: int | tuple[int, ...]
    answer_form: str = ""
    evidence_source: str = ""
    evidence_context: str = ""


_PAGE = TypeAdapter(OHRPage)
_LINE = TypeAdapter(_Line)


def ohrbench_pages(data: Path, *, bad: list[GoldFileError]) -> list[OHRPage]:
    """The pages in their order; a line that can't be used adds its error to `bad`."""
    file = data / "eval" / "paperqa_ohrbench_pages.jsonl"
    return [page for _, page in json_lines(file, _PAGE, bad=bad)]


def ohrbench_questions(data: Path, pages: Collection[OHRPage]) -> Iterator[OHRQuestion | GoldFileError]:
    """One question a line, and the errors of lines that can't be used: `pages` are those that there are."""
    file = data / "eval" / "paperqa_ohrbench.jsonl"
    known = {(page.doc, page.page) for page in pages}
    docs = {page.doc for page in pages}
    bad: list[GoldFileError] = []
    for number, line in json_lines(file, _LINE, bad=bad):
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
