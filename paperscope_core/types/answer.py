"""Answers with their claims and evidence, conversation turns, and streaming events."""

from dataclasses import dataclass
from typing import Literal

from paperscope_core.types.displayable import Displayable
from paperscope_core.types.images import UnreadImage
from paperscope_core.types.model_calls import Usage
from paperscope_core.types.place import Place
from paperscope_core.types.retrieval import Context
from paperscope_core.types.tables import Cell

__all__ = [
    "Answer",
    "AnswerEvent",
    "Check",
    "CitedCell",
    "Claim",
    "DoneEvent",
    "Evidence",
    "Exhibit",
    "Finding",
    "ImageFinding",
    "Reading",
    "StageEvent",
    "StageTime",
    "Status",
    "TextEvent",
    "Turn",
]


Status = Literal["answered", "unanswerable"]
Finding = Literal["asked", "printed", "computed", "unsupported"]


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
class Check:
    """How one number of an answer stands to the evidence that is cited for it.

    "asked": the question gives it; "printed": `support` prints it; "computed": it follows, as `formula` shows
    ("94.90 − 94.37 = 0.53"), from numbers that `support` prints; "unsupported": neither, and a warning says so. An
    operand that the question gives has no support.
    """

    number: str
    finding: Finding
    formula: str = ""
    support: tuple[Evidence, ...] = ()


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
class CitedCell:
    """A cell that an answer cites, with the headers of its row and its column, "" where it has none."""

    cell: Cell
    row: str = ""
    column: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """A table, figure or equation that an answer cites or had read.

    `caption` is an equation's text as parsed; `latex` what a vision model read an equation as, "" where none did.
    `crops` name its pictures by content hash (see `Library.crop`); `cells` are those that are cited.
    """

    element: str
    kind: Literal["table", "figure", "equation"]
    place: Place
    label: str = ""
    caption: str = ""
    latex: str = ""
    crops: tuple[str, ...] = ()
    cells: tuple[CitedCell, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StageTime:
    """How long a stage of one answer took, in seconds."""

    stage: str
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer(Displayable):
    """An answer that can be checked.

    `initial` is the text written from the context alone, `merged` the one written with the image findings ("" where
    no relevant image made a merge necessary), `text` the final one. `model` names the model that wrote it, "" where
    the embedded answerer did. `exhibits` are the tables, figures and equations that it cites or had read; `checks` tell
    of each number what supports it, `warnings` flag what nothing does. `confidence` (0 to 1) tells how sure whoever
    wrote it was, None where they don't say: the embedded answerer gives how probable it is that the evidence answers
    the question, by which it also decides whether to answer. `asked_as` is a follow-up as it was understood, "" for a
    question that stands by itself.
    """

    question: str
    status: Status
    text: str
    claims: tuple[Claim, ...]
    context: Context
    readings: tuple[Reading, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    initial: str = ""
    merged: str = ""
    model: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    stages: tuple[StageTime, ...] = ()
    checks: tuple[Check, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
    asked_as: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question of a conversation and its answer; `papers` are the ids of the papers that the answer cites."""

    question: str
    answer: str = ""
    papers: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> "Turn":
        """The turn that an answer ends; of a follow-up the question as it was understood."""
        cited = (evidence.place.paper for claim in answer.claims for evidence in claim.evidence)
        return cls(question=answer.asked_as or answer.question, answer=answer.text, papers=tuple(dict.fromkeys(cited)))


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEvent:
    """A stage has begun ("retrieving", "answering", "reading images", "merging", "verifying")."""

    stage: str
    kind: Literal["stage"] = "stage"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEvent:
    """The next piece of the answer's text. `anew` tells that it begins again: what was told before is void."""

    text: str
    anew: bool = False
    kind: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class DoneEvent:
    """The answer, verified; its text is that of the pieces together."""

    answer: Answer
    kind: Literal["done"] = "done"


AnswerEvent = StageEvent | TextEvent | DoneEvent
