"""MMLongBench and OHR-Bench: questions whose evidence are pages."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from evaluation.gold.mmlongbench import MMLongBenchQuestion, mmlongbench_questions
from evaluation.gold.ohrbench import OHRPage, OHRQuestion, ohrbench_pages, ohrbench_questions
from evaluation.retrieval.corpora import FilesCorpus, PdfCorpus, hash_of
from evaluation.retrieval.values import Piece, Question
from paperscope_core.errors import GoldFileError
from paperscope_core.types import content_hash

__all__ = ["mmlongbench", "ohrbench"]


_KINDS = {"pure-text (plain-text)": "text", "generalized-text (layout)": "layout", "formula": "equation"}


def mmlongbench(data: Path) -> Iterator[PdfCorpus | GoldFileError]:
    """A corpus a PDF: questions are asked of their own document. Those without evidence are left out."""
    asked: dict[Path, list[Question]] = {}
    for question in mmlongbench_questions(data):
        if isinstance(question, GoldFileError):
            yield question
        elif question.evidence_pages:
            asked.setdefault(question.file, []).append(_on_pdf(question))
    for file, questions in asked.items():
        name, fingerprint = f"mmlongbench/{file.name}", content_hash(file.read_bytes())
        yield PdfCorpus(name=name, questions=tuple(questions), file=file, fingerprint=fingerprint)


def _on_pdf(question: MMLongBenchQuestion) -> Question:
    kinds = tuple(map(_kind, question.evidence_sources))
    pages = dict.fromkeys(question.evidence_pages)
    return Question(
        name=f"mmlongbench/{question.file.name}/{question.id}",
        text=question.question,
        evidence=(tuple(Piece(units=(f"page {page}",), kinds=kinds) for page in pages),),
    )


def ohrbench(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """All pages of all documents in one corpus, and in another one as recognition read them.

    Each page is a paper of its own, written below `folder`; every question is asked of all pages.
    """
    bad: list[GoldFileError] = []
    pages = ohrbench_pages(data, bad=bad)
    yield from bad
    found = list(ohrbench_questions(data, pages))
    yield from (question for question in found if isinstance(question, GoldFileError))
    questions = [question for question in found if isinstance(question, OHRQuestion)]
    corpus = partial(_corpus, pages=pages, questions=questions, folder=folder)
    yield from corpus("ohrbench", [page.text_gt for page in pages])
    yield from corpus("ohrbench-ocr", [page.text_mineru for page in pages])


def _corpus(
    name: str, texts: Sequence[str], *, pages: Sequence[OHRPage], questions: Sequence[OHRQuestion], folder: Path
) -> Iterator[FilesCorpus]:
    asked = tuple(_on_pages(name, question) for question in questions if question.evidence_pages)
    if asked and any(text.strip() for text in texts):
        units = [_unit(page.doc, page.page) for page in pages]
        yield FilesCorpus(
            name=name,
            questions=asked,
            texts=dict(zip(units, texts, strict=True)),
            suffix=".md",
            folder=folder,
            fingerprint=hash_of(*units, *texts),
        )


def _on_pages(name: str, question: OHRQuestion) -> Question:
    kinds = (_kind(question.evidence_source),) if question.evidence_source else ()
    pages = dict.fromkeys(question.evidence_pages)
    return Question(
        name=f"{name}/{question.doc}/{question.id}",
        text=question.question,
        evidence=(tuple(Piece(units=(_unit(question.doc, page),), kinds=kinds) for page in pages),),
    )


def _unit(document: str, page: int) -> str:
    return f"{document}, page {page} from 0"


def _kind(name: str) -> str:
    """A kind of evidence by the word that all sets share."""
    return _KINDS.get(name.casefold(), name.casefold())
