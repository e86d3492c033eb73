"""The benchmarks of the retrieval suite as corpora."""

from collections.abc import Iterator, Sequence
from functools import partial
from html import escape
from itertools import chain
from pathlib import Path

from evaluation.gold.files import separate_errors
from evaluation.gold.questions import (
    OHRPage,
    OHRQuestion,
    PdfQuestion,
    mmlongbench_questions,
    ohrbench_pages,
    ohrbench_questions,
)
from evaluation.gold.text_papers import TextSection, text_paper
from evaluation.gold.text_questions import QasperPaper, TDMSPaper, argscichat_dialogues, qasper_papers, read_tdms
from evaluation.retrieval.corpora import (
    Corpus,
    EvidencePiece,
    FilesCorpus,
    PdfCorpus,
    Question,
    UnitsCorpus,
    UnitTexts,
    hash_of,
)
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Passage, content_hash

__all__ = ["argscichat", "load_corpora", "mmlongbench", "ohrbench", "qasper", "tdms"]


_FLOAT_MARK = "FLOAT SELECTED:"
_MAX_QUOTE_SHOWN = 60


_KINDS = {"pure-text (plain-text)": "text", "generalized-text (layout)": "layout", "formula": "equation"}


def qasper(data: Path) -> Iterator[UnitsCorpus | GoldFileError]:
    """One corpus per paper: its paragraphs, and the captions of its figures and tables, which are evidence, too.

    The abstract is left out: the annotators had read it, and it contains no evidence.
    """
    for paper in qasper_papers(data):
        if isinstance(paper, GoldFileError):
            yield paper
            continue
        quoted = _of_paper(paper)
        questions = []
        for asked in paper.questions:
            evidence = [tuple(filter(None, map(_without_float_mark, answer.evidence))) for answer in asked.answers]
            questions.append(quoted.question(f"qasper/{paper.id}/{asked.id}", asked.question, evidence))
        yield from quoted.corpus(f"qasper/{paper.id}", questions, where=paper.where)


def argscichat(data: Path) -> Iterator[UnitsCorpus | GoldFileError]:
    """One corpus per dialogue: the sentences of its paper. A turn is asked without the previous turns."""
    for dialogue in argscichat_dialogues(data):
        if isinstance(dialogue, GoldFileError):
            yield dialogue
            continue
        quoted = _QuotedPaper(dialogue.sentences, title=dialogue.title)
        # The same paper may have several dialogues.
        name = f"argscichat/{dialogue.id.replace('/', '-')}/{dialogue.line}"
        questions = [
            quoted.question(f"{name}.{number}", turn.text, [turn.facts])
            for number, turn in enumerate(dialogue.turns, start=1)
            if turn.text.strip()
        ]
        yield from quoted.corpus(name, questions, where=dialogue.where)


def _of_paper(paper: QasperPaper) -> "_QuotedPaper":
    floats = ["table" if caption.casefold().startswith("table") else "figure" for caption in paper.captions]
    kinds = [*("text" for _ in paper.paragraphs), *floats]
    return _QuotedPaper((*paper.paragraphs, *paper.captions), kinds=kinds, title=paper.paper.title)


def _without_float_mark(evidence: str) -> str:
    """The evidence without the prefix of a figure or table, which leaves the caption."""
    return evidence.strip().removeprefix(_FLOAT_MARK).strip()


class _QuotedPaper:
    """A paper made of units, and the questions whose evidence is quoted from it. Quotations found in no unit are
    counted.

    Each unit is a separate section, so that no two share a chunk.
    """

    def __init__(self, texts: Sequence[str], *, title: str, kinds: Sequence[str] = ()) -> None:
        sections = [TextSection(path=(str(number),), paragraphs=(text,)) for number, text in enumerate(texts, start=1)]
        self._paper = text_paper("", title=title, sections=sections)
        passages = (element for element in self._paper.elements if isinstance(element, Passage))
        self._ids = [passage.id for passage in passages if passage.role == "paragraph"]
        self._texts = UnitTexts(texts)
        self._kinds = kinds
        self._lost: list[str] = []

    def question(self, name: str, text: str, evidence: Sequence[Sequence[str]]) -> Question:
        pieces = (tuple(piece for quoted in quotations for piece in self._pieces(quoted)) for quotations in evidence)
        return Question(name=name, text=text, evidence=tuple(filter(None, pieces)))

    def corpus(self, name: str, questions: Sequence[Question], *, where: str) -> Iterator[UnitsCorpus | GoldFileError]:
        """The corpus with those questions that have evidence, and one error for all quotations that were lost."""
        if self._lost:
            yield GoldFileError(
                f"{where}: {len(self._lost)} pieces of evidence are not in the paper and don't count; "
                f"the first is {self._lost[0][:_MAX_QUOTE_SHOWN]!r}"
            )
        if asked := tuple(question for question in questions if question.evidence):
            yield UnitsCorpus(name=name, questions=asked, paper=self._paper, ids=frozenset(self._ids))

    def _pieces(self, quotation: str) -> Iterator[EvidencePiece]:
        places = self._texts.holding(quotation)
        if not places:
            self._lost.append(quotation)
            return
        kinds = (self._kinds[places[0]],) if self._kinds else ()
        yield EvidencePiece(units=tuple(self._ids[place] for place in places), kinds=kinds)


