"""Texts with entities: what a recognizer gets and returns, and what it is trained on."""

from dataclasses import dataclass

__all__ = ["Example", "Span"]


@dataclass(frozen=True, kw_only=True)
class Span:
    """An entity: the characters [start, end) of its example's text."""

    start: int
    end: int
    label: str
    confidence: float | None = None


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text, usually a sentence, with its tokens and entities.

    Attributes:
        id: Names the example in its file, and joins a prediction to its gold.
        text: The text. Offsets count its characters (code points).
        tokens: The characters [start, end) of each token, in order.
        spans: The entities. They may overlap.
        failure: Why a system's output could not be used. Its spans are then empty.
    """

    id: str
    text: str
    tokens: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    document: str | None = None
    failure: str | None = None
