"""Selects the images that a vision model should read for a question."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from paperscope_core.protocols import Corpus
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Equation, Figure, Paper, Table
from query.content_words import Rarity, content_words
from query.element_views import ImageElement, element_text, has_image
from query.question.named_elements import References
from query.retrieval.candidates import CandidatePool

__all__ = ["ImageCandidate", "ImageSelector", "image_candidates"]

# Words of questions about the content of such an element.
_CUES: dict[type[ImageElement], re.Pattern[str]] = {
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
# Weight of the text that refers to an image. These four were chosen on the fitting part of MMLongBench: 10 of its 11
# questions on tables and figures select an image of the right page, with 18 images selected in total.
_SAID = 0.5
_NEARNESS = 0.3
_ENOUGH = 0.45
_NEAR_THE_BEST = 0.75
# Nearness of an image relative to the text that refers to it.
_HOP = 0.4
# Entities seen in more images than this do not distinguish images.
_COMMON = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageCandidate:
    """An image that may be read: the text that refers to it, and the nearness (0 to 1) of the text in and around it."""

    picture: ImageElement
    nearness: float = 0.0
    said: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageSelector:
    """Ranks images for one question, which names `references`."""

    question: str
    rarity: Rarity
    references: References

    def choose(self, candidates: Sequence[ImageCandidate], *, limit: int) -> list[ImageElement]:
        """At most `limit` images, best first: those whose score is high enough and close to the best."""
        asked = content_words(self.question)
        scored = [
            (self._score(one, asked), one.picture)
            for one in candidates
            if one.picture.crop is not None and self._in_question(one.picture)
        ]
        floor = max(_ENOUGH, _NEAR_THE_BEST * max((score for score, _ in scored), default=0.0))
        chosen = sorted((one for one in scored if one[0] >= floor), key=lambda one: -one[0])
        return [picture for _, picture in chosen[:limit]]

    def _score(self, candidate: ImageCandidate, asked: Set[str]) -> float:
        picture = candidate.picture
        shown = element_text(picture)
        return (
            (1 - _SAID) * self.rarity.coverage(asked, shown)
            + _SAID * self.rarity.coverage(asked, f"{shown}\n{candidate.said}")
            + _NEARNESS * candidate.nearness
            + _CUE * (_CUES[type(picture)].search(self.question) is not None)
            + _NAMED * (picture.id in self.references.elements)
            + _SURROUNDED * (picture.id in self.references.surroundings)
        )

    def _in_question(self, picture: ImageElement) -> bool:
        """Return whether to consider an image. A formula is read only if the question asks for one, because its text
        seldom says what it is about."""
        if not isinstance(picture, Equation) or picture.id in self.references.elements:
            return True
        return _CUES[Equation].search(self.question) is not None


def image_candidates(
    corpus: Corpus, pool: CandidatePool, papers: Sequence[Paper], entities: Sequence[Sequence[str]]
) -> list[ImageCandidate]:
    """Return the images in candidate chunks, those that these chunks refer to ("see Fig. 3"), and those in which the
    entities appear; nearest first.

    Args:
        entities: For each entity, the ids of the elements that name it.
    """
    nearness: dict[str, float] = {}
    for chunk in pool.chunks():
        for key in filter(has_image, chunk.elements):
            nearness.setdefault(key, pool.nearness(chunk.id))
    for target, near in pool.linked(papers).items():
        nearness[target] = max(_HOP * near, nearness.get(target, 0.0))
    for sources in entities:
        pictured = [source for source in sources if has_image(source)]
        if len(pictured) <= _COMMON:
            nearness |= {source: 0.0 for source in pictured if source not in nearness}
    said = _said(corpus, nearness, papers)
    pictures = pool.elements(sorted(nearness, key=lambda key: -nearness[key]))
    return [
        ImageCandidate(picture=picture, nearness=nearness[key], said="\n".join(said[key]))
        for key, picture in pictures.items()
        if isinstance(picture, ImageElement)
    ]


def _said(corpus: Corpus, pictures: Iterable[str], papers: Sequence[Paper]) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {key: [] for key in pictures}
    for chunk in corpus.chunks_of(list(said)):
        for key in said.keys() & set(chunk.elements):
            said[key].append(chunk.seen)
    links = [link for paper in papers for link in paper.links if link.target in said]
    wanted = {link.source for link in links}
    texts = {one.id: element_text(one) for paper in papers for one in paper.elements if one.id in wanted}
    for link in links:
        said[link.target] += [one for one in split_sentences(texts.get(link.source, "")) if link.text in one]
    return said
