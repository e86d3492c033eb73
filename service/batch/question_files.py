"""Question files: JSON lines (such as DocBench's `*_qa.jsonl`), CSV, or a plain list of one question per line.

A record of JSON lines, or a row of CSV under its header, has a `question`. Optional are the gold as DocBench has it
(`answer`, `type`, `answer_format`, `answerable`) and filters. In JSON, `filters` is an object with `papers`,
`sections`, `kinds` (lists) and `years` ("2018-2020"); in CSV these are columns whose cells separate several values by
semicolons. An `id` and the evidence are not read. Any other key is an error, because a misplaced filter would be
lost silently; other columns of CSV are ignored.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path, PurePath

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from paperscope_core.errors import InputError, QuestionFileError
from paperscope_core.text.escaping import shortened
from paperscope_core.types import Filters

__all__ = ["BadQuestion", "Gold", "GoldRecord", "Question", "abstains", "load_questions", "parse_questions"]

_JSONL_SUFFIXES = (".jsonl", ".ndjson", ".json")
_TABLE_SUFFIXES = (".csv", ".tsv")
_MARKDOWN_SUFFIXES = (".md", ".markdown")
_LIST_SUFFIXES = (".txt", *_MARKDOWN_SUFFIXES)
_REMEDY = "name a file of JSON lines (.jsonl), CSV (.csv) or one question a line (.txt, .md)"
# A message quotes no more than a line of a terminal.
_MAX_QUOTED = 80
_GOLD_KEYS = ("type", "answer_format", "answerable")
# Gold answers that say that there is none.
_ABSTAINS = re.compile(
    r"\W*(?:unanswerable|not answerable|n/a|not (?:given|mentioned|stated|specified)\b.*|"
    r"the (?:papers?|documents?|text|context) (?:do(?:es)? not|don't|doesn't) (?:say|mention|state|specify)\b.*)\W*",
    re.IGNORECASE,
)
_DELIMITERS = (",", ";", "\t")
_LIST_COLUMNS = ("papers", "sections", "kinds")
_LIST_MARKER = re.compile(r"(?:[-*+•\u2013]|\(?\d{1,4}[.)])\s+(?=\S)")
_MARKDOWN_HEADING = re.compile(r"#{1,6}\s")


_Scalar = str | bool | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRecord:
    """A question with its gold, as DocBench has it (Zou et al., 2024); unused fields are omitted."""

    question: str
    answer: _Scalar | tuple[_Scalar, ...]
    type: str = ""
    answer_format: str = ""
    evidence_pages: tuple[int, ...] = ()
    answerable: bool | None = None

    @property
    def reference(self) -> str:
        """The answer as text: a list as Python writes it, true and false as yes and no."""
        if isinstance(self.answer, tuple):
            return str(list(self.answer))
        if isinstance(self.answer, bool):
            return "yes" if self.answer else "no"
        return str(self.answer)

    @property
    def form(self) -> str:
        """The stated `answer_format`, or that of several answers."""
        return self.answer_format or ("List" if isinstance(self.answer, tuple) else "")

    @property
    def can_be_answered(self) -> bool:
        """Whether the paper has the answer."""
        if self.answerable is not None:
            return self.answerable
        # DocBench's types of unanswerable questions are "una", "una-web" and the like.
        return self.answer_format != "None" and not self.type.casefold().startswith("una")


_GOLD_RECORD = TypeAdapter(GoldRecord)
_KEYS = frozenset({*(one.name for one in fields(GoldRecord)), "evidence", "filters", "id"})


def abstains(gold: str, *, answer_format: str = "") -> bool:
    """Return whether a gold answer says that the papers have none."""
    return answer_format.casefold() == "none" or _ABSTAINS.fullmatch(gold) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Gold:
    """The expected answer.

    Attributes:
        form: The benchmark's `answer_format` ("Int", "Yes/No" …); "" if it gives none.
    """

    answer: str
    answerable: bool = True
    form: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question, its position in the file (from 0), and the filters that apply to its answer."""

    index: int
    text: str
    gold: Gold | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, kw_only=True, slots=True)
