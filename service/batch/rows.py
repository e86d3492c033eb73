"""A batch's rows as `answers.jsonl` and `answers.csv`."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from paperscope.library import Library
from paperscope_core.errors import UnknownPaperError
from paperscope_core.types import Answer, Claim, Evidence, ImageFinding, Reading, StageTime, Usage
from service.batch.questions import Gold

__all__ = ["BatchRow", "RowStatus", "citation", "citations", "image_name", "paper_names", "render_csv"]


RowStatus = Literal["answered", "unanswerable", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """A question's outcome; `answer` is None exactly when `status` is "error", and `warnings` then say why.

    `right`, from 0 to 1, is how the answer stands to `gold`, None where either is missing. `resumed` tells that an
    earlier run asked.
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
        """What the answer took; nothing is known of what an error did."""
        return self.answer.usage if self.answer else Usage()

    def to_json(self) -> str:
        """The row as one line of `answers.jsonl`."""
        answer, usage = self.answer, self.usage
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
            "usage": {
                "calls": usage.calls,
                "cached": usage.cached,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "cost": usage.cost,
            },
            "model": answer.model if answer else "",
            "seconds": round(self.seconds, 3),
            "stages": [_stage_json(time) for time in (answer.stages if answer else ())],
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


def _stage_json(time: StageTime) -> dict[str, object]:
    return {"stage": time.stage, "seconds": round(time.seconds, 3)}


def _image_json(reading: Reading) -> dict[str, object]:
    read = isinstance(reading, ImageFinding)
    return {
        "element": reading.element,
        "paper": reading.place.paper,
        "page": reading.place.page,
        "box": list(reading.place.box),
        "file": f"images/{image_name(reading.element)}",
        "read": read,
        "relevant": reading.relevant if isinstance(reading, ImageFinding) else None,
        "response": reading.text if isinstance(reading, ImageFinding) else reading.reason,
    }


def paper_names(library: Library, answers: Iterable[Answer]) -> Mapping[str, str]:
    """The file name of each paper that the answers cite, by its id, with the id where several are called so.

    A paper that is no longer in the library has only its id.
    """
    cited = {item.place.paper for answer in answers for claim in answer.claims for item in claim.evidence}
    files = {paper: _file_of(library, paper) for paper in sorted(cited)}
    counts = Counter(files.values())
    return {paper: file if counts[file] == 1 else f"{file} ({paper})" for paper, file in files.items()}


def citations(answer: Answer, names: Mapping[str, str]) -> list[str]:
    """Each place that the answer cites, once, in order: the paper, the page, and the label of what stands there."""
    cited = (item for claim in answer.claims for item in claim.evidence)
    return list(dict.fromkeys(citation(item, answer, names) for item in cited))


def citation(item: Evidence, answer: Answer, names: Mapping[str, str]) -> str:
    """One place that the answer cites."""
    place = item.place
    label = next((exhibit.label for exhibit in answer.exhibits if exhibit.element == item.element), "")
    where = place.where if place.by_line else f"p.{place.page}"
    told = f"{names.get(place.paper, place.paper)} {where}"
    return f"{told}, {label}" if label else told


def _file_of(library: Library, paper: str) -> str:
    try:
        return library.paper(paper).file
    except UnknownPaperError:
        return paper


_CSV_HEADER = (
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
    writer.writerow(_CSV_HEADER)
    for row in rows:
        writer.writerow(
            [_safe_cell(value) if isinstance(value, str) else value for value in _csv_values(row, paper_names)]
        )
    return text.getvalue()


def _csv_values(row: BatchRow, names: Mapping[str, str]) -> list[str | float | None]:
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


def _safe_cell(cell: str) -> str:
    # A cell that begins with apostrophes of its own gets one more, so that taking one away gives what was there.
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
