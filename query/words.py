"""Content words of questions and texts, and their weights."""

import math
import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

__all__ = ["Rarity", "content_words", "words"]


_COMPOUND = re.compile(r"[^\W_]+(?:[.'’+&/\u2010-\u2015\-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_STOP = frozenset(
    """a about according after all also am among an and any are as at author be been before being between both but by
    can could did do does doing each for from further given had has have having he her here his how i if in into is it
    its itself just many me more most much my no nor not of off on once one only or other our out over own paper per
    please proposed same she should so some such than that the their them then there these they this those through to
    too under up use used using very was we were what when where which while who whom why will with would you
    your""".split()
)


def words(text: str) -> list[str]:
    """All words, case-folded and in the singular; a compound ("BERT+DSC", "SST-5") yields itself and its parts."""
    found = []
    for compound in _COMPOUND.findall(text.casefold()):
        if compound.isalnum():
            found.append(_singular(compound))
        else:
            found += [compound, *map(_singular, _PART.findall(compound))]
    return found


def content_words(text: str) -> frozenset[str]:
    """The words without stop words and single Latin letters."""
    return frozenset(
        word for word in words(text) if word not in _STOP and (len(word) > 1 or not word.isascii() or word.isdigit())
    )


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@dataclass(frozen=True, slots=True)
class Rarity:
    """Inverse document frequencies of words in `size` texts: log(1 + size / (1 + texts with the word))."""

    size: int
    frequencies: dict[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Rarity":
        """Counts the texts that contain each word."""
        size, frequencies = 0, dict[str, int]()
        for text in texts:
            size += 1
            for word in content_words(text):
                frequencies[word] = frequencies.get(word, 0) + 1
        return cls(size, frequencies)

    def weight(self, word: str) -> float:
        """The weight of a word, greater than 0."""
        return math.log(1 + max(self.size, 1) / (1 + self.frequencies.get(word, 0)))

    def coverage(self, asked: Set[str], text: str) -> float:
        """The weighted share (0 to 1) of the asked words that occur in the text."""
        total = sum(self.weight(word) for word in asked)
        held = content_words(text)
        return sum(self.weight(word) for word in asked if word in held) / total if total else 0.0