class BadQuestion:
    """A row that can't be read as a question; it keeps its place in the results."""

    index: int
    text: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _FileRow:
    """A row that begins on `line` (from 1): its text, and its record, or the `problem` with reading one."""

    line: int
    text: str
    record: object = None
    problem: str = ""


class _FiltersRecord(BaseModel):
    """The key `filters` of a record."""

    model_config = ConfigDict(extra="forbid", strict=True)

    papers: list[str] = []
    sections: list[str] = []
    kinds: list[str] = []
    years: str | None = None


def load_questions(file: Path) -> list[Question | BadQuestion]:
    """Read a question file from disk. Raises QuestionFileError; see `parse_questions`."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise QuestionFileError(f"{file}: {error.strerror}; {_REMEDY}") from error
    return parse_questions(data, name=str(file))


def parse_questions(data: bytes, *, name: str, max_questions: int | None = None) -> list[Question | BadQuestion]:
    """Parse a question file; a malformed row becomes a BadQuestion.

    Args:
        name: The file's name, which is quoted in messages, and determines the format if the content doesn't.

    Raises:
        QuestionFileError: The file's format is unknown, or it has no rows.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionFileError(
            f"{name}: not UTF-8 text ({error.reason} at byte {error.start}); {_REMEDY}, in UTF-8"
        ) from error
    rows = islice(_read_rows(text, name), max_questions)
    questions = [_parse_row(row, index=index, name=name) for index, row in enumerate(rows)]
    if not questions:
        raise QuestionFileError(f"{name}: no question in it; {_REMEDY}")
    return questions


def _read_rows(text: str, name: str) -> Iterator[_FileRow]:
    """Return the rows in the format that the content shows, or else the name."""
    suffix = PurePath(name).suffix.lower()
    first = next((line for line in text.split("\n") if line.strip()), "")
    if suffix in _JSONL_SUFFIXES and text.lstrip().startswith("[") and isinstance(_json_value(text), list):
        raise QuestionFileError(f"{name}: a JSON list; write one object a line (jq -c '.[]' does it)")
    is_object = first.lstrip().startswith("{") and isinstance(_json_value(first), dict)
    is_header = _column_count(first, _delimiter(first)) > 1
    if is_object or (suffix in _JSONL_SUFFIXES and not is_header):
        return _read_jsonl(text)
    if suffix in _TABLE_SUFFIXES or is_header:
        return _read_table(text, name=name)
    if suffix in _LIST_SUFFIXES or not first:
        return _read_list(text, markdown=suffix in _MARKDOWN_SUFFIXES)
    raise QuestionFileError(f"{name}: can't tell what it is; {_REMEDY}")


def _parse_row(row: _FileRow, *, index: int, name: str) -> Question | BadQuestion:
    try:
        return _question(row, index)
    except InputError as error:
        quoted = shortened(row.text, limit=_MAX_QUOTED)
        return BadQuestion(index=index, text=quoted, reason=f"{name}:{row.line}: {error}: {quoted!r}")


def _question(row: _FileRow, index: int) -> Question:
    record = row.record
    if row.problem:
        raise InputError(row.problem)
    if not isinstance(record, Mapping):
        raise InputError("not a JSON object")
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError("no text under 'question'")
    if unknown := [key for key in record if key not in _KEYS]:
        raise InputError(_unknown_key(str(unknown[0])))
    return Question(index=index, text=question.strip(), gold=_gold(record), filters=_filters(record.get("filters")))


def _unknown_key(key: str) -> str:
    if key in _FiltersRecord.model_fields:
        return f"the key {key!r} restricts nothing here; put it under 'filters'"
    return f"the key {shortened(key, limit=_MAX_QUOTED)!r} is unknown; remove it (known: {', '.join(sorted(_KEYS))})"


def _gold(record: Mapping[str, object]) -> Gold | None:
    """Return the gold answer of a record; None if it has none."""
    given = {key: record[key] for key in _GOLD_KEYS if record.get(key) not in (None, "")}
    answer = record.get("answer")
    try:
        line = _GOLD_RECORD.validate_python({"question": "", "answer": "" if answer is None else answer, **given})
    except ValidationError as error:
        raise InputError(f"its gold can't be used ({_first_message(error)})") from error
    if not line.reference.strip() and line.can_be_answered:
        return None
    answerable = line.can_be_answered and not abstains(line.reference, answer_format=line.form)
    return Gold(answer=line.reference, answerable=answerable, form=line.form)