def mmlongbench(data: Path) -> Iterator[PdfCorpus | GoldFileError]:
    """One corpus per PDF: questions are asked of their own document. Questions without evidence are left out."""
    asked: dict[Path, list[Question]] = {}
    for question in mmlongbench_questions(data):
        if isinstance(question, GoldFileError):
            yield question
        elif question.evidence_pages:
            asked.setdefault(question.file, []).append(_on_pdf(question))
    for file, questions in asked.items():
        name, fingerprint = f"mmlongbench/{file.name}", content_hash(file.read_bytes())
        yield PdfCorpus(name=name, questions=tuple(questions), file=file, fingerprint=fingerprint)


def _on_pdf(question: PdfQuestion) -> Question:
    kinds = tuple(map(_kind, question.evidence_sources))
    pages = dict.fromkeys(question.evidence_pages)
    return Question(
        name=f"mmlongbench/{question.file.name}/{question.id}",
        text=question.question,
        evidence=(tuple(EvidencePiece(units=(f"page {page}",), kinds=kinds) for page in pages),),
    )


def ohrbench(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """All pages of all documents in one corpus, and in a second one as OCR read them.

    Each page is a separate paper, written below `folder`; every question is asked of all pages.
    """
    pages, bad_pages = ohrbench_pages(data)
    questions, bad = separate_errors(ohrbench_questions(data, pages))
    yield from (*bad_pages, *bad)
    corpus = partial(_page_corpus, pages=pages, questions=questions, folder=folder)
    yield from corpus("ohrbench", [page.text_gt for page in pages])
    yield from corpus("ohrbench-ocr", [page.text_mineru for page in pages])


def _page_corpus(
    name: str, texts: Sequence[str], *, pages: Sequence[OHRPage], questions: Sequence[OHRQuestion], folder: Path
) -> Iterator[FilesCorpus]:
    asked = tuple(_on_pages(name, question) for question in questions if question.evidence_pages)
    if asked and any(text.strip() for text in texts):
        units = [_page_unit(page.doc, page.page) for page in pages]
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
        evidence=(tuple(EvidencePiece(units=(_page_unit(question.doc, page),), kinds=kinds) for page in pages),),
    )


def _page_unit(document: str, page: int) -> str:
    return f"{document}, page {page} from 0"


def _kind(name: str) -> str:
    """Maps a kind of evidence to the names that all sets share."""
    return _KINDS.get(name.casefold(), name.casefold())


def tdms(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """All papers in one corpus, written below `folder`, with a question per task, dataset and metric.

    The evidence is all papers that report such a result.
    """
    gold = read_tdms(data)
    yield from gold.bad
    reporting: dict[tuple[str, str, str], dict[str, None]] = {}
    for found in gold.tuples:
        reporting.setdefault((found.task, found.dataset, found.metric), {})[found.paper] = None
    if not reporting:
        return
    texts = {paper.id: _html(paper) for paper in gold.papers}
    yield FilesCorpus(
        name="tdms",
        questions=tuple(_result_question(*about, list(papers)) for about, papers in reporting.items()),
        texts=texts,
        suffix=".html",
        folder=folder,
        fingerprint=hash_of(*texts, *texts.values()),
    )


def _result_question(task: str, dataset: str, metric: str, papers: list[str]) -> Question:
    return Question(
        name=f"tdms/{task}/{dataset}/{metric}",
        text=f"Which papers report {metric} on {dataset} for {task.replace('_', ' ')}?",
        evidence=(tuple(EvidencePiece(units=(paper,)) for paper in papers),),
    )


def _html(paper: TDMSPaper) -> str:
    """The paper as an HTML page with its sections' headings."""
    title = escape(paper.title)
    parts = [f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>"]
    for heading, paragraphs in paper.sections:
        parts.append(f"<h2>{escape(heading)}</h2>")
        parts.extend(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return "\n".join([*parts, "</body></html>"])


def load_corpora(data: Path, *, folder: Path) -> tuple[list[Corpus], list[GoldFileError]]:
    """Returns the corpora of the sets present in the data, and the errors of unusable gold; `folder` is for their
    texts.

    Raises GoldFileError if there are no questions.
    """
    found: Iterator[Corpus | GoldFileError] = chain(
        qasper(data), argscichat(data), mmlongbench(data), ohrbench(data, folder=folder), tdms(data, folder=folder)
    )
    corpora, bad = separate_errors(found)
    if not corpora:
        missing = f"{data}: no gold here; name a folder with eval/paperqa_*.jsonl or eval/kg_nlptdms_*.jsonl in it"
        raise bad[0] if bad else GoldFileError(missing)
    return corpora, bad
