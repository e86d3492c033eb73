"""QASPER and ArgSciChat: questions on one paper, whose evidence are its paragraphs or its sentences."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.gold.argscichat import argscichat_dialogues
from evaluation.gold.qasper_answers import QasperPaper, qasper_papers
from evaluation.gold.text_paper import TextSection, text_paper
from evaluation.retrieval.corpora import UnitsCorpus
from evaluation.retrieval.evidence import UnitTexts
from evaluation.retrieval.values import Piece, Question
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Passage

__all__ = ["argscichat", "qasper"]


_FLOAT = "FLOAT SELECTED:"
_SHOWN = 60


def qasper(data: Path) -> Iterator[UnitsCorpus | GoldFileError]:
    """A corpus a paper: its paragraphs, and the captions of its figures and tables, which are evidence too.

    The abstract is left out: who asked had read it, and no evidence is taken from it.
    """
    for paper in qasper_papers(data):
        if isinstance(paper, GoldFileError):
            yield paper
            continue
        quoted = _of_paper(paper)
        questions = []
        for asked in paper.questions:
            evidence = [tuple(filter(None, map(_bare, answer.evidence))) for answer in asked.answers]
            questions.append(quoted.question(f"qasper/{paper.id}/{asked.id}", asked.question, evidence))
        yield from quoted.corpus(f"qasper/{paper.id}", questions, where=paper.where)


def argscichat(data: Path) -> Iterator[UnitsCorpus | GoldFileError]:
    """A corpus a dialogue: the sentences of its paper. A turn is asked as it stands, without those before it."""
    for dialogue in argscichat_dialogues(data):
        if isinstance(dialogue, GoldFileError):
            yield dialogue
            continue
        quoted = _Quoted(dialogue.sentences, title=dialogue.title)
        # The same paper may have several dialogues.
        name = f"argscichat/{dialogue.id.replace('/', '-')}/{dialogue.line}"
        questions = [quoted.question(f"{name}.{turn.number}", turn.text, [turn.facts]) for turn in dialogue.turns]
        yield from quoted.corpus(name, questions, where=dialogue.where)


def _of_paper(paper: QasperPaper) -> "_Quoted":
    floats = ["table" if caption.casefold().startswith("table") else "figure" for caption in paper.captions]
    kinds = [*("text" for _ in paper.paragraphs), *floats]
    return _Quoted((*paper.paragraphs, *paper.captions), kinds=kinds, title=paper.paper.title)


def _bare(evidence: str) -> str:
    """Evidence without the mark of a figure or table, whose caption it then is."""
    return evidence.strip().removeprefix(_FLOAT).strip()


class _Quoted:
    """A paper of units, and the questions whose evidence is quoted from it. What stands in no unit is kept apart.

    Each unit is a section of its own, so that no two are packed into one chunk.
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
                f"{where}: {len(self._lost)} pieces of evidence stand nowhere in the paper and don't count; "
                f"the first is {self._lost[0][:_SHOWN]!r}"
            )
        if asked := tuple(question for question in questions if question.evidence):
            yield UnitsCorpus(name=name, questions=asked, paper=self._paper, ids=frozenset(self._ids))

    def _pieces(self, quotation: str) -> Iterator[Piece]:
        places = self._texts.holding(quotation)
        if not places:
            self._lost.append(quotation)
            return
        kinds = (self._kinds[places[0]],) if self._kinds else ()
        yield Piece(units=tuple(self._ids[place] for place in places), kinds=kinds)
