"""Gold questions, and the benchmarks that they come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import Box, Paper
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import map_gold
from paperscope_lab.evaluation.gold.questions import (
    OHRQuestion,
    PdfQuestion,
    docbench_questions,
    mmlongbench_questions,
    ohrbench_pages,
    ohrbench_questions,
)
from paperscope_lab.evaluation.gold.text_questions import QasperPaper, qasper_papers

__all__ = ["GoldQuestion", "QuestionWithSource", "Source", "read_questions"]

_KIND_WORDS = {
    "text": ("text",),
    "table": ("table", "multimodal-t"),
    "figure": ("figure", "chart", "image", "multimodal-f"),
    "equation": ("equation", "formula"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The content of a library: files, or papers known as text."""

    files: tuple[Path, ...] = ()
    papers: tuple[Paper, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldQuestion:
    """A question on one library.

    `name` is SET/PAPER/ITEM. `references` are gold answers, any of which is right; `answerable` tells whether the
    library has the answer. `answer_format` is the benchmark's form ("Int", "Yes/No" …), "" if it gives none. `pages`
    are the pages of the evidence: a file of the source and a page in it from 1, empty if unknown; `regions` are its
    boxes on these pages, empty if unknown; `kinds` are its kinds ("text", "table", "figure", "equation", "other");
    `evidence` are the paragraphs of each annotator.
    """

    name: str
    question: str
    references: tuple[str, ...]
    answerable: bool = True
    answer_format: str = ""
    pages: tuple[tuple[Path, int], ...] = ()
    regions: tuple[tuple[Path, int, Box], ...] = ()
    kinds: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()


QuestionWithSource = tuple[GoldQuestion, Source]


def read_questions(data: Path, work: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    """Yield all questions, set by set, and the errors of unusable gold; `work` is for files that a set needs."""
    yield from map_gold(chain(docbench_questions(data), mmlongbench_questions(data)), _on_pdf)
    yield from _ohrbench(data, work / "ohrbench-pages")
    yield from map_gold(qasper_papers(data), _qasper)


def _on_pdf(found: PdfQuestion) -> Iterator[QuestionWithSource]:
    question = GoldQuestion(
        name=f"{found.set}/{found.paper}/{found.id}",
        question=found.question,
        references=(found.answer,),
        answerable=found.answerable,
        answer_format=found.answer_format,
        pages=tuple((found.file, page) for page in found.evidence_pages),
        regions=tuple((found.file, page, box) for page, box in found.regions),
        kinds=_evidence_kinds(*found.evidence_sources),
    )
    yield question, Source(files=(found.file,))


def _ohrbench(data: Path, folder: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    """Yield the questions on one library of all pages, each of which is a paper of one page."""
    pages, bad = ohrbench_pages(data)
    yield from bad
    files = {(page.doc, page.page): folder / f"{page.doc.replace('/', '_')}.{page.page:04}.md" for page in pages}
    for page in pages:
        file = files[page.doc, page.page]
        with output_errors(file):
            folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, page.text_gt.encode())
    source = Source(files=tuple(files.values()))

    def question(found: OHRQuestion) -> Iterator[QuestionWithSource]:
        asked = GoldQuestion(
            name=f"ohrbench/{PurePosixPath(found.doc).name}/{found.id}",
            question=found.question,
            references=(found.answer,),
            answer_format=found.answer_form,
            pages=tuple((files[found.doc, page], 1) for page in found.evidence_pages),
            kinds=_evidence_kinds(found.evidence_source),
        )
        yield asked, source

    yield from map_gold(ohrbench_questions(data, pages), question)


def _qasper(paper: QasperPaper) -> Iterator[QuestionWithSource]:
    source = Source(papers=(paper.paper,))
    for found in paper.questions:
        question = GoldQuestion(
            name=f"qasper/{paper.id}/{found.id}",
            question=found.question,
            references=tuple(answer.text for answer in found.answers),
            # The question is answerable if any annotator found an answer.
            answerable=not all(answer.unanswerable for answer in found.answers),
            kinds=("text",),
            evidence=tuple(
                tuple(text for text in answer.evidence if not text.startswith("FLOAT SELECTED"))
                for answer in found.answers
            ),
        )
        yield question, source


def _evidence_kinds(*names: str) -> tuple[str, ...]:
    """Map the benchmarks' kinds of evidence to ours."""
    known = [
        next((kind for kind, words in _KIND_WORDS.items() if any(word in name.casefold() for word in words)), "other")
        for name in names
        if name and not name.casefold().startswith("una")
    ]
    return tuple(dict.fromkeys(known))
