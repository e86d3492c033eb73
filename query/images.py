"""Which pictures are worth a vision call: few, and only those that bear on the question."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from paperscope.types import Equation, Figure, Table
from query.element_text import Pictured, element_text
from query.references import References
from query.words import Rarity, content_words

__all__ = ["Candidate", "ImageChooser"]

# What a question says when it asks for what only such an element shows.
_CUES: dict[type[Pictured], re.Pattern[str]] = {
    Table: re.compile(r"(?i)\b(tables?|rows?|columns?)\b"),
    Figure: re.compile(
        r"(?i)\b(fig(ure)?s?|plots?|charts?|graphs?|curves?|diagrams?|images?|pictures?|photos?|maps?|illustrations?"
        r"|bars?|axis|axes|legends?|colou?r(ed|s)?|arrows?|drawn|depicted|panels?|spectr(um|a)|architecture)\b"
    ),
    Equation: re.compile(
        r"(?i)\b(equations?|eqs?|formulas?|formulae|formulat\w+|calculat\w+|comput\w+|defin\w+|deriv\w+|coefficients?"
        r"|express\w+|loss(es)?|objective|gradient|integral|variables?|parameters?|symbols?|terms?)\b|[α-ωΑ-Ω=∑∫]"
    ),
}
_CUE = 0.2
_NAMED = 2.0
_SURROUNDED = 0.5
# What is said of a picture elsewhere counts half of what it shows itself. These four are chosen on the fitting part of
# MMLongBench: of its 11 questions on tables and figures 10 get a picture of the right page, with 18 looked at in all.
_SAID = 0.5
_NEARNESS = 0.3
_ENOUGH = 0.45
_NEAR_THE_BEST = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A picture that may be read: what else is said of it, and how well (0 to 1) the text in and round it was
    retrieved, by words and vectors."""

    picture: Pictured
    nearness: float = 0.0
    said: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageChooser:
    """Ranks pictures for one question, which names `references`."""

    question: str
    rarity: Rarity
    references: References

    def choose(self, candidates: Sequence[Candidate], *, limit: int) -> list[Pictured]:
        """At most `limit` pictures, best first: those whose score is high enough and near the best."""
        asked = content_words(self.question)
        scored = [
            (self._score(one, asked), one.picture)
            for one in candidates
            if one.picture.crop is not None and self._in_question(one.picture)
        ]
        floor = max(_ENOUGH, _NEAR_THE_BEST * max((score for score, _ in scored), default=0.0))
        chosen = sorted((one for one in scored if one[0] >= floor), key=lambda one: -one[0])
        return [picture for _, picture in chosen[:limit]]

    def _score(self, candidate: Candidate, asked: Set[str]) -> float:
        picture = candidate.picture
        shown = element_text(picture)
        score = (1 - _SAID) * self.rarity.coverage(asked, shown)
        score += _SAID * self.rarity.coverage(asked, f"{shown}\n{candidate.said}")
        score += _NEARNESS * candidate.nearness
        score += _CUE * (_CUES[type(picture)].search(self.question) is not None)
        score += _NAMED * (picture.id in self.references.elements)
        return score + _SURROUNDED * (picture.id in self.references.surroundings)

    def _in_question(self, picture: Pictured) -> bool:
        """A formula is worth a look only if the question asks for one: its text seldom tells what it is about."""
        if not isinstance(picture, Equation) or picture.id in self.references.elements:
            return True
        return _CUES[Equation].search(self.question) is not None
