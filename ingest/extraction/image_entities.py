"""Entities and relations from a vision model's descriptions of images."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.mentions import TermFinder, is_coined, read_paper, variant_key
from ingest.extraction.merge import combine
from ingest.extraction.sentences import excerpt
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Chunk,
    DataPoint,
    Entity,
    Extraction,
    ImageDescription,
    Paper,
    PaperImages,
    Relation,
    SeenEntity,
    model_words,
)

__all__ = ["add_to_chunks", "add_to_graph"]

_MOST_POINTS = 30


def add_to_graph(
    paper: Paper, extraction: Extraction, images: PaperImages, *, types: TypeSystem = TypeSystem()
) -> Extraction:
    """Adds the descriptions of images to an extraction.

    An image's entity gets its description, and a relation `depicts` to each entity seen in it. A name that the paper
    uses, too (its plural, an alias), means the paper's entity, which is unchanged; any other name becomes an entity
    whose description says that it was seen in an image. If such a name is specific (several words, or capitals or
    digits within), the elements that contain it are its sources, too.
    """
    entities = {entity.id: entity for entity in extraction.entities}
    own = _own_names(extraction.entities)
    sightings: dict[str, list[tuple[SeenEntity, Relation]]] = defaultdict(list)
    for description in images.descriptions:
        picture = entities.get(description.element) or _unnamed(description, entities.values())
        words = (picture.description, model_words(_summary(description)))
        entities[picture.id] = replace(picture, description="\n".join(filter(None, words)))
        for seen in description.entities:
            home = own.get(entity_key(seen.name)) or own.get(variant_key(seen.name)) or entity_key(seen.name)
            said = model_words(f"seen in {picture.name}: {seen.description or seen.name}")
            depicts = Relation(source=picture.id, target=home, kind="depicts", description=said, sources=(picture.id,))
            sightings[home].append((seen, depicts))
    fresh = _written([_entity(found, types) for home, found in sightings.items() if home not in entities], paper)
    relations = [
        depicts
        for home, found in sightings.items()
        if home not in entities or entities[home].type not in FLOATS
        for _, depicts in found
    ]
    return combine(
        replace(extraction, entities=(*entities.values(), *fresh), relations=(*extraction.relations, *relations)),
        types=types,
    )


def add_to_chunks(chunks: Sequence[Chunk], images: PaperImages) -> tuple[Chunk, ...]:
    """Adds the descriptions of images to their chunks; the chunks' own text is unchanged."""
    seen = {description.element: description for description in images.descriptions}
    return tuple(
        replace(
            chunk, seen="\n".join(_seen_text(seen[element], chunk) for element in chunk.elements if element in seen)
        )
        for chunk in chunks
    )


def _own_names(entities: Iterable[Entity]) -> Mapping[str, str]:
    """Returns the entity that each folded name means; an ambiguous name means only the entity with that id."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entity in entities:
        if entity.type not in FLOATS:
            for name in (entity.name, *entity.aliases):
                owners[entity_key(name)].add(entity.id)
                owners[variant_key(name)].add(entity.id)
    ids = {entity.id: entity.id for entity in entities}
    return {key: next(iter(found)) for key, found in owners.items() if len(found) == 1} | ids


def _unnamed(description: ImageDescription, entities: Iterable[Entity]) -> Entity:
    """Returns the entity of an image without label and text, named by its kind and page."""
    kind, *_, number = description.element.rpartition("/")[2].split("-")
    taken = {entity_key(entity.name) for entity in entities}
    name = f"{kind} on page {description.place.page}"
    return Entity(
        id=description.element,
        name=f"{name} ({number})" if entity_key(name) in taken else name,
        type=kind,
        description="",
        sources=(description.element,),
    )


def _entity(sightings: Sequence[tuple[SeenEntity, Relation]], types: TypeSystem) -> Entity:
    seen, depicts = sightings[0]
    return Entity(
        id=depicts.target,
        name=seen.name,
        type=types.first(seen.type for seen, _ in sightings),
        description="\n".join(dict.fromkeys(depicts.description for _, depicts in sightings)),
        sources=tuple(dict.fromkeys(depicts.source for _, depicts in sightings)),
    )


def _written(entities: Sequence[Entity], paper: Paper) -> list[Entity]:
    """Adds the elements that name the entities to their sources, and the first such sentence to their descriptions."""
    telling = [entity for entity in entities if " " in entity.name or is_coined(entity.name)]
    text = read_paper(paper)
    finder = TermFinder({entity.id: (entity.name,) for entity in telling})
    elements = finder.holders(text.texts)
    sentences = finder.holders({sentence.text: sentence.text for sentence in text.sentences})
    return [
        replace(
            entity,
            description="\n".join(filter(None, (*map(excerpt, sentences.get(entity.id, ())[:1]), entity.description))),
            sources=tuple(dict.fromkeys((*entity.sources, *elements.get(entity.id, ())))),
        )
        for entity in entities
    ]


def _summary(description: ImageDescription) -> str:
    latex = f"LaTeX: {description.latex}" if description.latex else ""
    return "\n".join(filter(None, (description.text, latex)))


def _seen_text(description: ImageDescription, chunk: Chunk) -> str:
    """Returns the searchable text of a description, without lines that the chunk contains as well."""
    own = entity_key(chunk.text)
    lines = [line for line in description.visible_text if entity_key(line) not in own]
    points = [_point(point) for point in description.points[:_MOST_POINTS]]
    parts = (
        _summary(description),
        excerpt(f"Printed in it: {'; '.join(lines)}") if lines else "",
        f"Read off: {'; '.join(points)}" if points else "",
    )
    return "\n".join(filter(None, parts))


def _point(point: DataPoint) -> str:
    value = f"{point.x}: {'about ' if point.estimated else ''}{point.y}"
    return f"{point.series}, {value}" if point.series else value
