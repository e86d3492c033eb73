"""The benchmarks of the retrieval suite as corpora."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

from paperscope_core.text.escaping import html
from paperscope_core.types import Passage
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import map_gold, separate_errors
from paperscope_lab.evaluation.gold.questions import (
    OHRQuestion,
    mmlongbench_questions,
    ohrbench_pages,
    ohrbench_questions,
)
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper
from paperscope_lab.evaluation.gold.text_questions import (
    Dialogue,
    QasperPaper,
    TDMSPaper,
    argscichat_dialogues,
    qasper_papers,
    read_tdms,
)
from paperscope_lab.evaluation.retrieval.corpora import (
    Corpus,
    EvidencePiece,
    FilesCorpus,
    PdfCorpus,
    Question,
    UnitsCorpus,
    UnitTexts,
)

__all__ = ["argscichat", "load_corpora", "mmlongbench", "ohrbench", "qasper", "tdms"]

_FLOAT_MARK = "FLOAT SELECTED:"
_MAX_QUOTE_SHOWN = 60
# Kinds of evidence that the sets name differently.
_KINDS = {"pure-text (plain-text)": "text", "generalized-text (layout)": "layout", "formula": "equation"}


def load_corpora(data: Path, *, folder: Path) -> tuple[list[Corpus], list[GoldFileError]]:
    """Return the corpora of the sets present in the data, and the errors of unusable gold; `folder` is for their
    texts."""
    found: Iterator[Corpus | GoldFileError] = chain(
        map_gold(qasper_papers(data), qasper),
        map_gold(argscichat_dialogues(data), argscichat),
        mmlongbench(data),
        ohrbench(data, folder=folder),
        tdms(data, folder=folder),
    )
    corpora: list[Corpus]
    corpora, bad = separate_errors(found)
    return corpora, bad


def qasper(paper: QasperPaper) -> Iterator[UnitsCorpus | GoldFileError]:
    """Yield a corpus of a paper's paragraphs, and the captions of its figures and tables, which are evidence, too.

    The abstract is left out: the annotators had read it, and it contains no evidence.
    """
    floats = ["table" if caption.casefold().startswith("table") else "figure" for caption in paper.captions]
    kinds = ["text"] * len(paper.paragraphs) + floats
    quoted = _QuotedPaper((*paper.paragraphs, *paper.captions), kinds=kinds, title=paper.paper.title, paths=paper.paths)
    for asked in paper.questions:
        # The mark of a figure or table precedes its caption.
        evidence = ([text.strip().removeprefix(_FLOAT_MARK).strip() for text in it.evidence] for it in asked.answers)
        quoted.ask(f"qasper/{paper.id}/{asked.id}", asked.question, evidence)
    yield from quoted.corpus(f"qasper/{paper.id}", where=paper.where)


def argscichat(dialogue: Dialogue) -> Iterator[UnitsCorpus | GoldFileError]:
    """Yield a corpus of the sentences of a dialogue's paper. A turn is asked without the previous turns."""
    quoted = _QuotedPaper(dialogue.sentences, title=dialogue.title)
    # The same paper may have several dialogues.
    name = f"argscichat/{dialogue.id.replace('/', '-')}/{dialogue.line}"
    for number, turn in enumerate(dialogue.turns, start=1):
        if turn.text.strip():
            quoted.ask(f"{name}.{number}", turn.text, [turn.facts])
    yield from quoted.corpus(name, where=dialogue.where)


class _QuotedPaper:
    """A paper made of units, and the questions whose evidence is quoted from it.

    Each unit is a separate section, so that no two share a chunk; `paths` are those that the first ones have in the
    paper. Questions without evidence are left out, and
    quotations found in no unit are counted.
    """

    def __init__(
        self, texts: Sequence[str], *, title: str, kinds: Sequence[str] = (), paths: Sequence[tuple[str, ...]] = ()
    ) -> None:
        sections = [
            TextSection(path=path, paragraphs=(text,))
            for text, path in zip(texts, chain(paths, repeat(())), strict=False)
        ]
        self._paper = text_paper("", title=title, sections=sections)
        passages = (element for element in self._paper.elements if isinstance(element, Passage))
        self._ids = [passage.id for passage in passages if passage.role == "paragraph"]
        self._texts = UnitTexts(texts)
        self._kinds = kinds
        self._questions: list[Question] = []
        self._lost: list[str] = []

    def ask(self, name: str, text: str, evidence: Iterable[Sequence[str]]) -> None:
        """Add a question with the quotations of each annotator."""
        pieces = [tuple(chain.from_iterable(map(self._pieces, filter(None, texts)))) for texts in evidence]
        if any(pieces):
            self._questions.append(Question(name=name, text=text, evidence=tuple(filter(None, pieces))))

    def corpus(self, name: str, *, where: str) -> Iterator[UnitsCorpus | GoldFileError]:
        """Yield the corpus, if there are questions, and one error for all quotations that were lost."""
        if self._lost:
            yield GoldFileError(
                f"{where}: {len(self._lost)} pieces of evidence are not in the paper and don't count; "
                f"the first is {self._lost[0][:_MAX_QUOTE_SHOWN]!r}"
            )
        if self._questions:
            ids = frozenset(self._ids)
            yield UnitsCorpus(name=name, questions=tuple(self._questions), paper=self._paper, ids=ids)

    def _pieces(self, quotation: str) -> Iterator[EvidencePiece]:
        places = self._texts.holding(quotation)
        if places:
            kinds = (self._kinds[places[0]],) if self._kinds else ()
            yield EvidencePiece(units=tuple(self._ids[place] for place in places), kinds=kinds)
        else:
            self._lost.append(quotation)


