"""Gold questions, and the benchmarks that they come from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath

from evaluation.gold.questions import (
    OHRPage,
    docbench_questions,
    mmlongbench_questions,
    ohrbench_pages,
    ohrbench_questions,
)
from evaluation.gold.text_questions import QasperQuestion, qasper_papers
from paperscope_core.errors import GoldFileError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import Box, Paper, content_hash

__all__ = ["GoldQuestion", "QuestionWithSource", "Source", "read_questions"]


_KIND_WORDS = {
    "text": ("text",),
    "table": ("table", "multimodal-t"),
    "figure": ("figure", "chart", "image", "multimodal-f"),
    "equation": ("equation", "formula"),
}


@dataclass(frozen=True, kw_only=True)
class Source:
    """The content of a library: files, or papers known as text."""

    files: tuple[Path, ...] = ()
    papers: tuple[Paper, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Changes with the content of the files and papers."""
        contents = [_file_hash(file) for file in self.files]
        return content_hash("\0".join((*contents, *(paper.sha256 for paper in self.papers))).encode())


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


@cache
def _file_hash(file: Path) -> str:
    return content_hash(file.read_bytes()) if file.is_file() else ""


QuestionWithSource = tuple[GoldQuestion, Source]


def read_questions(data: Path, work: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    """Yields all questions, set by set, and the errors of unusable gold; `work` is for files that a set needs."""
    readers: tuple[Callable[[Path, Path], Iterator[QuestionWithSource | GoldFileError]], ...] = (
        _on_pdf,
        _ohrbench,
        _qasper,
    )
    for reader in readers:
        yield from reader(data, work)


def _on_pdf(data: Path, _work: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    for found in chain(docbench_questions(data), mmlongbench_questions(data)):
        if isinstance(found, GoldFileError):
            yield found
            continue
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


def _ohrbench(data: Path, work: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    pages, bad = ohrbench_pages(data)
    yield from bad
    files = _page_files(pages, work / "ohrbench-pages")
    source = Source(files=tuple(files.values()))
    for found in ohrbench_questions(data, pages):
        if isinstance(found, GoldFileError):
            yield found
            continue
        question = GoldQuestion(
            name=f"ohrbench/{PurePosixPath(found.doc).name}/{found.id}",
            question=found.question,
            references=(found.answer,),
            answer_format=found.answer_form,
            # Each page's file is a paper of one page.
            pages=tuple((files[found.doc, page], 1) for page in found.evidence_pages),
            kinds=_evidence_kinds(found.evidence_source),
        )
        yield question, source


def _page_files(pages: list[OHRPage], folder: Path) -> Mapping[tuple[str, int], Path]:
    files: dict[tuple[str, int], Path] = {}
    if pages:
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        file = folder / f"{page.doc.replace('/', '_')}.{page.page:04}.md"
        write_atomically(file, page.text_gt.encode())
        files[page.doc, page.page] = file
    return files


def _qasper(data: Path, _work: Path) -> Iterator[QuestionWithSource | GoldFileError]:
    for found in qasper_papers(data):
        if isinstance(found, GoldFileError):
            yield found
            continue
        source = Source(papers=(found.paper,))
        yield from ((_qasper_question(found.id, question), source) for question in found.questions)


def _qasper_question(paper: str, found: QasperQuestion) -> GoldQuestion:
    evidence = (
        tuple(text for text in answer.evidence if not text.startswith("FLOAT SELECTED")) for answer in found.answers
    )
    return GoldQuestion(
        name=f"qasper/{paper}/{found.id}",
        question=found.question,
        references=tuple(answer.text for answer in found.answers),
        # The question is answerable if any annotator found an answer.
        answerable=not all(answer.unanswerable for answer in found.answers),
        kinds=_evidence_kinds("text"),
        evidence=tuple(evidence),
    )


def _evidence_kinds(*names: str) -> tuple[str, ...]:
    """Maps the benchmarks' kinds of evidence to ours."""
    known = [
        next((kind for kind, words in _KIND_WORDS.items() if any(word in name.casefold() for word in words)), "other")
        for name in names
        if name and not name.casefold().startswith("una")
    ]
    return tuple(dict.fromkeys(known))
