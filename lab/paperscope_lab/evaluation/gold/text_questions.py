"""Gold questions on papers known as text: QASPER, ArgSciChat, NLP-TDMS."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, AliasPath, Field

from paperscope_core.types import Paper
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import gold_error, read_lines, separate_errors
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper

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


# Texts without the blank ones.
_Texts = Annotated[tuple[str, ...], AfterValidator(lambda texts: tuple(filter(str.strip, texts)))]
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
    `captions`, those of its figures and tables, which are not part of `paper`. `paths` are the sections of the
    paragraphs.
    """

    where: str
    id: str
    paper: Paper
    paragraphs: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    captions: tuple[str, ...]
    questions: tuple[QasperQuestion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperAnswers:
    answer: tuple[QasperAnswer, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _QasperLine:
    id: str
    title: str
    abstract: str
    headings: Annotated[tuple[str | None, ...], Field(validation_alias=AliasPath("full_text", "section_name"))]
    paragraphs: Annotated[tuple[tuple[str, ...], ...], Field(validation_alias=AliasPath("full_text", "paragraphs"))]
    questions: Annotated[tuple[str, ...], Field(validation_alias=AliasPath("qas", "question"))]
    question_ids: Annotated[tuple[str, ...], Field(validation_alias=AliasPath("qas", "question_id"))]
    answers: Annotated[tuple[_QasperAnswers, ...], Field(validation_alias=AliasPath("qas", "answers"))]
    captions: Annotated[_Texts, Field(validation_alias=AliasPath("figures_and_tables", "caption"))] = ()


def qasper_papers(data: Path) -> Iterator[QasperPaper | GoldFileError]:
    """Yield one paper per line, and the errors of unusable lines and questions."""
    file = data / "eval" / "paperqa_qasper10_raw.jsonl"
    unanswered: list[GoldFileError] = []

    def paper(number: int, line: _QasperLine) -> QasperPaper:
        if not len(line.questions) == len(line.question_ids) == len(line.answers):
            raise GoldFileError("'qas' has not as many answers and ids as questions")
        questions = []
        for name, question, answers in zip(line.question_ids, line.questions, line.answers, strict=True):
            given = tuple(answer for answer in answers.answer if answer.text)
            if given:
                questions.append(QasperQuestion(id=name, question=question, answers=given))
            else:
                unanswered.append(gold_error(f"{file}:{number}", f"the question {name!r} has no answer"))
        sections = _sections(line)
        return QasperPaper(
            where=f"{file}:{number}",
            id=line.id,
            paper=_qasper_paper(line, sections),
            paragraphs=tuple(text for section in sections for text in section.paragraphs if text.strip()),
            paths=tuple(section.path for section in sections for text in section.paragraphs if text.strip()),
            captions=line.captions,
            questions=tuple(questions),
        )

    yield from read_lines(file, _QasperLine, paper)
    yield from unanswered


def _sections(line: _QasperLine) -> list[TextSection]:
    """Return the sections after the abstract."""
    return [
        TextSection(
            path=tuple(part.strip() for part in (heading or "").split(":::") if part.strip()), paragraphs=paragraphs
        )
        for heading, paragraphs in zip(line.headings, line.paragraphs, strict=False)
    ]


def _qasper_paper(line: _QasperLine, sections: Sequence[TextSection]) -> Paper:
    abstract = TextSection(path=("Abstract",), paragraphs=(line.abstract,))
    return text_paper(line.id, title=line.title, sections=[abstract, *sections])


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """The proponent's message, and the facts of the paper that the reply is based on: whole sentences or parts."""

    text: Annotated[str, Field(validation_alias="P_Message")]
    facts: _Texts


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """A paper's sentences and the turns of a dialogue about it; `where` is its file and line."""

    id: str
    title: str
    sentences: Annotated[_Texts, Field(validation_alias="content")]
    turns: Annotated[tuple[Turn, ...], Field(validation_alias="message_pairs")]
    where: str = ""
    line: int = 0


def argscichat_dialogues(data: Path) -> Iterator[Dialogue | GoldFileError]:
    """Yield one dialogue per line, and the errors of unusable lines."""
    file = data / "eval" / "paperqa_argscichat.jsonl"

    def dialogue(number: int, line: Dialogue) -> Dialogue:
        return replace(line, where=f"{file}:{number}", line=number)

    return read_lines(file, Dialogue, dialogue)


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSPaper:
    """A paper; each section is its heading and its paragraphs."""

    id: str
    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSTuple:
    """A result that a paper reports."""

    paper: str
    task: str
    dataset: str
    metric: str
    score: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMS:
    """All papers, their tuples, and the errors of unusable lines."""

    papers: list[TDMSPaper]
    tuples: list[TDMSTuple]
    bad: list[GoldFileError]


@dataclass(frozen=True, kw_only=True, slots=True)
class _TDMSText:
    paper: str
    text: str


def read_tdms(data: Path) -> TDMS:
    """Read both files; without either of them the result is empty."""
    texts = data / "eval" / "kg_nlptdms_text.jsonl"
    papers, bad_papers = separate_errors(read_lines(texts, _TDMSText, _tdms_paper, key=lambda text: text.paper))
    known = {paper.id for paper in papers}

    def known_tuple(_number: int, line: TDMSTuple) -> TDMSTuple:
        if line.paper not in known:
            raise GoldFileError(f"unknown paper {line.paper!r}; {texts.name} has no text of it")
        return line

    tuples, bad = separate_errors(read_lines(data / "eval" / "kg_nlptdms_tuples.jsonl", TDMSTuple, known_tuple))
    return TDMS(papers=papers, tuples=tuples, bad=[*bad_papers, *bad])


def _tdms_paper(_number: int, line: _TDMSText) -> TDMSPaper:
    sections = list(_tdms_sections(line.text))
    title = " ".join(paragraph for heading, paragraphs in sections if heading == _TITLE for paragraph in paragraphs)
    return TDMSPaper(
        id=line.paper, title=title or line.paper, sections=tuple(part for part in sections if part[0] != _TITLE)
    )


def _tdms_sections(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each "section: HEADING" with the lines up to the next one; text before the first belongs to the
    abstract."""
    heading, lines = _ABSTRACT, list[str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith(_SECTION):
            if lines:
                yield heading, tuple(lines)
            heading, lines = line.removeprefix(_SECTION).strip(), []
        else:
            lines.append(line)
    if lines:
        yield heading, tuple(lines)
