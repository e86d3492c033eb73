"""Question files: JSON lines with at least the key `question` (DocBench's form).

`filters` may restrict a question: an object with some of `papers`, `sections`, `kinds` (lists) and `years`
("2018-2020"). Other keys are the gold answer's.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from paperscope.errors import InputError, QuestionFileError
from paperscope.types import Filters

__all__ = ["BadQuestion", "Question", "load_questions"]

_SHOWN = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with its position in the file (from 0); `gold` is the expected answer where the file gives one,
    `filters` restrict what it is answered from."""

    index: int
    text: str
    gold: str | None = None
    filters: Filters = field(default_factory=Filters)


class _FiltersRow(BaseModel):
    """The key `filters` of a line, written as `Filters.of` takes them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    papers: list[str] = []
    sections: list[str] = []
    kinds: list[str] = []
    years: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BadQuestion:
    """A line that can't be read as a question, kept so that its row stands in its place in the results."""

    index: int
    text: str
    reason: str


def load_questions(file: Path) -> list[Question | BadQuestion]:
    """Read a question file; raise QuestionFileError when there is no question in it to ask.

    A malformed line becomes a `BadQuestion`; blank lines are passed over.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise QuestionFileError(
            f"{file}: {error.strerror}; name a file of JSON lines with the key 'question'"
        ) from error
    rows: list[Question | BadQuestion] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            rows.append(_read(line, index=len(rows), where=f"{file}:{number}"))
    if not rows:
        raise QuestionFileError(f'{file}: no question in it; each line must be like {{"question": "…"}}')
    return rows


def _read(line: str, *, index: int, where: str) -> Question | BadQuestion:
    shown = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    def bad(reason: str) -> BadQuestion:
        return BadQuestion(index=index, text=shown, reason=f"{where}: {reason}: {shown!r}")

    try:
        record = from_json(line)
    except ValueError as error:
        return bad(f"not JSON ({error})")
    if not isinstance(record, dict):
        return bad("not a JSON object")
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        return bad("no text under the key 'question'")
    try:
        filters = _filters(record.get("filters"))
    except (InputError, ValidationError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        return bad(f"its filters can't be used ({reason})")
    gold = record.get("answer")
    return Question(index=index, text=question.strip(), gold=None if gold is None else str(gold), filters=filters)


def _filters(record: object) -> Filters:
    row = _FiltersRow() if record is None else _FiltersRow.model_validate(record)
    return Filters.of(papers=row.papers, sections=row.sections, kinds=row.kinds, years=row.years)
