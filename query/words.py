"""Content words of questions and texts, and their weights."""

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass

import paperscope_core.text.words as text_words

__all__ = ["Rarity", "content_words"]

# Words with which questions refer to papers; every paper contains them.
_REQUEST_WORDS = frozenset("according author given paper please proposed use used using".split())


def content_words(text: str) -> frozenset[str]:
    """The words without stop words, single Latin letters, and words with which questions refer to papers."""
    return text_words.content_words(text) - _REQUEST_WORDS


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
