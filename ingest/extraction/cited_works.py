"""Entities for the paper itself and the works that it cites."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.document.authors import authors_of
from ingest.document.element_text import element_text
from ingest.document.references import title_of
from ingest.extraction.mentions import Sentence, SentenceEntities, excerpt, sentence_relation
from paperscope_core.text.words import entity_key
from paperscope_core.types import WORK, Entity, Extraction, Paper, Passage, Reference, Relation

__all__ = ["citations"]

# The most sentences that cite a work, and entities of each, that are linked to it.
_MAX_SENTENCES = 3
_MAX_TERMS = 2
_MAX_OWN = 5
# Two works of one bibliography share a title of fewer words, such as "Introduction".
_TELLING_WORDS = 3
# Two works whose titles begin with as many letters are one.
_MAX_ID_LENGTH = 300
# Less than any statement of the text: citations are frequent and carry little information.
_WEIGHT = 0.25
_MARK = re.compile(r"\[\S{0,40}\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cited:
    """A cited work (its sources are its entries in the bibliography), and the numbers of the citing sentences."""

    entity: Entity
    sentences: tuple[int, ...]


def citations(paper: Paper, named: SentenceEntities) -> Extraction:
    """Return the paper and the works that it cites as entities, with relations `cites`, `cited with` and `mentions`.

    The id of a work is derived from its title and the first author's surname, so that it is one entity in all papers
    that cite it, and for the paper itself; the year is omitted, because a preprint's differs from the journal's. A work
    whose title can't be read is named as it is cited and belongs to this paper only.
    """
    own = _own_work(paper)
    if own is None:
        return Extraction(entities=(), relations=())
    cited = [one for one in _cited(paper, named) if one.entity.id != own.id]
    relations = (
        *(_cites(own, one, named) for one in cited),
        *(relation for one in cited for relation in _cited_with(one, named)),
        *_abstract_mentions(paper, own, named),
    )
    entities = (own, *(one.entity for one in cited)) if relations else ()
    return Extraction(entities=entities, relations=relations)


def _own_work(paper: Paper) -> Entity | None:
    """Return the paper itself as an entity; None if no element contains its title."""
    key = entity_key(paper.title)
    sources = tuple(
        element.id
        for element in paper.elements
        if isinstance(element, Passage) and element.role == "title" and key in entity_key(element.text)
    )
    if not key or not sources:
        return None
    author = authors_of(f"{paper.authors[0]}. 2000.").names[:1] if paper.authors else ()
    id_ = _work_id(paper.title, author[0]) if author else f"{paper.id}/work"
    return Entity(id=id_, name=paper.title, type=WORK, description=excerpt(paper.title), sources=sources)


def _cited(paper: Paper, named: SentenceEntities) -> Iterator[_Cited]:
    """Yield the cited works: entries of one title and author are one, and entries of one longer title even if their
    authors are read differently."""
    works: dict[str, list[Reference]] = defaultdict(list)
    names: dict[str, str] = {}
    titled: dict[str, str] = {}
    for element in paper.elements:
        if isinstance(element, Reference):
            id_, name = _named(element)
            if len(name.split()) >= _TELLING_WORDS:
                id_ = titled.setdefault(_letters(name), id_)
            if name:
                names.setdefault(id_, name)
                works[id_].append(element)
    citing = _citing(paper, named.sentences)
    for id_, entries in works.items():
        labels = {entity_key(entry.label): entry.label for entry in entries if not _MARK.fullmatch(entry.label)}
        labels.pop(entity_key(names[id_]), None)
        entity = Entity(
            id=id_,
            name=names[id_],
            type=WORK,
            description=excerpt(element_text(entries[0])),
            sources=tuple(entry.id for entry in entries),
            aliases=tuple(label for key, label in labels.items() if key),
        )
        sentences = sorted({number for entry in entries for number in citing[entry.id]})
        yield _Cited(entity=entity, sentences=tuple(sentences))


def _named(reference: Reference) -> tuple[str, str]:
    """Return the id and name of an entry's work; its label is the name if the title can't be read."""
    title = title_of(reference.text)
    author = authors_of(_MARK.sub("", reference.text, count=1).lstrip("0123456789. ")).names[:1]
    if title and author:
        return _work_id(title, author[0]), title
    return reference.id, reference.label


def _work_id(title: str, surname: str) -> str:
    """Return the id of a work, which is independent of spacing, hyphens and accents."""
    return f"{WORK} {_letters(surname)} {_letters(title)}"[:_MAX_ID_LENGTH]


def _letters(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())


def _citing(paper: Paper, sentences: Sequence[Sentence]) -> Mapping[str, list[int]]:
    """Return the numbers of the sentences that cite each entry."""
    entries = {element.id for element in paper.elements if isinstance(element, Reference)}
    marks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for link in paper.links:
        if link.target in entries:
            marks[link.source].append((" ".join(link.text.split()), link.target))
    citing: dict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for mark, entry in marks.get(sentence.element, ()):
            if mark and mark in sentence.text:
                citing[entry].append(number)
    return citing


def _cites(own: Entity, cited: _Cited, named: SentenceEntities) -> Relation:
    """Return the relation `cites`; its evidence is the first sentence that cites the work, or the entry if none
    does."""
    sentences = [named.sentences[number] for number in cited.sentences]
    return Relation(
        source=own.id,
        target=cited.entity.id,
        kind="cites",
        description=excerpt(sentences[0].text) if sentences else cited.entity.description,
        sources=tuple(dict.fromkeys((*(sentence.element for sentence in sentences), *cited.entity.sources))),
        weight=_WEIGHT,
    )


def _cited_with(cited: _Cited, named: SentenceEntities) -> Iterator[Relation]:
    for number in cited.sentences[:_MAX_SENTENCES]:
        for entity in named.best(named.ids[number], _MAX_TERMS):
            yield sentence_relation(entity, cited.entity.id, "cited with", [named.sentences[number]], weight=_WEIGHT)


def _abstract_mentions(paper: Paper, own: Entity, named: SentenceEntities) -> Iterator[Relation]:
    """Yield relations to the entities of the abstract."""
    abstract = {e.id for e in paper.elements if isinstance(e, Passage) and e.role == "abstract"}
    first: dict[str, Sentence] = {}
    for sentence, entities in zip(named.sentences, named.ids, strict=True):
        if sentence.element in abstract:
            for entity in entities:
                first.setdefault(entity, sentence)
    for entity in named.best(first, _MAX_OWN):
        yield sentence_relation(own.id, entity, "mentions", [first[entity]], weight=_WEIGHT)
