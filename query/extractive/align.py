"""Which row and column names of a table a question mentions, and with which of its words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from query.extractive.grid import Part
from query.extractive.question import Question
from query.extractive.weights import Weights
from query.extractive.words import FUNCTION_WORDS, likeness, strip_citations, strip_remark, tokens

__all__ = ["Aligner", "Mention"]


# A name counts as mentioned when the question holds at least this share of its telling words.
_LEAST_SHARE = 0.5
_LONGEST_NAME = 12
_HYPHENATED = 0.6
_ACRONYM = 0.9
_BARE = 0.95
_HEAD = 0.85
# All words of a name stand in the question, but not in one piece.
_WHOLE = 0.99
_UNSIGNED = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A table name that the question mentions with its words `at`; `score` is 1 where it stands there in full."""

    part: Part
    at: frozenset[int]
    score: float
    weight: float

    @property
    def whole(self) -> bool:
        """Whether the question holds all words of the name."""
        return self.score >= _WHOLE

    @property
    def first(self) -> int:
        """Where in the question the mention begins."""
        return min(self.at)


class Aligner:
    """Finds mentions of names in one question."""

    def __init__(self, question: Question, weights: Weights) -> None:
        self._question = question
        self._weights = weights
        self._windows, self._initials = _windows(question)

    def mentions(self, parts: Iterable[Part], aliases: Mapping[str, Sequence[str]]) -> tuple[Mention, ...]:
        """The mentions that hold: a longer or fuller name takes its words from the names that share them.

        Names that match the same words equally well are all kept, as alternatives.
        """
        found = [mention for part in parts if (mention := self._best(part, aliases.get(part.text, ()))) is not None]
        found.sort(key=lambda mention: (-min(mention.score, _ACRONYM) * mention.weight, -mention.score, mention.first))
        kept: list[Mention] = []
        for mention in found:
            rivals = [other for other in kept if other.at & mention.at]
            if all(_equal(mention, other) or self._sibling(mention, other) for other in rivals):
                kept.append(mention)
        return tuple(kept)

    def _sibling(self, mention: Mention, other: Mention) -> bool:
        """Whether two names of a level share a word that the question says once ("LoRA rank and alpha")."""
        same = (mention.part.axis, mention.part.level) == (other.part.axis, other.part.level)
        own = self.weight(mention.at - other.at)
        return same and mention.score >= _WHOLE and 2 * own >= self.weight(mention.at)

    def weight(self, at: Iterable[int]) -> float:
        """The summed weight of the question's words at these indices."""
        return sum(self._weights.of(self._question.words[index].text) for index in at)

    def _best(self, part: Part, aliases: Sequence[str]) -> Mention | None:
        forms = dict.fromkeys((part.text, strip_citations(part.text), *aliases))
        matches = [match for form in forms for match in self._matches(form)]
        for bare, least in ((strip_remark(part.text), 1.0), (_head(part), _HEAD)):
            if bare not in forms:
                matches += [(at, score * _BARE) for at, score in self._matches(bare) if score >= least]
        if not matches:
            return None
        at, score = max(matches, key=lambda match: (match[1] * self.weight(match[0]), match[1], -min(match[0])))
        return Mention(part=part, at=at, score=score, weight=self.weight(at) + 0.01 * len(at))

    def _matches(self, form: str) -> list[tuple[frozenset[int], float]]:
        words = tokens(form)
        if all(word.sign or word.text in FUNCTION_WORDS for word in words):
            return []
        compact = "".join(word.text for word in words)
        found = [(at, self._bordered(at)) for at in self._windows.get(compact, ())]
        if form.isupper() and form.isalpha():
            found += [(at, _ACRONYM) for at in self._initials.get(form.casefold(), ())]
        found = [(at, score) for at, score in found if score > 0]
        if found:
            return found
        partial = self._partial(form)
        return [partial] if partial is not None else []

    def _bordered(self, at: frozenset[int]) -> float:
        """1 for a name that stands by itself, less where a hyphen prolongs it, 0 for a piece of a joined one."""
        if any(at & group and not group <= at for group in self._question.joined):
            return 0.0
        words, text = self._question.words, self._question.text
        first, last = min(at), max(at)
        before = first > 0 and text[words[first - 1].end : words[first].start] == "-"
        behind = last + 1 < len(words) and text[words[last].end : words[last + 1].start] == "-"
        return _HYPHENATED if before or behind else 1.0

    def _partial(self, form: str) -> tuple[frozenset[int], float] | None:
        words = [word for word in tokens(form) if not word.sign and word.text not in FUNCTION_WORDS]
        total = self._weights.total(words)
        held, at = 0.0, set[int]()
        for word in words:
            likest, index = max(
                ((_named_by(word.text, other.text), -index) for index, other in enumerate(self._question.words)),
                default=(0.0, 0),
            )
            if likest > 0:
                held += likest * self._weights.of(word.text)
                at.add(-index)
        share = held / total if total else 0.0
        if share < _LEAST_SHARE or any(
            at & group and not group - self._signs() <= at for group in self._question.joined
        ):
            return None
        signed = any(word.sign for word in tokens(form))
        return frozenset(at), min(share, _WHOLE) * (_UNSIGNED if signed else 1.0)

    def _signs(self) -> set[int]:
        return {index for index, word in enumerate(self._question.words) if word.sign}


def _head(part: Part) -> str:
    """A column's name without what follows its comma: "Tokens, padding left out"."""
    return part.text.partition(",")[0].strip() if part.axis == "column" else part.text


def _named_by(header: str, asked: str) -> float:
    """Headers abbreviate what questions spell out; a question's short word never stands for a longer name."""
    alike = likeness(header, asked)
    return alike if asked not in FUNCTION_WORDS and (alike > 0.7 or len(header) < len(asked)) else 0.0


def _equal(one: Mention, other: Mention) -> bool:
    return one.at == other.at and math.isclose(one.score, other.score)


_Windows = dict[str, list[frozenset[int]]]


def _windows(question: Question) -> tuple[_Windows, _Windows]:
    """All runs of words by their letters without gaps, and by their initials."""
    runs: _Windows = {}
    initials: _Windows = {}
    words = question.words
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1):
            within = [index for index in range(start, end) if words[index].text != "and"]
            if not within or words[start].text == "and" or words[end - 1].text == "and":
                continue
            at = frozenset(within)
            runs.setdefault("".join(words[index].text for index in within), []).append(at)
            if 2 <= len(within) <= 5:
                initials.setdefault("".join(words[index].text[0] for index in within), []).append(at)
    return runs, initials