def mmlongbench(data: Path) -> Iterator[PdfCorpus | GoldFileError]:
    """Yield one corpus per PDF: questions are asked of their own document. Questions without evidence are left out."""
    found, bad = separate_errors(mmlongbench_questions(data))
    yield from bad
    asked: dict[Path, list[Question]] = {}
    for question in found:
        if question.evidence_pages:
            name = f"mmlongbench/{question.file.name}/{question.id}"
            units = [f"page {page}" for page in question.evidence_pages]
            asked.setdefault(question.file, []).append(
                _question(name, question.question, units, kinds=question.evidence_sources)
            )
    for file, questions in asked.items():
        yield PdfCorpus(name=f"mmlongbench/{file.name}", questions=tuple(questions), file=file)


def _question(name: str, text: str, units: Iterable[str], *, kinds: Iterable[str] = ()) -> Question:
    """Return a question whose pieces of evidence are whole units, in the kinds that all sets share."""
    named = tuple(_KINDS.get(kind.casefold(), kind.casefold()) for kind in kinds if kind)
    pieces = tuple(EvidencePiece(units=(unit,), kinds=named) for unit in dict.fromkeys(units))
    return Question(name=name, text=text, evidence=(pieces,))


def ohrbench(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """Yield all pages of all documents in one corpus, and in a second one as OCR read them.

    Each page is a separate paper, written below `folder`; every question is asked of all pages.
    """
    pages, bad_pages = ohrbench_pages(data)
    questions, bad = separate_errors(ohrbench_questions(data, pages))
    yield from (*bad_pages, *bad)
    for name, texts in (
        ("ohrbench", {_page_unit(page.doc, page.page): page.text_gt for page in pages}),
        ("ohrbench-ocr", {_page_unit(page.doc, page.page): page.text_mineru for page in pages}),
    ):
        asked = tuple(_on_pages(name, question) for question in questions if question.evidence_pages)
        if asked and any(text.strip() for text in texts.values()):
            yield FilesCorpus(name=name, questions=asked, texts=texts, suffix=".md", folder=folder)


def _on_pages(corpus: str, question: OHRQuestion) -> Question:
    return _question(
        f"{corpus}/{question.doc}/{question.id}",
        question.question,
        [_page_unit(question.doc, page) for page in question.evidence_pages],
        kinds=[question.evidence_source],
    )


def _page_unit(document: str, page: int) -> str:
    return f"{document}, page {page} from 0"


def tdms(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """Yield all papers in one corpus, written below `folder`, with a question per task, dataset and metric.

    The evidence is all papers that report such a result.
    """
    gold = read_tdms(data)
    yield from gold.bad
    reporting: dict[tuple[str, str, str], list[str]] = {}
    for found in gold.tuples:
        reporting.setdefault((found.task, found.dataset, found.metric), []).append(found.paper)
    if reporting:
        questions = (
            _question(
                f"tdms/{task}/{dataset}/{metric}",
                f"Which papers report {metric} on {dataset} for {task.replace('_', ' ')}?",
                papers,
            )
            for (task, dataset, metric), papers in reporting.items()
        )
        texts = {paper.id: _html(paper) for paper in gold.papers}
        yield FilesCorpus(name="tdms", questions=tuple(questions), texts=texts, suffix=".html", folder=folder)


def _html(paper: TDMSPaper) -> str:
    """Return the paper as an HTML page with its sections' headings."""
    parts = [html("<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1>", paper.title)]
    for heading, paragraphs in paper.sections:
        parts.append(html("<h2>{}</h2>", heading))
        parts.extend(html("<p>{}</p>", paragraph) for paragraph in paragraphs)
    return "\n".join([*parts, "</body></html>"])
