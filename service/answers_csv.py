"""`answers.csv`: a row a question, for spreadsheets."""

import csv
import io
import re
from collections.abc import Mapping, Sequence

from service.citations import citations
from service.rows import BatchRow

__all__ = ["render_csv"]

_HEADER = (
    *("index", "question", "status", "answer", "citations", "confidence", "seconds"),
    *("calls", "cached", "prompt_tokens", "completion_tokens", "cost"),
    *("warnings", "gold", "right"),
)
# What spreadsheets take for the beginning of a formula (OWASP, CSV Injection), in full width also.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*)?(?:\.\d+|\d)(?:[eE][+-]?\d+)?\s?%?")


def render_csv(rows: Sequence[BatchRow], *, paper_names: Mapping[str, str]) -> str:
    """The rows as RFC 4180 has it; several citations or warnings in a cell are parted by semicolons.

    No cell runs as a formula: one that would, and is no plain number, has an apostrophe before it.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
    for row in rows:
        writer.writerow([_safe(value) if isinstance(value, str) else value for value in _values(row, paper_names)])
    return text.getvalue()


def _values(row: BatchRow, names: Mapping[str, str]) -> list[str | float | None]:
    answer, usage = row.answer, row.usage
    return [
        row.index,
        row.question,
        row.status,
        answer.text if answer else "",
        "; ".join(citations(answer, names)) if answer else "",
        round(answer.confidence, 4) if answer and answer.confidence is not None else None,
        round(row.seconds, 3),
        usage.calls,
        usage.cached,
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cost,
        "; ".join(row.warnings),
        row.gold.answer if row.gold else "",
        row.right,
    ]


def _safe(cell: str) -> str:
    # A cell that begins with apostrophes of its own gets one more, so that taking one away gives what was there.
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
