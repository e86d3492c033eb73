"""Gold questions on papers known as text: QASPER, ArgSciChat, NLP-TDMS."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.text_papers import TextSection, text_paper
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Paper

__all__ = [
    "TDMS",
    "Dialogue",
    "QasperAnswer",
    "QasperPaper",
    "QasperQuestion",
    "TDMSPaper",
    "TDMSTuple",
    "Turn",
    "argscichat_dialogues",
    "qasper_papers",
    "read_tdms",
]


_SECTION = "section:"
_TITLE, _ABSTRACT = "title", "abstract"


@dataclass(frozen=True, kw_only=True, slots=True)
class QasperAnswer:
    """One annotator's answer: at most one of spans, text, and yes or no; none if the paper doesn't have it.

    `evidence` are paragraphs, or "FLOAT SELECTED: " and a caption.
    """

    unanswerable: bool = False
    extractive_spans: tuple[str, ...] = ()
    yes_no: bool | None = None
    free_form_answer: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer as QASPER's evaluation compares it."""
        if self.unanswerable:
            return "Unanswerable"
        if self.yes_no is not None:
            return "Yes" if self.yes_no else "No"
        return ", ".join(self.extractive_spans) or self.free_form_answer


@dataclass(frozen=True, kw_only=True, slots=True)
class QasperQuestion:
    """A question with all its answers, at least one."""

    id: str
    question: str
    answers: tuple[QasperAnswer, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QasperPaper:
    """A paper whose passages are QASPER's paragraphs, verbatim, and its questions.

    `where` is its file and line. Evidence is searched for in `paragraphs`, which exclude the abstract, and in
    `captions`, those of its figures and tables, which are not part of `paper`.
    """

    where: str
    id: str
    paper: Paper
    paragraphs: tuple[str, ...]
    captions: tuple[str, ...]
    questions: tuple[QasperQuestion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperAnswers:
    answer: tuple[QasperAnswer, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperQuestions:
    question: tuple[str, ...]
    question_id: tuple[str, ...]
    answers: tuple[_QasperAnswers, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperText:
    section_name: tuple[str | None, ...]
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperFloats:
    caption: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperLine:
    id: str
    title: str
    abstract: str
    full_text: _QasperText
    qas: _QasperQuestions
    figures_and_tables: _QasperFloats = field(default_factory=_QasperFloats)


_QASPER_LINE = TypeAdapter(_QasperLine)


def qasper_papers(data: Path) -> Iterator[QasperPaper | GoldFileError]:
    """Yields one paper per line, and the errors of unusable lines and questions."""
    file = data / "eval" / "paperqa_qasper10_raw.jsonl"
    bad: list[GoldFileError] = []
    for number, line in json_lines(file, _QASPER_LINE, bad=bad):
        where = f"{file}:{number}"
        qas = line.qas
        if not len(qas.question) == len(qas.question_id) == len(qas.answers):
            bad.append(GoldFileError(f"{where}: 'qas' has not as many answers and ids as questions; correct the gold"))
            continue
        questions = []
        for question, name, answers in zip(qas.question, qas.question_id, qas.answers, strict=True):
            told = tuple(answer for answer in answers.answer if answer.text)
            if told:
                questions.append(QasperQuestion(id=name, question=question, answers=told))
            else:
                bad.append(
                    GoldFileError(f"{where}: the question {name!r} has no answer; correct the gold, or leave it out")
                )
        yield QasperPaper(
            where=where,
            id=line.id,
            paper=_qasper_paper(line),
            paragraphs=tuple(text for section in line.full_text.paragraphs for text in section if text.strip()),
            captions=tuple(filter(str.strip, line.figures_and_tables.caption)),
            questions=tuple(questions),
        )
    yield from bad


def _qasper_paper(line: _QasperLine) -> Paper:
    sections = [TextSection(path=("Abstract",), paragraphs=(line.abstract,))]
    for name, paragraphs in zip(line.full_text.section_name, line.full_text.paragraphs, strict=False):
        path = tuple(part.strip() for part in (name or "").split(":::") if part.strip())
        sections.append(TextSection(path=path, paragraphs=paragraphs))
    return text_paper(line.id, title=line.title, sections=sections)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """The proponent's message, and the facts of the paper that the reply is based on.

    `number` is its position in the dialogue, from 1; the facts are whole sentences or parts of them.
    """

    number: int
    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """A paper's sentences and the turns with facts; `where` is its file and line."""

    where: str
    line: int
    id: str
    title: str
    sentences: tuple[str, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _MessagePair:
    P_Message: str
    facts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _DialogueLine:
    id: str
    title: str
    content: tuple[str, ...]
    message_pairs: tuple[_MessagePair, ...]


_DIALOGUE_LINE = TypeAdapter(_DialogueLine)


def argscichat_dialogues(data: Path) -> Iterator[Dialogue | GoldFileError]:
    """Yields one dialogue per line, and the errors of unusable lines. Turns without facts are left out."""
    file = data / "eval" / "paperqa_argscichat.jsonl"
    bad: list[GoldFileError] = []
    for number, paper in json_lines(file, _DIALOGUE_LINE, bad=bad):
        turns = (
            Turn(number=place, text=pair.P_Message, facts=tuple(filter(str.strip, pair.facts)))
            for place, pair in enumerate(paper.message_pairs, start=1)
        )
        yield Dialogue(
            where=f"{file}:{number}",
            line=number,
            id=paper.id,
            title=paper.title,
            sentences=tuple(filter(str.strip, paper.content)),
            turns=tuple(turn for turn in turns if turn.facts and turn.text.strip()),
        )
    yield from bad


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSPaper:
    """A paper; each section is its heading and its paragraphs."""

    id: str
    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSTuple:
    """A result that a paper reports; `where` is its file and line."""

    where: str
    paper: str
    task: str
    dataset: str
    metric: str
    score: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMS:
    """All papers, their tuples, and the errors of unusable lines."""

    papers: tuple[TDMSPaper, ...]
    tuples: tuple[TDMSTuple, ...]
    bad: tuple[GoldFileError, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _TDMSText:
    paper: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _TDMSLine:
    paper: str
    task: str
    dataset: str
    metric: str
    score: str


_TDMS_TEXT, _TDMS_LINE = TypeAdapter(_TDMSText), TypeAdapter(_TDMSLine)


def read_tdms(data: Path) -> TDMS:
    """Reads both files; without either of them the result is empty."""
    texts, file = (data / "eval" / f"kg_nlptdms_{name}.jsonl" for name in ("text", "tuples"))
    bad: list[GoldFileError] = []
    papers = {text.paper: _tdms_paper(text) for _, text in json_lines(texts, _TDMS_TEXT, bad=bad)}
    tuples = []
    for number, found in json_lines(file, _TDMS_LINE, bad=bad):
        where = f"{file}:{number}"
        if found.paper not in papers:
            bad.append(GoldFileError(f"{where}: unknown paper {found.paper!r}; {texts.name} has no text of it"))
            continue
        tuples.append(
            TDMSTuple(
                where=where,
                paper=found.paper,
                task=found.task,
                dataset=found.dataset,
                metric=found.metric,
                score=found.score,
            )
        )
    return TDMS(papers=tuple(papers.values()), tuples=tuple(tuples), bad=tuple(bad))


def _tdms_paper(text: _TDMSText) -> TDMSPaper:
    sections = list(_tdms_sections(text.text))
    title = " ".join(line for head, lines in sections if head == _TITLE for line in lines)
    return TDMSPaper(
        id=text.paper, title=title or text.paper, sections=tuple(part for part in sections if part[0] != _TITLE)
    )


def _tdms_sections(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each "section: HEADING" with the lines up to the next one; text before the first belongs to the abstract."""
    head, lines = _ABSTRACT, list[str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith(_SECTION):
            if lines:
                yield head, tuple(lines)
            head, lines = line.removeprefix(_SECTION).strip(), []
        else:
            lines.append(line)
    if lines:
        yield head, tuple(lines)
