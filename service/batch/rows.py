"""The rows of a batch, and their forms in `answers.jsonl` and `answers.csv`."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from paperscope_core.text.escaping import spreadsheet_csv
from paperscope_core.types import Answer, Claim, ImageFinding, Place, Reading, Usage
from service.batch.question_files import Gold

__all__ = ["BatchRow", "RowStatus", "image_name", "render_csv"]

RowStatus = Literal["answered", "evidence", "unanswerable", "error"]

_CSV_HEADER = (
    *("index", "question", "status", "answer", "citations", "confidence", "seconds"),
    *("calls", "cached", "prompt_tokens", "completion_tokens", "cost"),
    *("findings", "error", "gold", "right"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """The outcome of a question.

    Attributes:
        index: The position of the question in its file, from 0.
        answer: None if and only if `status` is "error".
        error: Why there is no answer, "" if there is one.
        right: The correctness of the answer by `gold`, from 0 to 1; None if either is missing.
        resumed: Whether the row comes from an earlier run.
    """

    index: int
    question: str
    status: RowStatus
    answer: Answer | None = None
    error: str = ""
    seconds: float = 0.0
    gold: Gold | None = None
    right: float | None = None
    resumed: bool = False

    @property
    def usage(self) -> Usage:
        """The model usage of the answer; that of an error is not known."""
        return self.answer.usage if self.answer else Usage()

    def to_json(self) -> str:
        """Return the row as a line of `answers.jsonl`."""
        return json.dumps(self.record(), ensure_ascii=False)

    def record(self) -> dict[str, object]:
        """Return the row as JSON values."""
        answer = self.answer
        return {
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
                {"stage": one.stage, "seconds": round(one.seconds, 3), "usage": asdict(one.usage)}
                for one in (answer.stages if answer else ())
            ],
            "look_ups": [asdict(one) for one in (answer.look_ups if answer else ())],
            "findings": [asdict(finding) for finding in (answer.findings if answer else ())],
            "error": self.error,
            "gold": self.gold.answer if self.gold else None,
            "right": self.right,
        }


def image_name(reading: Reading) -> str:
    """Return the file name of an image beside the report: `PAPER-table-5.png`, or `PAPER-page-3.png` of a page."""
    place = reading.place
    return f"{reading.element.replace('/', '-') if reading.crop else f'{place.paper}-page-{place.page}'}.png"


def _claim_json(claim: Claim) -> dict[str, object]:
    evidence = [
        {
            **_place_json(item.element, item.place),
            "name": item.name,
            "quote": item.quote,
            "more_places": [{"page": place.page, "box": list(place.box)} for place in item.more_places],
        }
        for item in claim.evidence
    ]
    return {"text": claim.text, "evidence": evidence}


def _image_json(reading: Reading) -> dict[str, object]:
    finding = reading if isinstance(reading, ImageFinding) else None
    return {
        **_place_json(reading.element, reading.place),
        "file": f"images/{image_name(reading)}",
        "read": finding is not None,
        "relevant": finding.relevant if finding else None,
        "response": reading.text if isinstance(reading, ImageFinding) else reading.reason,
    }


def _place_json(element: str, place: Place) -> dict[str, object]:
    return {"element": element, "paper": place.paper, "page": place.page, "box": list(place.box)}


def render_csv(rows: Sequence[BatchRow]) -> str:
    """Return the rows as CSV (RFC 4180); semicolons separate several citations or findings in a cell.

    A cell that a spreadsheet could run as a formula begins with an apostrophe.
    """
    cells = map(_cells, rows)
    return spreadsheet_csv([_CSV_HEADER, *([row[name] for name in _CSV_HEADER] for row in cells)])


def _cells(row: BatchRow) -> dict[str, object]:
    answer = row.answer
    cited = map(str, answer.evidence) if answer else ()
    confidence = round(answer.confidence, 4) if answer and answer.confidence is not None else None
    found = map(str, answer.findings) if answer else ()
    joined = {"citations": "; ".join(dict.fromkeys(cited)), "findings": "; ".join(found)}
    return {**row.record(), **asdict(row.usage), **joined, "confidence": confidence}
