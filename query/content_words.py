"""Content words of questions and texts, and their weights."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain

import paperscope_core.text.words as text_words

__all__ = ["LEAST_QUOTED", "Rarity", "content_words", "quotations", "runs", "without_quotations"]

# Words with which questions refer to papers; every paper contains them.
_REQUEST_WORDS = frozenset("according author given paper please proposed use used using".split())
_CURLY = re.compile("\u201c((?:[^\u201c\u201d]|\u201c[^\u201c\u201d]*\u201d)*)\u201d")
_STRAIGHT = re.compile(r'(?<!\w)"([^"\n]+)"(?!\w)')
LEAST_QUOTED = 3
"""Fewer words in quotation marks are a name or an emphasis."""


def content_words(text: str) -> frozenset[str]:
    """Return the words without stop words, single Latin letters, and words with which questions refer to papers."""
    return text_words.content_words(text) - _REQUEST_WORDS


def quotations(text: str) -> Iterator[str]:
    """Yield the text within outermost curly quotation marks, then within straight ones."""
    yield from _CURLY.findall(text)
    yield from _STRAIGHT.findall(_CURLY.sub("", text))


def without_quotations(text: str) -> str:
    """Return the text without its quotations of several words, such as the caption of a table."""

    def short(match: re.Match[str]) -> str:
        return match[0] if len(match[1].split()) < LEAST_QUOTED else " "

    return _STRAIGHT.sub(short, _CURLY.sub(short, text))


def runs(words: Sequence[str], *, longest: int) -> dict[str, list[range]]:
    """Return all runs of up to `longest` words by their letters without gaps, so that "Onto Notes" matches
    "OntoNotes"."""
    found: dict[str, list[range]] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            found.setdefault("".join(words[start:end]), []).append(range(start, end))
    return found


@dataclass(frozen=True, slots=True)
class Rarity:
    """Inverse document frequencies of words in `size` texts: log(1 + size / (1 + texts with the word))."""

    size: int
    frequencies: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Rarity":
        """Count the texts that contain each word."""
        words = list(map(content_words, texts))
        return cls(len(words), Counter(chain.from_iterable(words)))

    def weight(self, word: str) -> float:
        """Return the weight of a word, greater than 0."""
        return math.log(1 + max(self.size, 1) / (1 + self.frequencies[word]))

    def coverage(self, asked: Set[str], text: str) -> float:
        """Return the weighted share (0 to 1) of the asked words that occur in the text."""
        total = sum(self.weight(word) for word in asked)
        found = content_words(text)
        return sum(self.weight(word) for word in asked if word in found) / total if total else 0.0
