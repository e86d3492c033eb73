"""What is told while an answer comes about."""

from dataclasses import dataclass
from typing import Literal

from paperscope.types.answer import Answer

__all__ = ["AnswerEvent", "DoneEvent", "StageEvent", "TextEvent"]


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
