"""The sets of questions of a data folder, each question with the source that it is asked of."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from evaluation.answers.question import GoldQuestion, Source
from evaluation.gold.docbench import docbench_questions
from evaluation.gold.mmlongbench import mmlongbench_questions
from evaluation.gold.ohrbench import OHRPage, ohrbench_pages, ohrbench_questions
from evaluation.gold.qasper_answers import QasperQuestion, qasper_papers
from paperscope_core.errors import GoldFileError
from paperscope_core.files import output_errors, write_atomically

__all__ = ["Asked", "read_questions"]


Asked = tuple[GoldQuestion, Source]

_KINDS = {
    "text": ("text",),
    "table": ("table", "multimodal-t"),
    "figure": ("figure", "chart", "image", "multimodal-f"),
    "equation": ("equation", "formula"),
}


def read_questions(data: Path, work: Path) -> Iterator[Asked | GoldFileError]:
    """All questions, set by set, and the errors of gold that can't be used; files that a set needs go into `work`."""
    readers: tuple[Callable[[Path, Path], Iterator[Asked | GoldFileError]], ...] = (
        _docbench,
        _mmlongbench,
        _ohrbench,
        _qasper,
    )
    for reader in readers:
        yield from reader(data, work)


def _docbench(data: Path, _work: Path) -> Iterator[Asked | GoldFileError]:
    for found in docbench_questions(data):
        if isinstance(found, GoldFileError):
            yield found
            continue
        question = GoldQuestion(
            name=f"docbench/{found.paper}/{found.number}",
            question=found.question,
            references=(found.answer,),
            answerable=found.answerable,
            answer_format=found.answer_format,
            pages=tuple((found.file, page) for page in found.evidence_pages),
            kinds=_kinds(found.type),
        )
        yield question, Source(files=(found.file,))


def _mmlongbench(data: Path, _work: Path) -> Iterator[Asked | GoldFileError]:
    for found in mmlongbench_questions(data):
        if isinstance(found, GoldFileError):
            yield found
            continue
        question = GoldQuestion(
            name=f"mmlongbench/{found.file.stem}/{found.id}",
            question=found.question,
            references=(found.answer,),
            answerable=found.answerable,
            answer_format=found.answer_format,
            pages=tuple((found.file, page) for page in found.evidence_pages),
            kinds=_kinds(*found.evidence_sources),
        )
        yield question, Source(files=(found.file,))


def _ohrbench(data: Path, work: Path) -> Iterator[Asked | GoldFileError]:
    bad: list[GoldFileError] = []
    pages = ohrbench_pages(data, bad=bad)
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
            # A page's file is a paper of one page.
            pages=tuple((files[found.doc, page], 1) for page in found.evidence_pages),
            kinds=_kinds(found.evidence_source),
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


def _qasper(data: Path, _work: Path) -> Iterator[Asked | GoldFileError]:
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
        # One annotator who found an answer proves that there is one.
        answerable=not all(answer.unanswerable for answer in found.answers),
        kinds=_kinds("text"),
        evidence=tuple(evidence),
    )


def _kinds(*names: str) -> tuple[str, ...]:
    """What benchmarks call the kinds of evidence, in our words."""
    known = [
        next((kind for kind, words in _KINDS.items() if any(word in name.casefold() for word in words)), "other")
        for name in names
        if name and not name.casefold().startswith("una")
    ]
    return tuple(dict.fromkeys(known))
