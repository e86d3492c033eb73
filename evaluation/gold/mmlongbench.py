"""`eval/paperqa_mmlongbench.jsonl`: MMLongBench-Doc's questions on `papers/mmlongbench` (Ma et al., 2024)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.page_numbers import check_pages
from paperscope_core.errors import GoldFileError

__all__ = ["AnswerFormat", "MMLongBenchQuestion", "mmlongbench_questions"]


AnswerFormat = Literal["Int", "Float", "Str", "List", "None"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MMLongBenchQuestion:
    """A question on the PDF `file`; pages count from 1, and one that can't be answered has none."""

    id: str
    file: Path
    question: str
    answer: str
    answer_format: AnswerFormat
    answerable: bool
    evidence_pages: tuple[int, ...]
    evidence_sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    id: str
    doc: str
    question: str
    answer: str
    answer_format: AnswerFormat
    evidence_pages: tuple[int, ...]
    evidence_sources: tuple[str, ...] = ()
    answerable: bool = True


_LINE = TypeAdapter(_Line)


def mmlongbench_questions(data: Path) -> Iterator[MMLongBenchQuestion | GoldFileError]:
    """One question a line, and the errors of lines that can't be used."""
    gold = data / "eval" / "paperqa_mmlongbench.jsonl"
    bad: list[GoldFileError] = []
    for number, line in json_lines(gold, _LINE, bad=bad):
        file = data / "papers" / "mmlongbench" / PurePosixPath(line.doc).name
        where = f"{gold}:{number}"
        if not file.is_file():
            bad.append(GoldFileError(f"{where}: unknown paper {line.doc!r}; {file} is not there"))
            continue
        try:
            check_pages(line.evidence_pages, file, where=where)
        except GoldFileError as error:
            bad.append(error)
            continue
        yield MMLongBenchQuestion(
            id=line.id,
            file=file,
            question=line.question,
            answer=line.answer,
            answer_format=line.answer_format,
            answerable=line.answerable and line.answer_format != "None",
            evidence_pages=line.evidence_pages,
            evidence_sources=line.evidence_sources,
        )
    yield from bad
