"""The file that holds texts with entities: JSONL, one example a line.

Gold and predictions have the same form. A prediction has the id and the text of its gold example.
"""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.files import write_atomically
from paperscope_lab.errors import ExampleFileError

__all__ = [
    "first_problem",
    "offset_problem",
    "read_examples",
    "read_lines",
    "repeated_id",
    "write_examples",
]


def read_examples(path: Path) -> list[Example]:
    """Read a file that `write_examples` or another program wrote.

    Args:
        path: A JSONL file in UTF-8. Blank lines are ignored.

    Returns:
        The examples, in the order of the file.

    Raises:
        ExampleFileError: The file can't be read, has no examples, or a line is broken: it is not JSON, lacks a field,
            has an offset outside of its text, an empty span or label, tokens that overlap, or an id that an earlier
            line has. The message names the file and the line.
    """
    examples: dict[str, Example] = {}
    lines: dict[str, int] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        example = _parse(line, where=f"{path}:{number}")
        if example.id in lines:
            raise ExampleFileError(f"id {example.id!r} is also on line {lines[example.id]}", where=f"{path}:{number}")
        lines[example.id] = number
        examples[example.id] = example
    if not examples:
        raise ExampleFileError("the file has no examples; each line is one, in JSON", where=path)
    return list(examples.values())


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write a file that `read_examples` reads.

    Raises:
        OutputError: The file can't be written; an existing one is then unchanged.
    """
    adapter = TypeAdapter(Example)
    lines = [adapter.dump_json(example, exclude_none=True) + b"\n" for example in examples]
    write_atomically(path, b"".join(lines))


def repeated_id(examples: Iterable[Example]) -> str | None:
    """Return the first id that two examples have, if any."""
    seen = set[str]()
    for example in examples:
        if example.id in seen:
            return example.id
        seen.add(example.id)
    return None


def read_lines(path: Path) -> Iterable[tuple[int, str]]:
    """Return the lines of a text file without their ends, with their numbers from 1.

    Raises:
        ExampleFileError: The file can't be read or is not UTF-8; the message names the line of the wrong byte.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ExampleFileError(f"not UTF-8 text ({error.reason}); convert the file", where=f"{path}:{line}") from error
    except OSError as error:
        raise ExampleFileError(f"can't be read ({error.strerror})", where=path) from error
    # Not `splitlines`: text may contain U+2028 and other line separators.
    lines = text.split("\n")
    return ((number, line.removesuffix("\r")) for number, line in enumerate(lines[: -1 if not lines[-1] else None], 1))


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))
class _SpanLine:
    start: int
    end: int
    label: str
    confidence: float | None = None


@validated(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True))
class _Line:
    id: str
    text: str
    tokens: tuple[tuple[int, int], ...]
    spans: tuple[_SpanLine, ...]
    document: str | None = None
    failure: str | None = None


@cache
def _adapter() -> TypeAdapter[_Line]:
    return TypeAdapter(_Line)


def _parse(text: str, *, where: str) -> Example:
    """Raise ExampleFileError."""
    try:
        line = _adapter().validate_json(text)
    except ValidationError as error:
        raise ExampleFileError(first_problem(error), where=where) from error
    spans = tuple(
        Span(start=span.start, end=span.end, label=span.label, confidence=span.confidence) for span in line.spans
    )
    example = Example(
        id=line.id, text=line.text, tokens=line.tokens, spans=spans, document=line.document, failure=line.failure
    )
    if problem := offset_problem(example):
        raise ExampleFileError(problem, where=where)
    return example


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong with a record, and its place in it."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"field {place!r} is missing"
    return f"{first['msg'].removeprefix('Value error, ')} at {place!r}".removesuffix(" at ''")


def offset_problem(example: Example) -> str:
    """Return what is wrong with the offsets of an example, if anything."""
    length = len(example.text)
    for start, end in example.tokens:
        if not 0 <= start < end <= length:
            return f"token [{start}, {end}] is empty or not within the text of {length} characters"
    for (_, end), (start, _) in pairwise(example.tokens):
        if start < end:
            return f"the token that starts at {start} overlaps the one before it, which ends at {end}"
    for span in example.spans:
        if not 0 <= span.start < span.end <= length:
            return f"span [{span.start}, {span.end}] is empty or not within the text of {length} characters"
        if not span.label.strip():
            return f"span [{span.start}, {span.end}] has no label"
    if example.failure is not None and example.spans:
        return f"a failure ({example.failure!r}) with spans; a failed output has none"
    return ""
