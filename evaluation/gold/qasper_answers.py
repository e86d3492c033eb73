"""`eval/paperqa_qasper10_raw.jsonl`: QASPER's papers as text, with questions that several people answered.

Dasigi et al., A Dataset of Information-Seeking Questions and Answers Anchored in Research Papers (2021).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.text_paper import TextSection, text_paper
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Paper

__all__ = ["QasperAnswer", "QasperPaper", "QasperQuestion", "qasper_papers"]


@dataclass(frozen=True, kw_only=True, slots=True)
class QasperAnswer:
    """One annotator's answer: at most one of spans, text and yes or no is given, none where the paper doesn't say.

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
    """A paper whose passages are QASPER's paragraphs, word for word, and what is asked about it.

    `where` is its file and line; evidence is found among `paragraphs`, which the abstract is none of, and `captions`,
    those of its figures and tables, which are no part of `paper`.
    """

    where: str
    id: str
    paper: Paper
    paragraphs: tuple[str, ...]
    captions: tuple[str, ...]
    questions: tuple[QasperQuestion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answers:
    answer: tuple[QasperAnswer, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Questions:
    question: tuple[str, ...]
    question_id: tuple[str, ...]
    answers: tuple[_Answers, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Text:
    section_name: tuple[str | None, ...]
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Floats:
    caption: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    id: str
    title: str
    abstract: str
    full_text: _Text
    qas: _Questions
    figures_and_tables: _Floats = field(default_factory=_Floats)


_LINE = TypeAdapter(_Line)


def qasper_papers(data: Path) -> Iterator[QasperPaper | GoldFileError]:
    """One paper a line, and the errors of lines, and of questions, that can't be used."""
    file = data / "eval" / "paperqa_qasper10_raw.jsonl"
    bad: list[GoldFileError] = []
    for number, line in json_lines(file, _LINE, bad=bad):
        where = f"{file}:{number}"
        qas = line.qas
        if not len(qas.question) == len(qas.question_id) == len(qas.answers):
            bad.append(GoldFileError(f"{where}: 'qas' has not as many answers and ids as questions; mend the gold"))
            continue
        questions = []
        for question, name, answers in zip(qas.question, qas.question_id, qas.answers, strict=True):
            told = tuple(answer for answer in answers.answer if answer.text)
            if told:
                questions.append(QasperQuestion(id=name, question=question, answers=told))
            else:
                bad.append(
                    GoldFileError(f"{where}: the question {name!r} has no answer; mend the gold, or leave it out")
                )
        yield QasperPaper(
            where=where,
            id=line.id,
            paper=_paper(line),
            paragraphs=tuple(text for section in line.full_text.paragraphs for text in section if text.strip()),
            captions=tuple(filter(str.strip, line.figures_and_tables.caption)),
            questions=tuple(questions),
        )
    yield from bad


def _paper(line: _Line) -> Paper:
    sections = [TextSection(path=("Abstract",), paragraphs=(line.abstract,))]
    for name, paragraphs in zip(line.full_text.section_name, line.full_text.paragraphs, strict=False):
        path = tuple(part.strip() for part in (name or "").split(":::") if part.strip())
        sections.append(TextSection(path=path, paragraphs=paragraphs))
    return text_paper(line.id, title=line.title, sections=sections)
