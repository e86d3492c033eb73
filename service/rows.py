"""One row of a batch: what `answers.jsonl` holds for a question."""

import json
from dataclasses import dataclass
from typing import Literal

from paperscope.types import Answer, Claim, ImageFinding, Reading, StageTime, Usage
from service.questions import Gold

__all__ = ["BatchRow", "RowStatus", "image_name"]

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
            "claims": [_claim(claim) for claim in (answer.claims if answer else ())],
            "checks": [
                {"number": check.number, "finding": check.finding, "formula": check.formula}
                for check in (answer.checks if answer else ())
            ],
            "images": [_image(reading) for reading in (answer.readings if answer else ())],
            "usage": {
                "calls": usage.calls,
                "cached": usage.cached,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "cost": usage.cost,
            },
            "model": answer.model if answer else "",
            "seconds": round(self.seconds, 3),
            "stages": [_stage(time) for time in (answer.stages if answer else ())],
            "warnings": list(self.warnings),
            "gold": self.gold.answer if self.gold else None,
            "right": self.right,
        }
        return json.dumps(row, ensure_ascii=False)


def image_name(element: str) -> str:
    """The file name of an element's crop beside the report: `PAPER-table-5.png`."""
    return f"{element.replace('/', '-')}.png"


def _claim(claim: Claim) -> dict[str, object]:
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


def _stage(time: StageTime) -> dict[str, object]:
    return {"stage": time.stage, "seconds": round(time.seconds, 3)}


def _image(reading: Reading) -> dict[str, object]:
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
