"""JSON lines: an object with the key `question` on each line, and, if wanted, `answer`, `type`, `answer_format`,
`answerable` (the gold, as DocBench has it) and `filters`.

`filters` is an object with some of `papers`, `sections`, `kinds` (lists) and `years` ("2018-2020"). Other keys say
nothing.
"""

from collections.abc import Iterator

from pydantic_core import from_json

from service.questions.rows import FileRow

__all__ = ["is_list", "is_object", "read_jsonl"]


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
