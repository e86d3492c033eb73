"""The seam between a text recogniser and our rules, and its deterministic fake."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from PIL import Image

from paperscope.types import Box

__all__ = ["FakeRecognizer", "RecognizedWord", "TextRecognizer"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedWord:
    """A word with its box in pixels and a confidence from 0 to 1; words of one number `line` stand on one line.

    `letters` holds the x of each letter's middle, and nothing where the recogniser doesn't know.
    """

    text: str
    box: Box
    line: int
    confidence: float
    letters: tuple[float, ...] = ()


class TextRecognizer(Protocol):
    """Reads the text of a picture."""

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """The words of a picture in RGB, empty where it has none. Raises `PageReadError` when it fails."""
        ...


class FakeRecognizer:
    """Gives the same words for every picture and keeps the sizes of those that it saw."""

    def __init__(self, words: Sequence[RecognizedWord] = ()) -> None:
        self._words = tuple(words)
        self.seen: list[tuple[int, int]] = []

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """See `TextRecognizer.recognize`."""
        self.seen.append(picture.size)
        return self._words
