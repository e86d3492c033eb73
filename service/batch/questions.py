"""Question files: JSON lines, CSV, or one question a line."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from evaluation.answers.forms import form_of
from evaluation.gold.questions import DocBenchLine
from paperscope_core.errors import InputError, QuestionFileError
from paperscope_core.types import Filters

__all__ = [
    "BadQuestion",
    "FileRow",
    "Gold",
    "Question",
    "is_header",
    "is_list",
    "is_object",
    "load_questions",
    "parse_questions",
    "read_jsonl",
    "read_list",
    "read_row",
    "read_table",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gold:
    """The answer that is expected; `answerable` tells whether the papers give one, `form` is the benchmark's
    `answer_format` ("Int", "Yes/No" …), "" where it states none."""

    answer: str
    answerable: bool = True
    form: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with its position in the file (from 0); `filters` restrict what it is answered from."""

    index: int
    text: str
    gold: Gold | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, kw_only=True, slots=True)
class BadQuestion:
    """A row that can't be read as a question, kept so that it stands in its place in the results."""

    index: int
    text: str
    reason: str


_MAX_QUOTED = 80
_GOLD_KEYS = ("type", "answer_format", "answerable")
_GOLD_LINE = TypeAdapter(DocBenchLine)


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
        shown = row.text if len(row.text) <= _MAX_QUOTED else row.text[: _MAX_QUOTED - 1] + "…"
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
    stated = {key: record[key] for key in _GOLD_KEYS if record.get(key) not in (None, "")}
    answer = record.get("answer")
    try:
        line = _GOLD_LINE.validate_python({"question": "", "answer": "" if answer is None else answer, **stated})
    except ValidationError as error:
        raise InputError(f"its gold can't be used ({_first_message(error)})") from error
    if not line.reference.strip() and line.can_be_answered:
        return None
    answerable = line.can_be_answered and form_of(line.reference, answer_format=line.form) != "none"
    return Gold(answer=line.reference, answerable=answerable, form=line.form)


def _filters(record: object) -> Filters:
    try:
        row = _FiltersRow() if record is None else _FiltersRow.model_validate(record)
        return Filters.of(papers=row.papers, sections=row.sections, kinds=row.kinds, years=row.years)
    except ValidationError as error:
        raise InputError(f"its filters can't be used ({_first_message(error)})") from error
    except InputError as error:
        raise InputError(f"its filters can't be used ({error})") from error


def _first_message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'][:1]))}: {first['msg']}" if first["loc"] else str(first["msg"])


def read_jsonl(text: str) -> Iterator[FileRow]:
    """The rows of the text; blank lines are passed over."""
    # Not `splitlines`: a JSON string may hold U+2028 and its like as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield FileRow(line=number, text=line.strip(), record=from_json(line))
            except ValueError as error:
                yield FileRow(line=number, text=line.strip(), problem=f"not JSON ({error})")


def is_object(line: str) -> bool:
    """Whether a line is a JSON object."""
    return line.lstrip().startswith("{") and isinstance(_value(line), dict)


def is_list(text: str) -> bool:
    """Whether a whole text is one JSON list."""
    return text.lstrip().startswith("[") and isinstance(_value(text), list)


def _value(text: str) -> object:
    try:
        return from_json(text)
    except ValueError:
        return None


_MARKER = re.compile(r"(?:[-*+•\u2013]|\(?\d{1,4}[.)])\s+(?=\S)")
_HEADING = re.compile(r"#{1,6}\s")


def read_list(text: str, *, markdown: bool) -> Iterator[FileRow]:
    """The rows of the text; blank lines are passed over, and headings in Markdown."""
    numbered = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    lines = [(number, line) for number, line in numbered if line and not (markdown and _HEADING.match(line))]
    marked = all(_MARKER.match(line) for _, line in lines)
    for number, line in lines:
        question = _MARKER.sub("", line, count=1) if marked else line
        yield FileRow(line=number, text=line, record={"question": question})


_DELIMITERS = (",", ";", "\t")
_LISTS = ("papers", "sections", "kinds")
_MAX_HEADER_QUOTED = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class _TableRow:
    """The cells of a row that begins on `line`; `problem` says why they can't be told apart."""

    line: int
    cells: Sequence[str] = ()
    problem: str = ""


def is_header(line: str) -> bool:
    """Whether a line names several columns, one of them `question`."""
    return _columns(line, _delimiter(line)) > 1


