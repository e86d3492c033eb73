"""Answers: text, the claims it consists of, and the places they rest on."""

from dataclasses import dataclass
from typing import Literal

from paperscope.types.context import Context
from paperscope.types.images import UnreadImage
from paperscope.types.model import Usage
from paperscope.types.place import Place

__all__ = ["Answer", "Claim", "Evidence", "ImageFinding", "Reading", "StageTime", "Status"]

Status = Literal["answered", "unanswerable"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a claim rests on: an element, the exact place (a cell's, where one is known) and the words there."""

    element: str
    place: Place
    quote: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One statement of the answer with its evidence; without evidence it is unsupported and a warning says so."""

    text: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFinding:
    """What the vision model read in an image for the question; `relevant` tells whether it bears on it."""

    element: str
    crop: str
    place: Place
    text: str
    relevant: bool
    kind: Literal["finding"] = "finding"


Reading = ImageFinding | UnreadImage


@dataclass(frozen=True, kw_only=True, slots=True)
class StageTime:
    """How long a stage of one answer took, in seconds."""

    stage: str
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer that can be checked.

    `initial` is the text written from the context alone, `merged` the one written with the image findings ("" where
    no relevant image made a merge necessary), `text` the final one. `model` names the model that wrote it, "" where
    the embedded answerer did. `warnings` flag what is not supported by the evidence. `confidence` (0 to 1) tells how
    sure whoever wrote it was, None where they don't say: the embedded answerer gives how probable it is that the
    evidence answers the question, by which it also decides whether to answer.
    """

    question: str
    status: Status
    text: str
    claims: tuple[Claim, ...]
    context: Context
    readings: tuple[Reading, ...] = ()
    initial: str = ""
    merged: str = ""
    model: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    stages: tuple[StageTime, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
