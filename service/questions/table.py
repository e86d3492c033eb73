"""CSV as RFC 4180 has it: a header, of whose columns one is called `question`; semicolons or tabs may part the cells.

The columns `answer`, `type`, `answer_format` and `answerable` give the gold, `papers`, `sections`, `kinds` and `years`
restrict a question; several in a cell are parted by semicolons. Other columns say nothing.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paperscope.errors import QuestionFileError
from service.questions.rows import FileRow

__all__ = ["is_header", "read_table"]

_DELIMITERS = (",", ";", "\t")
_LISTS = ("papers", "sections", "kinds")
_SHOWN = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cells:
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
    rows = _rows(lines, delimiter)
    first = next(rows, None)
    header = [cell.strip().casefold() for cell in first.cells] if first else []
    if header.count("question") != 1:
        raise QuestionFileError(
            f"{name}: the first row must name the columns, exactly one of them 'question'; it reads "
            f"{head.strip()[:_SHOWN]!r}"
        )
    for row in rows:
        problem = row.problem or _surplus(row.cells, header)
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


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[_Cells]:
    start = 0
    while start < len(lines):
        reader = csv.reader((lines[at] for at in range(start, len(lines))), delimiter=delimiter, strict=True)
        begins = start
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield _Cells(line=begins + 1, cells=cells)
                begins = start + reader.line_num
        except csv.Error as error:
            yield _Cells(line=begins + 1, problem=f"not CSV ({error})")
            # A quotation mark that is never closed must not take in the rest of the file.
            start = begins + 1
        else:
            return


def _surplus(cells: Sequence[str], header: Sequence[str]) -> str:
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
