"""Requests, answers with their claims and evidence, conversation turns, and streaming events."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import is_encodable
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.findings import Finding
from paperscope_core.types.image_findings import UnreadImage
from paperscope_core.types.model_calls import Usage
from paperscope_core.types.place import Place, where
from paperscope_core.types.retrieval import Context, Filters
from paperscope_core.types.tables import Cell
from paperscope_core.types.tools import ToolCall

__all__ = [
    "MAX_QUESTION_LENGTH",
    "Answer",
    "AnswerEvent",
    "AskRequest",
    "Check",
    "CheckResult",
    "CitedCell",
    "Claim",
    "DoneEvent",
    "Evidence",
    "Exhibit",
    "ImageFinding",
    "LookUp",
    "Reading",
    "StageEvent",
    "StageTime",
    "Status",
    "TextEvent",
    "Turn",
]

MAX_QUESTION_LENGTH = 4000
"""How many characters a question may have."""

Status = Literal["answered", "evidence", "unanswerable"]
CheckResult = Literal["asked", "printed", "computed", "unsupported"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What supports a claim: an element, the words there and their exact place (of a cell or of lines, if known).

    `more_places` are where the words continue, or the element if no words are quoted: other columns and pages.

    Attributes:
        name: What people call it: "Four Reports, Four Rulers (2024), Table 5, page 4".
        pictures: The paths of page pictures with the boxes marked, one for each page, on the service that gave the
            answer; otherwise none.

    Example:
        >>> from paperscope import Box
        >>> place = Place(paper="3f2a9c1b7d10", page=4, box=Box(72, 100, 300, 140))
        >>> print(Evidence(element="3f2a9c1b7d10/table-5", place=place, quote="92.11"))
        3f2a9c1b7d10/table-5, page 4
    """

    element: str
    place: Place
    quote: str = ""
    more_places: tuple[Place, ...] = ()
    name: str = ""
    pictures: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """All places, the beginning first."""
        return (self.place, *self.more_places)

    def __str__(self) -> str:
        return self.name or f"{self.element}, {where(self.places)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One statement of an answer with its evidence. A claim without evidence is unsupported: a finding says so.

    Attributes:
        mark: In answers of a service: after how many characters of the answer's text its number belongs; None if the
            text does not state it.

    Example:
        >>> Claim(text="Dice loss has the highest F1.").evidence
        ()
    """

    text: str
    evidence: tuple[Evidence, ...] = ()
    mark: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Whether the cited evidence supports one number of an answer.

    Attributes:
        number: The number as the answer prints it.
        finding: "asked" (the question contains it), "printed" (`support` prints it), "computed" (`formula` derives it
            from numbers that `support` prints) or "unsupported" (a finding says why).
        formula: The computation, such as "94.90 − 94.37 = 0.53".
        support: The evidence; none for operands that the question contains.

    Example:
        >>> Check(number="0.53", finding="computed", formula="94.90 − 94.37 = 0.53").finding
        'computed'
    """

    number: str
    finding: CheckResult
    formula: str = ""
    support: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFinding:
    """What the vision model read in an image for the question.

    Attributes:
        relevant: Whether it helps to answer the question.
        agrees: Whether the initial answer says it already.
    """

    element: str
    crop: str
    place: Place
    text: str
    relevant: bool
    agrees: bool = False
    kind: Literal["finding"] = "finding"


