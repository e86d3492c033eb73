"""The pictures that may be worth a look for a question: those one hop from what was found."""

from collections.abc import Iterable, Sequence

from paperscope.protocols import Corpus
from paperscope.sentences import sentences
from paperscope.types import Paper
from query.element_text import Pictured, element_text, is_pictured
from query.images import Candidate
from query.pool import Pool

__all__ = ["picture_candidates"]

# One hop on, a picture is this much as near as the text that refers to it.
_HOP = 0.4
# What a common entity is seen in tells no picture from another.
_COMMON = 10


def picture_candidates(
    corpus: Corpus, pool: Pool, papers: Sequence[Paper], entities: Sequence[Sequence[str]]
) -> list[Candidate]:
    """The pictures of the pool's chunks, those that these chunks refer to ("see Fig. 3"), and those that the entities,
    each given by the elements that name it, are seen in; nearest first.

    What is said of each is what a vision model saw in it and the sentences of its paper that refer to it.
    """
    nearness = _of_chunks(pool)
    for target, near in pool.linked(papers).items():
        nearness[target] = max(_HOP * near, nearness.get(target, 0.0))
    for sources in entities:
        pictured = [source for source in sources if is_pictured(source)]
        if len(pictured) <= _COMMON:
            nearness |= {source: 0.0 for source in pictured if source not in nearness}
    said = _said(corpus, nearness, papers)
    pictures = pool.elements(sorted(nearness, key=lambda key: -nearness[key]))
    return [
        Candidate(picture=picture, nearness=nearness[key], said="\n".join(said[key]))
        for key, picture in pictures.items()
        if isinstance(picture, Pictured)
    ]


def _of_chunks(pool: Pool) -> dict[str, float]:
    """A picture is as near as the best chunk that holds it."""
    nearness: dict[str, float] = {}
    for chunk in pool.chunks():
        for key in chunk.elements:
            if is_pictured(key):
                nearness.setdefault(key, pool.nearness(chunk.id))
    return nearness


def _said(corpus: Corpus, pictures: Iterable[str], papers: Sequence[Paper]) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {key: [] for key in pictures}
    for chunk in corpus.chunks_of(list(said)):
        for key in said.keys() & set(chunk.elements):
            said[key].append(chunk.seen)
    links = [link for paper in papers for link in paper.links if link.target in said]
    wanted = {link.source for link in links}
    texts = {one.id: element_text(one) for paper in papers for one in paper.elements if one.id in wanted}
    for link in links:
        said[link.target] += [one for one in sentences(texts.get(link.source, "")) if link.text in one]
    return said
