"""A row of a question file, whatever the format, and the question that it asks."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from evaluation.answers.forms import form_of
from evaluation.gold.docbench_line import DocBenchLine
from paperscope.errors import InputError
from paperscope.types import Filters
from service.questions.question import BadQuestion, Gold, Question

__all__ = ["FileRow", "read_row"]

_SHOWN = 80
_GOLD = ("type", "answer_format", "answerable")
_LINE = TypeAdapter(DocBenchLine)


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRow:
    """A row that begins on `line` (from 1): its text as it stands there, and the record that it holds.

    `problem` says why there is none.
    """

    line: int
    text: str
    record: object = None
    problem: str = ""


class _FiltersRow(BaseModel):
    """The key `filters` of a record, written as `Filters.of` takes them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    papers: list[str] = []
    sections: list[str] = []
    kinds: list[str] = []
    years: str | None = None


def read_row(row: FileRow, *, index: int, name: str) -> Question | BadQuestion:
    """The question of a row of the file called `name`, or why there is none."""
    try:
        return _question(row, index)
    except InputError as error:
        shown = row.text if len(row.text) <= _SHOWN else row.text[: _SHOWN - 1] + "…"
        return BadQuestion(index=index, text=shown, reason=f"{name}:{row.line}: {error}: {shown!r}")


def _question(row: FileRow, index: int) -> Question:
    record = row.record
    if row.problem:
        raise InputError(row.problem)
    if not isinstance(record, Mapping):
        raise InputError("not a JSON object")
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError("no text under 'question'")
    return Question(index=index, text=question.strip(), gold=_gold(record), filters=_filters(record.get("filters")))


def _gold(record: Mapping[str, object]) -> Gold | None:
    """What the record says of the right answer; None where it says nothing."""
    stated = {key: record[key] for key in _GOLD if record.get(key) not in (None, "")}
    answer = record.get("answer")
    try:
        line = _LINE.validate_python({"question": "", "answer": "" if answer is None else answer, **stated})
    except ValidationError as error:
        raise InputError(f"its gold can't be used ({_first(error)})") from error
    if not line.reference.strip() and line.can_be_answered:
        return None
    answerable = line.can_be_answered and form_of(line.reference, answer_format=line.form) != "none"
    return Gold(answer=line.reference, answerable=answerable, form=line.form)


def _filters(record: object) -> Filters:
    try:
        row = _FiltersRow() if record is None else _FiltersRow.model_validate(record)
        return Filters.of(papers=row.papers, sections=row.sections, kinds=row.kinds, years=row.years)
    except ValidationError as error:
        raise InputError(f"its filters can't be used ({_first(error)})") from error
    except InputError as error:
        raise InputError(f"its filters can't be used ({error})") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'][:1]))}: {first['msg']}" if first["loc"] else str(first["msg"])
