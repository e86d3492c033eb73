"""How telling a word is: its rarity among the elements of the papers."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from paperscope_core.types import Element, Paper
from query.elements import element_text
from query.extractive.words import FUNCTION_WORDS, LIGHT_WORDS, Token, abbreviations, likeness, tokens

__all__ = ["Vocabulary", "Weights", "vocabulary"]


_LIGHT = 0.3
# A common word that the papers never use is the asker's own wording; an unknown name is another matter (`unknown`).
_UNSEEN = 0.3
_LEAST = 0.05
# Words of one stem share at least so many letters.
_STEM = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Vocabulary:
    """The folded words of one paper: in how many of its `total` elements each stands (`counts`), those of each
    beginning (`stems`), two neighbours run together (`joined`), and those (also) written without capitals (`small`)."""

    total: int
    counts: Mapping[str, int]
    stems: Mapping[str, Sequence[str]]
    joined: Set[str]
    small: Set[str]


def vocabulary(paper: Paper) -> Vocabulary:
    """The words of a paper."""
    counts: Counter[str] = Counter()
    joined: set[str] = set()
    small: set[str] = set()
    for element in paper.elements:
        found = tokens(_words_of(element))
        small.update(token.text for token in found if token.small)
        words = [token.text for token in found]
        counts.update(set(words))
        joined.update(first + second for first, second in pairwise(words))
    stems: defaultdict[str, list[str]] = defaultdict(list)
    for word in counts:
        stems[word[:_STEM]].append(word)
    return Vocabulary(total=len(paper.elements), counts=counts, stems=stems, joined=joined, small=small)


class Weights:
    """Inverse document frequency over the elements of papers, scaled to (0, 1]. `common` are the words that the
    papers (also) write without capitals."""

    def __init__(self, vocabularies: Iterable[Vocabulary]) -> None:
        self._papers = tuple(vocabularies)
        self._total = sum(paper.total for paper in self._papers)
        self.common = frozenset[str]().union(*(paper.small for paper in self._papers))

    def of(self, word: str) -> float:
        """The weight of a folded word: 0 for function words and signs, little for words that any table could bear.

        A word that the papers inflect otherwise weighs as much as the commonest of its forms.
        """
        if word in FUNCTION_WORDS or word in "+-":
            return 0.0
        count = self._count(word) or max(map(self._count, self.alike(word)), default=0)
        if count == 0:
            return _UNSEEN
        most = math.log((self._total + 1) / 0.5)
        rarity = math.log((self._total + 1) / (count + 0.5)) / most
        return max(rarity, _LEAST) * (_LIGHT if word in LIGHT_WORDS else 1.0)

    def total(self, words: Iterable[Token]) -> float:
        """The summed weight of tokens."""
        return sum(self.of(word.text) for word in words)

    def alike(self, word: str) -> frozenset[str]:
        """The words of the papers that are this word, or another form of it."""
        near = {other for paper in self._papers for other in paper.stems.get(word[:_STEM], ())}
        near.update(short for short in abbreviations(word) if self._count(short))
        return frozenset(other for other in near if likeness(word, other) > 0.7)

    def unknown(self, words: Sequence[Token], at: Iterable[int]) -> tuple[Token, ...]:
        """Those of the words at these indices that no element holds: neither alone, nor run together with a
        neighbour ("CTB 5" for "CTB5" and the other way round), nor abbreviated or inflected."""
        return tuple(words[index] for index in sorted(at) if not self._known(words, index))

    def _known(self, words: Sequence[Token], index: int) -> bool:
        word = words[index].text
        before = words[index - 1].text if index > 0 else ""
        behind = words[index + 1].text if index + 1 < len(words) else ""
        forms = (word, before + word, word + behind)
        return any(
            word in paper.joined or any(form in paper.counts for form in forms) or _holds_alike(paper, word)
            for paper in self._papers
        )

    def _count(self, word: str) -> int:
        return sum(paper.counts.get(word, 0) for paper in self._papers)


def _holds_alike(paper: Vocabulary, word: str) -> bool:
    return any(likeness(word, other) > 0 for other in paper.counts)


def _words_of(element: Element) -> str:
    # In CSV "alpha,512" would run two cells into one word.
    if element.kind == "table":
        return "\n".join((element.label, element.caption, *(cell.text for cell in element.cells)))
    return element_text(element)
