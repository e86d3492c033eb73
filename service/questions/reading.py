"""From the bytes of a question file to its questions. Its content tells the format, and else its name."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePath

from paperscope.errors import QuestionFileError
from service.questions.jsonl import is_list, is_object, read_jsonl
from service.questions.plain import read_list
from service.questions.question import BadQuestion, Question
from service.questions.rows import FileRow, read_row
from service.questions.table import is_header, read_table

__all__ = ["load_questions", "parse_questions"]

_JSONL = (".jsonl", ".ndjson", ".json")
_TABLE = (".csv", ".tsv")
_MARKDOWN = (".md", ".markdown")
_LIST = (".txt", *_MARKDOWN)
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
    rows = enumerate(islice(_rows(text, name), most))
    questions = [read_row(row, index=index, name=name) for index, row in rows]
    if not questions:
        raise QuestionFileError(f"{name}: no question in it; {_REMEDY}")
    return questions


def _rows(text: str, name: str) -> Iterator[FileRow]:
    suffix = PurePath(name).suffix.lower()
    first = next((line for line in text.split("\n") if line.strip()), "")
    if suffix in _JSONL and is_list(text):
        raise QuestionFileError(f"{name}: a JSON list; write one object a line (jq -c '.[]' does it)")
    if is_object(first) or (suffix in _JSONL and not is_header(first)):
        return read_jsonl(text)
    if suffix in _TABLE or is_header(first):
        return read_table(text, name=name)
    if suffix in _LIST or not first:
        return read_list(text, markdown=suffix in _MARKDOWN)
    raise QuestionFileError(f"{name}: can't tell what it is; {_REMEDY}")
