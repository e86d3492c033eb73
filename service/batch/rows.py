"""The rows of a batch, and their forms in `answers.jsonl` and `answers.csv`."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from paperscope.library import Library
from paperscope_core.errors import UnknownPaperError
from paperscope_core.types import Answer, Claim, Evidence, ImageFinding, Reading, Usage
from service.batch.questions import Gold

__all__ = ["BatchRow", "RowStatus", "citation", "image_name", "paper_names", "render_csv"]

RowStatus = Literal["answered", "evidence", "unanswerable", "error"]

_CSV_HEADER = (
    *("index", "question", "status", "answer", "citations", "confidence", "seconds"),
    *("calls", "cached", "prompt_tokens", "completion_tokens", "cost"),
    *("warnings", "gold", "right"),
)
# How a formula begins for a spreadsheet (OWASP, CSV Injection), full-width forms included.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*)?(?:\.\d+|\d)(?:[eE][+-]?\d+)?\s?%?")


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """The outcome of a question.

    Attributes:
        index: The position of the question in its file, from 0.
        answer: None if and only if `status` is "error"; `warnings` then say why.
        right: The correctness of the answer by `gold`, from 0 to 1; None if either is missing.
        resumed: Whether the row comes from an earlier run.
    """

    index: int
    question: str
    status: RowStatus
    answer: Answer | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    gold: Gold | None = None
    right: float | None = None
    resumed: bool = False

    @property
    def usage(self) -> Usage:
        """The model usage of the answer; that of an error is not known."""
        return self.answer.usage if self.answer else Usage()

    def to_json(self) -> str:
        """The row as a line of `answers.jsonl`."""
        answer = self.answer
        row = {
            "index": self.index,
            "question": self.question,
            "status": self.status,
            "answer": answer.text if answer else "",
            "confidence": answer.confidence if answer else None,
            "claims": [_claim_json(claim) for claim in (answer.claims if answer else ())],
            "checks": [
                {"number": check.number, "finding": check.finding, "formula": check.formula}
                for check in (answer.checks if answer else ())
            ],
            "images": [_image_json(reading) for reading in (answer.readings if answer else ())],
            "usage": asdict(self.usage),
            "model": answer.model if answer else "",
            "seconds": round(self.seconds, 3),
            "stages": [
                {"stage": time.stage, "seconds": round(time.seconds, 3)} for time in (answer.stages if answer else ())
            ],
            "warnings": list(self.warnings),
            "gold": self.gold.answer if self.gold else None,
            "right": self.right,
        }
        return json.dumps(row, ensure_ascii=False)


def image_name(element: str) -> str:
    """The file name of an element's crop beside the report: `PAPER-table-5.png`."""
    return f"{element.replace('/', '-')}.png"


def _claim_json(claim: Claim) -> dict[str, object]:
    evidence = [
        {
            "element": item.element,
            "paper": item.place.paper,
            "page": item.place.page,
            "box": list(item.place.box),
            "quote": item.quote,
        }
        for item in claim.evidence
    ]
    return {"text": claim.text, "evidence": evidence}


def _image_json(reading: Reading) -> dict[str, object]:
    finding = reading if isinstance(reading, ImageFinding) else None
    return {
        "element": reading.element,
        "paper": reading.place.paper,
        "page": reading.place.page,
        "box": list(reading.place.box),
        "file": f"images/{image_name(reading.element)}",
        "read": finding is not None,
        "relevant": finding.relevant if finding else None,
        "response": reading.text if isinstance(reading, ImageFinding) else reading.reason,
    }


def paper_names(library: Library, answers: Iterable[Answer]) -> Mapping[str, str]:
    """The file name of each cited paper by its id; the id is added where several papers have the same file name.

    A paper that has been removed from the library is named by its id.
    """
    cited = {item.place.paper for answer in answers for claim in answer.claims for item in claim.evidence}
    files = {paper: _file_of(library, paper) for paper in sorted(cited)}
    counts = Counter(files.values())
    return {paper: file if counts[file] == 1 else f"{file} ({paper})" for paper, file in files.items()}


def _file_of(library: Library, paper: str) -> str:
    try:
        return library.paper(paper).file
    except UnknownPaperError:
        return paper


def citation(item: Evidence, answer: Answer, names: Mapping[str, str]) -> str:
    """A cited place: `ner-report.pdf p.4, Table 5`. `names` are the papers' names by id."""
    place = item.place
    label = next((exhibit.label for exhibit in answer.exhibits if exhibit.element == item.element), "")
    where = place.where if place.by_line else f"p.{place.page}"
    cited = f"{names.get(place.paper, place.paper)} {where}"
    return f"{cited}, {label}" if label else cited


def render_csv(rows: Sequence[BatchRow], *, paper_names: Mapping[str, str]) -> str:
    """The rows as CSV (RFC 4180); semicolons separate several citations or warnings in a cell.

    A cell that a spreadsheet would run as a formula, and that is not a plain number, begins with an apostrophe.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_CSV_HEADER)
    for row in rows:
        writer.writerow([_escape(value) if isinstance(value, str) else value for value in _values(row, paper_names)])
    return text.getvalue()


def _values(row: BatchRow, names: Mapping[str, str]) -> list[str | float | None]:
    answer, usage = row.answer, row.usage
    cited = [citation(item, answer, names) for claim in answer.claims for item in claim.evidence] if answer else []
    return [
        row.index,
        row.question,
        row.status,
        answer.text if answer else "",
        "; ".join(dict.fromkeys(cited)),
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


def _escape(cell: str) -> str:
    # A cell that already begins with apostrophes gets one more, so that removing one restores it.
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