def _filters(record: object) -> Filters:
    try:
        row = _FiltersRecord() if record is None else _FiltersRecord.model_validate(record)
        return Filters.of(papers=row.papers, sections=row.sections, kinds=row.kinds, years=row.years)
    except ValidationError as error:
        raise InputError(f"its filters can't be used ({_first_message(error)})") from error
    except InputError as error:
        raise InputError(f"its filters can't be used ({error})") from error


def _first_message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'][:1]))}: {first['msg']}" if first["loc"] else str(first["msg"])


def _json_value(text: str) -> object:
    try:
        return from_json(text)
    except ValueError:
        return None


def _read_jsonl(text: str) -> Iterator[_FileRow]:
    # Not `splitlines`, as a JSON string may contain U+2028 and the like.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _FileRow(line=number, text=line.strip(), record=from_json(line))
            except ValueError as error:
                yield _FileRow(line=number, text=line.strip(), problem=f"not JSON ({error})")


def _read_list(text: str, *, markdown: bool) -> Iterator[_FileRow]:
    """Yield one question per line; numbers or bullets are removed if every line has one, and headings in Markdown."""
    numbered = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    lines = [(number, line) for number, line in numbered if line and not (markdown and _MARKDOWN_HEADING.match(line))]
    marked = all(_LIST_MARKER.match(line) for _, line in lines)
    for number, line in lines:
        question = _LIST_MARKER.sub("", line, count=1) if marked else line
        yield _FileRow(line=number, text=line, record={"question": question})


def _read_table(text: str, *, name: str) -> Iterator[_FileRow]:
    """CSV (RFC 4180) with a header. Raises QuestionFileError unless exactly one column is `question`."""
    lines = list(io.StringIO(text, newline=""))
    head = next((line for line in lines if line.strip()), "")
    rows = _read_cells(lines, _delimiter(head))
    _, cells, _ = next(rows, (0, [], ""))
    header = [cell.strip().casefold() for cell in cells]
    if header.count("question") != 1:
        raise QuestionFileError(
            f"{name}: the first row must name the columns, exactly one of them 'question'; it reads "
            f"{head.strip()[:_MAX_QUOTED]!r}"
        )
    for line, cells, problem in rows:
        reason = problem or _surplus(cells, header)
        record = None if reason else _cells_record(dict(zip(header, cells, strict=False)))
        yield _FileRow(line=line, text=lines[line - 1].strip(), record=record, problem=reason)


def _surplus(cells: Sequence[str], header: Sequence[str]) -> str:
    if not any(cell.strip() for cell in cells[len(header) :]):
        return ""
    return f"{len(cells)} cells under {len(header)} columns; put a cell that holds the delimiter in quotation marks"


def _read_cells(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield the first line (from 1) and the cells of each row that is not blank, or the problem with reading them."""
    start = 0
    while start < len(lines):
        reader = csv.reader((lines[at] for at in range(start, len(lines))), delimiter=delimiter, strict=True)
        begins = start
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield begins + 1, cells, ""
                begins = start + reader.line_num
        except csv.Error as error:
            yield begins + 1, [], f"not CSV ({error})"
            # An unclosed quotation mark must not swallow the rest of the file.
            start = begins + 1
        else:
            return


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: _column_count(header, delimiter))


def _column_count(header: str, delimiter: str) -> int:
    """Return the number of columns that this delimiter separates; 0 if none of them is `question`."""
    try:
        names = next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return 0
    return len(names) if "question" in (name.strip().casefold() for name in names) else 0


def _cells_record(cells: dict[str, str]) -> dict[str, object]:
    """Return a row's cells as a record of JSON lines, without columns that it has no key for."""
    given = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    filters: dict[str, object] = {
        key: [item.strip() for item in given[key].split(";") if item.strip()] for key in _LIST_COLUMNS if key in given
    }
    if "years" in given:
        filters["years"] = given["years"]
    return {**{key: cell for key, cell in given.items() if key in _KEYS}, "filters": filters}
