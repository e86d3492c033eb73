"""Does what the graph says stand where it says so?"""

from collections.abc import Iterable, Iterator, Mapping, Set

from evaluation.graph.matches import forms_of
from evaluation.values import Miss, Score, Tally
from ingest.document.element_text import element_text
from paperscope_core.text.words import entity_key
from paperscope_core.types import WORK, Entity, Extraction, Paper, Relation

__all__ = ["score_grounding"]


def score_grounding(paper: Paper, extraction: Extraction) -> Score:
    """grounded.entities: in each of an entity's elements stands its name or an alias; grounded.relations: in one of a
    relation's elements (captions and labels included) stand both ends, or one beside the float that is the other.

    Whole words only; case, hyphens and blanks are folded. A work stands also where the text cites it, and the paper
    itself in each of its elements.
    """
    folded = {element.id: entity_key(element_text(element)) for element in paper.elements}
    entities = {entity.id: entity for entity in extraction.entities}
    loose = [entity for entity in extraction.entities if not _entity_stands(entity, folded)]
    works = {
        (source, entity.id)
        for entity in extraction.entities
        if entity.type == WORK
        for source in (folded if entity.name == paper.title else _citing(paper, entity))
    }
    unfounded = [one for one in extraction.relations if not _relation_stands(one, entities, folded, works)]
    return Score(
        tallies={
            "grounded.entities": _all_but(len(loose), len(extraction.entities)),
            "grounded.relations": _all_but(len(unfounded), len(extraction.relations)),
        },
        misses=(*map(_entity_miss, loose), *(_relation_miss(relation, entities) for relation in unfounded)),
    )


def _all_but(wrong: int, total: int) -> Tally:
    return Tally(right=total - wrong, total=total)


def _entity_stands(entity: Entity, folded: Mapping[str, str]) -> bool:
    forms = forms_of(entity)
    return bool(entity.sources) and all(_any_stands(forms, folded.get(source, "")) for source in entity.sources)


def _citing(paper: Paper, work: Entity) -> Iterator[str]:
    return (link.source for link in paper.links if link.target in work.sources)


def _relation_stands(
    relation: Relation, entities: Mapping[str, Entity], folded: Mapping[str, str], works: Set[tuple[str, str]]
) -> bool:
    ends = [entities.get(end) for end in (relation.source, relation.target)]
    known = [entity for entity in ends if entity]
    return len(known) == 2 and any(
        all(
            entity.id == source or (source, entity.id) in works or _any_stands(forms_of(entity), folded.get(source, ""))
            for entity in known
        )
        for source in relation.sources
    )


def _any_stands(forms: Iterable[str], text: str) -> bool:
    return any(_is_word(text, form, start) for form in forms for start in _starts(text, form))


def _starts(text: str, form: str) -> Iterator[int]:
    start = text.find(form)
    while start >= 0:
        yield start
        start = text.find(form, start + 1)


def _is_word(text: str, form: str, start: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[start + len(form) : start + len(form) + 1]
    return not (before.isalnum() and form[0].isalnum()) and not (after.isalnum() and form[-1].isalnum())


def _entity_miss(entity: Entity) -> Miss:
    return Miss(metric="grounded.entities", what=entity.type, gold=entity.name, got=", ".join(entity.sources))


def _relation_miss(relation: Relation, entities: Mapping[str, Entity]) -> Miss:
    ends = [entities[end].name if end in entities else end for end in (relation.source, relation.target)]
    return Miss(metric="grounded.relations", what=relation.kind, gold=" -- ".join(ends), got=relation.description)
