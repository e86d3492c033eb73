"""What a reader should know about an answer or a context: `Finding`."""

from dataclasses import dataclass
from typing import Literal

from paperscope_core.types.place import Place

__all__ = ["Finding", "FindingKind"]

FindingKind = Literal[
    "number",
    "quotation",
    "name",
    "link",
    "extreme",
    "claim",
    "unchecked",
    "citation",
    "image",
    "vision",
    "model",
    "table",
    "year",
    "paper",
    "reply",
    "note",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What the verifier or the engine found out about an answer.

    Attributes:
        kind: What the cited evidence does not support: a "number", "quotation" or "name", an "extreme" (a value that
            is called the highest or lowest and is not), a "claim" that cites nothing; a "link" in a text of a model
            that is in no source. How the answer was made: a part is "unchecked", a "citation" of the model does not
            exist, an "image" was not read, no "vision" model or language "model" is configured, the grid of a "table"
            is uncertain, papers were left out by their "year", a damaged "paper" was left out, the model's "reply"
            was not of the form that was asked for or its window too short. "note" is anything else.
        subject: What it is about: the number, quotation or name as the answer has it, the text of a claim, the id of an
            image, table or paper; "" for the whole answer.
        place: Where on paper, if that is known: the cell that prints a number under another name, the image, the table.
        message: The sentence that people read. Its wording may change, so programs read the other fields.

    Example:
        >>> finding = Finding(kind="number", subject="92.2", message="No cited place prints 92.2.")
        >>> print(finding)
        No cited place prints 92.2.
        >>> finding.kind, finding.subject
        ('number', '92.2')
    """

    kind: FindingKind
    subject: str = ""
    place: Place | None = None
    message: str

    def __str__(self) -> str:
        return self.message