Reading = ImageFinding | UnreadImage


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedCell:
    """A cited cell with the headers of its row and column; "" if it has none."""

    cell: Cell
    row: str = ""
    column: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """A table, figure or equation that an answer cites or a vision model read for it.

    Attributes:
        label: As printed, "" if it has none.
        caption: The caption, or an equation's text as parsed.
        latex: An equation as a vision model read it, "" if none did.
        crops: The content hashes of its pictures (see `Library.crop`).
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
    """The duration of a stage of answering, in seconds, and the usage of the language and vision models in it."""

    stage: str
    seconds: float
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True, slots=True)
class LookUp:
    """What a model looked up in the papers, because the retrieved context lacked it.

    Attributes:
        rows: The ids of the sources of the context that show it.
        message: Why nothing was found, or what else the model was told.
    """

    call: ToolCall
    rows: tuple[int, ...] = ()
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer(Displayable):
    """An answer that can be checked.

    Attributes:
        status: "answered"; "unanswerable" if the papers don't contain the answer; or, without a language model,
            "evidence": nothing is concluded, and the claims quote the most relevant places.
        text: The final text.
        claims: Its statements with their evidence.
        readings: What the vision model read in images for the question.
        exhibits: The tables, figures and equations that it cites or that were read for it.
        initial: The text written from the retrieved context alone.
        look_ups: What the model looked up then.
        merged: The text written with what images show and what was looked up, "" if neither could change the answer.
        model: The model that wrote it, "" if no language model is configured.
        checks: The support of each number in the text.
        findings: What is not supported, and what else a reader should know; see `Finding`.
        confidence: The share (0 to 1) of right answers of its kind, as measured for the extractive answerer; None for
            any other answer.
        asked_as: A follow-up question as it was understood, "" for a question that is complete by itself.

    Example:
        >>> check = Check(number="0.53", finding="computed", formula="94.90 − 94.37 = 0.53")
        >>> answer = Answer(
        ...     question="By how much is it better?",
        ...     status="answered",
        ...     text="By 0.53 points.",
        ...     claims=(Claim(text="By 0.53 points."),),
        ...     context=Context(),
        ...     checks=(check,),
        ... )
        >>> answer.formulas
        ('94.90 − 94.37 = 0.53',)
        >>> answer.evidence
        ()
    """

    question: str
    status: Status
    text: str
    claims: tuple[Claim, ...]
    context: Context
    readings: tuple[Reading, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()
    initial: str = ""
    look_ups: tuple[LookUp, ...] = ()
    merged: str = ""
    model: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    stages: tuple[StageTime, ...] = ()
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    confidence: float | None = None
    asked_as: str = ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence of all claims, each once."""
        return tuple(dict.fromkeys(evidence for claim in self.claims for evidence in claim.evidence))

    @property
    def formulas(self) -> tuple[str, ...]:
        """The formulas of all computed numbers, each once."""
        return tuple(dict.fromkeys(check.formula for check in self.checks if check.formula))


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One question of a conversation and its answer; `papers` are the ids of the papers that the answer cites.

    Example:
        >>> turn = Turn(question="Which loss has the highest F1?", answer="Dice loss.", papers=("3f2a9c1b7d10",))
        >>> turn.papers
        ('3f2a9c1b7d10',)
    """

    question: str
    answer: str = ""
    papers: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: Answer) -> "Turn":
        """Return the turn for an answer; a follow-up question is stored as it was understood."""
        cited = (evidence.place.paper for evidence in answer.evidence)
        return cls(question=answer.asked_as or answer.question, answer=answer.text, papers=tuple(dict.fromkeys(cited)))


@dataclass(frozen=True, kw_only=True, slots=True)
class AskRequest:
    """A question, what it may be answered from, and the turns before it.

    Attributes:
        question: The question, without white space at its ends.
        filters: For `Library`, its papers are anything that identifies one; for the query engine, ids.
        history: Earlier turns, oldest first, which complete a follow-up question.
        each_paper: Ask each paper, and conclude from what they say; of a retrieval, return the best sources of each.

    Raises:
        InputError: The question is empty, too long, or not in UTF-8.
    """

    question: str
    filters: Filters = Filters()
    history: tuple[Turn, ...] = ()
    each_paper: bool = False

    def __post_init__(self) -> None:
        question = self.question.strip()
        object.__setattr__(self, "question", question)
        if not question:
            raise InputError(f"the question {question!r} is empty; ask something")
        if len(question) > MAX_QUESTION_LENGTH:
            raise InputError(
                f"the question that starts {question[:60]!r} has {len(question)} characters; "
                f"the maximum is {MAX_QUESTION_LENGTH}"
            )
        if not is_encodable(question):
            raise InputError(f"the question {question!r} is not in UTF-8; write it in a terminal that uses UTF-8")

    @classmethod
    def of(
        cls,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = Filters(),
        history: Sequence[Turn] = (),
        each_paper: bool = False,
    ) -> "AskRequest":
        """Return the request for the arguments of `Library.ask`."""
        return cls(
            question=question,
            filters=replace(filters, papers=(*filters.papers, *papers)),
            history=tuple(history),
            each_paper=each_paper,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StageEvent:
    """A stage begins ("retrieving", "answering", "looking up", "reading images", "merging", "verifying")."""

    stage: str
    kind: Literal["stage"] = "stage"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEvent:
    """The next piece of the answer's text; `anew` means that the text starts over and earlier pieces are void."""

    text: str
    anew: bool = False
    kind: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class DoneEvent:
    """The verified answer; its text is all pieces together."""

    answer: Answer
    kind: Literal["done"] = "done"


AnswerEvent = StageEvent | TextEvent | DoneEvent
