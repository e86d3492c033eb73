"""A text folded as names are, with the way back to its own characters."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from paperscope.types import entity_key
from paperscope.types.knowledge import SPACES

__all__ = ["FoldedText", "stands_in", "without_marks"]

# The mark of a footnote behind a word; a power or an index stands behind a letter or two.
_MARK = re.compile(r"(?<=[^\W\d_]{3})[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?!\w)")


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldedText:
    """`folded` is the text in the spelling of `entity_key`; its character i comes from the text's characters
    `starts[i]` up to `ends[i]`."""

    folded: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Fold `text`."""
        folded: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        text = _MARK.sub(lambda mark: " " * len(mark[0]), text)
        for start, cluster in _clusters(text):
            for character in unicodedata.normalize("NFKC", cluster).casefold():
                key = " " if SPACES.fullmatch(character) else character
                if key == " " and folded[-1:] == [" "]:
                    ends[-1] = start + len(cluster)
                    continue
                folded.append(key)
                starts.append(start)
                ends.append(start + len(cluster))
        return cls(folded="".join(folded), starts=tuple(starts), ends=tuple(ends))

    def find(self, words: str) -> tuple[int, int] | None:
        """Where `words` stand first, as whole words and spelled in any way that `entity_key` folds: the characters of
        the text from the first up to the second number. None where they don't, or are no words."""
        key = entity_key(without_marks(words))
        at = _find(key, self.folded)
        return None if at < 0 else (self.starts[at], self.ends[at + len(key) - 1])


def without_marks(text: str) -> str:
    """The text without the marks of footnotes behind its words."""
    return _MARK.sub("", text)


def stands_in(key: str, folded: str) -> bool:
    """Whether `key` stands in the text as whole words; both are folded in the same way."""
    return _find(key, folded) >= 0


def _find(key: str, folded: str) -> int:
    at = folded.find(key) if key else -1
    while at >= 0:
        before, after = folded[at - 1 : at] if at else "", folded[at + len(key) : at + len(key) + 1]
        # "ran" does not stand in "random".
        if not (before.isalnum() and key[0].isalnum()) and not (after.isalnum() and key[-1].isalnum()):
            return at
        at = folded.find(key, at + 1)
    return -1


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Each character with the marks that combine with it, which are normalised together, and its position."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not unicodedata.combining(text[position]):
            yield start, text[start:position]
            start = position