def read_table(text: str, *, name: str) -> Iterator[FileRow]:
    """The rows below the header; blank ones are passed over. Raises QuestionFileError where the header is of no use."""
    lines = list(io.StringIO(text, newline=""))
    head = next((line for line in lines if line.strip()), "")
    delimiter = _delimiter(head)
    rows = _table_rows(lines, delimiter)
    first = next(rows, None)
    header = [cell.strip().casefold() for cell in first.cells] if first else []
    if header.count("question") != 1:
        raise QuestionFileError(
            f"{name}: the first row must name the columns, exactly one of them 'question'; it reads "
            f"{head.strip()[:_MAX_HEADER_QUOTED]!r}"
        )
    for row in rows:
        problem = row.problem or _surplus_cells(row.cells, header)
        record = None if problem else _record(dict(zip(header, row.cells, strict=False)))
        yield FileRow(line=row.line, text=lines[row.line - 1].strip(), record=record, problem=problem)


def _delimiter(head: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: _columns(head, delimiter))


def _columns(head: str, delimiter: str) -> int:
    """How many columns a header has if this parts them; 0 if none is the question's."""
    try:
        names = next(csv.reader([head], delimiter=delimiter), [])
    except csv.Error:
        return 0
    return len(names) if "question" in (name.strip().casefold() for name in names) else 0


def _table_rows(lines: Sequence[str], delimiter: str) -> Iterator[_TableRow]:
    start = 0
    while start < len(lines):
        reader = csv.reader((lines[at] for at in range(start, len(lines))), delimiter=delimiter, strict=True)
        begins = start
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield _TableRow(line=begins + 1, cells=cells)
                begins = start + reader.line_num
        except csv.Error as error:
            yield _TableRow(line=begins + 1, problem=f"not CSV ({error})")
            # A quotation mark that is never closed must not take in the rest of the file.
            start = begins + 1
        else:
            return


def _surplus_cells(cells: Sequence[str], header: Sequence[str]) -> str:
    if not any(cell.strip() for cell in cells[len(header) :]):
        return ""
    return f"{len(cells)} cells under {len(header)} columns; put a cell that holds the delimiter in quotation marks"


def _record(cells: dict[str, str]) -> dict[str, object]:
    """The row as the keys of a JSON line."""
    given = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    lists = {key: _items(given[key]) for key in _LISTS if key in given}
    years = {"years": given["years"]} if "years" in given else {}
    return {**given, "filters": {**lists, **years}}


def _items(cell: str) -> list[str]:
    return [item.strip() for item in cell.split(";") if item.strip()]


_JSONL = (".jsonl", ".ndjson", ".json")
_TABLE = (".csv", ".tsv")
_MARKDOWN = (".md", ".markdown")
_PLAIN = (".txt", *_MARKDOWN)
_REMEDY = "name a file of JSON lines (.jsonl), CSV (.csv) or one question a line (.txt, .md)"


def load_questions(file: Path) -> list[Question | BadQuestion]:
    """`parse_questions` for a file on the disk."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise QuestionFileError(f"{file}: {error.strerror}; {_REMEDY}") from error
    return parse_questions(data, name=str(file))


def parse_questions(data: bytes, *, name: str, most: int | None = None) -> list[Question | BadQuestion]:
    """Read a question file; `name` tells its format where its content doesn't, and stands in messages. No more than
    `most` rows are read.

    A malformed row becomes a `BadQuestion`. Raises QuestionFileError when there is no question in it to ask.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionFileError(
            f"{name}: not UTF-8 text ({error.reason} at byte {error.start}); {_REMEDY}, in UTF-8"
        ) from error
    rows = enumerate(islice(_file_rows(text, name), most))
    questions = [read_row(row, index=index, name=name) for index, row in rows]
    if not questions:
        raise QuestionFileError(f"{name}: no question in it; {_REMEDY}")
    return questions


def _file_rows(text: str, name: str) -> Iterator[FileRow]:
    suffix = PurePath(name).suffix.lower()
    first = next((line for line in text.split("\n") if line.strip()), "")
    if suffix in _JSONL and is_list(text):
        raise QuestionFileError(f"{name}: a JSON list; write one object a line (jq -c '.[]' does it)")
    if is_object(first) or (suffix in _JSONL and not is_header(first)):
        return read_jsonl(text)
    if suffix in _TABLE or is_header(first):
        return read_table(text, name=name)
    if suffix in _PLAIN or not first:
        return read_list(text, markdown=suffix in _MARKDOWN)
    raise QuestionFileError(f"{name}: can't tell what it is; {_REMEDY}")
