"""Word pieces of texts, with their case, the units of text that get tags, and the windows that fit into an encoder."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["CASES", "WINDOW", "PieceSplitter", "Pieces", "Window", "pack", "read_tokenizer", "windows"]

CASES = 6
"""The number of classes of `Pieces.cases`: no letters, lower, Title, UPPER, mixed case, digits."""

WINDOW = 254
"""The pieces of a window: with two at its ends half of the 512 positions of BERT, because longer windows gain nothing
and take quadratic time."""
_OVERLAP = 64
_WORD = re.compile(r"\w+")
_NONE, _LOWER, _TITLE, _UPPER, _MIXED, _DIGITS = range(CASES)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pieces:
    """A text's word pieces, and its units.

    A unit is a token, or tokens that share their first piece. Tokens without a piece belong to no unit.

    Attributes:
        ids: The pieces' numbers, without those that mark the ends of a text.
        cases: The class of the case of the word that holds each piece.
        units: The characters [start, end) of each unit.
        firsts: The index of each unit's first piece.
    """

    ids: tuple[int, ...]
    cases: tuple[int, ...]
    units: tuple[tuple[int, int], ...]
    firsts: tuple[int, ...]

    def __add__(self, other: "Pieces") -> "Pieces":
        """Return the pieces of two texts, one after the other; each unit's characters still count from the start of its
        own text."""
        return Pieces(
            ids=self.ids + other.ids,
            cases=self.cases + other.cases,
            units=self.units + other.units,
            firsts=(*self.firsts, *(len(self.ids) + first for first in other.firsts)),
        )


def pack(pieces: Sequence[Pieces], documents: Sequence[str | None], *, size: int) -> list[list[int]]:
    """Group consecutive texts of the same document that together have at most `size` pieces, so that an encoder sees
    each with its neighbours.

    Returns:
        The indices of the texts of each group; a text without a document is alone.
    """
    groups: list[list[int]] = []
    length = 0
    for index, (of, document) in enumerate(zip(pieces, documents, strict=True)):
        length += len(of.ids)
        if index and document is not None and document == documents[index - 1] and length <= size:
            groups[-1].append(index)
        else:
            groups.append([index])
            length = len(of.ids)
    return groups


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The pieces [start, end) of a text, which fit into the encoder, and those [from_, to) that it scores."""

    text: int
    start: int
    end: int
    from_: int
    to: int


def windows(lengths: Sequence[int], *, size: int = WINDOW) -> Iterator[Window]:
    """Yield the windows of texts with these numbers of pieces.

    Windows overlap, and each piece is scored by the one whose end is farthest from it.
    """
    overlap = min(_OVERLAP, size // 2)
    for text, length in enumerate(lengths):
        start = from_ = 0
        while True:
            end = min(length, start + size)
            to = length if end == length else end - overlap // 2
            yield Window(text=text, start=start, end=end, from_=from_, to=to)
            if end == length:
                break
            start, from_ = end - overlap, to


@dataclass(frozen=True, kw_only=True)
class PieceSplitter:
    """Splits texts by a tokenizer; `before` and `after` are the pieces that a model expects around a text."""

    tokenizer: "Tokenizer"
    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: "Tokenizer") -> "PieceSplitter":
        """Find the pieces at the ends by the tokenizer's own template; remove truncation and padding from it."""
        tokenizer.no_truncation()
        tokenizer.no_padding()
        marked = tokenizer.encode("a")
        special = [bool(mark) for mark in marked.special_tokens_mask]
        first = special.index(False) if False in special else len(special)
        last = len(special) - special[::-1].index(False) if False in special else first
        return cls(tokenizer=tokenizer, before=tuple(marked.ids[:first]), after=tuple(marked.ids[last:]))

    def split(self, texts: Sequence[str], tokens: Sequence[Sequence[tuple[int, int]]]) -> list[Pieces]:
        """Split texts whose tokens are given."""
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        found = []
        for text, bounds, encoding in zip(texts, tokens, encodings, strict=True):
            cases = _cases(text)
            units, firsts = _units(bounds, encoding.offsets)
            found.append(
                Pieces(
                    ids=tuple(encoding.ids),
                    cases=tuple(cases[start] if start < len(text) else _NONE for start, _ in encoding.offsets),
                    units=units,
                    firsts=firsts,
                )
            )
        return found

    def inputs(self, pieces: Pieces, window: Window) -> tuple[list[int], list[int]]:
        """Return the numbers and the case classes of a window's pieces, including the ends."""
        within = slice(window.start, window.end)
        ids = [*self.before, *pieces.ids[within], *self.after]
        return ids, [*[0] * len(self.before), *pieces.cases[within], *[0] * len(self.after)]

    @property
    def digest(self) -> str:
        """The SHA-256 of the tokenizer."""
        return hashlib.sha256(self.tokenizer.to_str().encode()).hexdigest()


def read_tokenizer(file: Path) -> "Tokenizer":
    """Read a `tokenizer.json`, without truncation and padding.

    Raises:
        ValueError: The file can't be read, or is not a tokenizer.
    """
    from tokenizers import Tokenizer

    try:
        found = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises no narrower one
        raise ValueError(f"{file.name}: {error}") from error
    found.no_truncation()
    found.no_padding()
    return found


def _units(
    tokens: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Return the units, and the first piece of each."""
    # Pieces in the order of their ends; an empty piece covers no character.
    covering = [(end, index) for index, (start, end) in enumerate(offsets) if start < end]
    ends = [end for end, _ in covering]
    units: list[tuple[int, int]] = []
    firsts: list[int] = []
    for start, end in tokens:
        at = bisect_right(ends, start)
        if at == len(covering) or offsets[covering[at][1]][0] >= end:
            continue
        piece = covering[at][1]
        if firsts and firsts[-1] == piece:
            units[-1] = (units[-1][0], end)
        else:
            units.append((start, end))
            firsts.append(piece)
    return tuple(units), tuple(firsts)


def _cases(text: str) -> list[int]:
    """Return the class of each character's word."""
    cases = [_NONE] * len(text)
    for match in _WORD.finditer(text):
        cases[match.start() : match.end()] = [_case(match[0])] * len(match[0])
    return cases


def _case(word: str) -> int:
    if any(character.isdigit() for character in word):
        return _DIGITS
    if word.islower():
        return _LOWER
    if word.isupper() and len(word) > 1:
        return _UPPER
    if word[:1].isupper() and not any(character.isupper() for character in word[1:]):
        return _TITLE
    return _MIXED if any(character.isupper() for character in word) else _NONE
