"""A plain list: one question a line. Numbers or bullets go where every line has one."""

import re
from collections.abc import Iterator

from service.questions.rows import FileRow

__all__ = ["read_list"]

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
