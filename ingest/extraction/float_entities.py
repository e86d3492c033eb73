"""Tables, figures and equations as entities, with relations to their contents and to what a model saw in them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.document.element_text import element_text
from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.mentions import (
    PaperText,
    Sentence,
    SentenceEntities,
    TermFinder,
    excerpt,
    is_coined,
    read_paper,
    sentence_relation,
    variant_key,
)
from ingest.extraction.merge import combine
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Chunk,
    DataPoint,
    Entity,
    Equation,
    Extraction,
    Figure,
    ImageDescription,
    Link,
    Paper,
    PaperImages,
    Passage,
    Relation,
    SeenEntity,
    Table,
    model_words,
)

__all__ = [
    "FloatMention",
    "add_to_chunks",
    "add_to_graph",
    "float_entities",
    "float_mentions",
    "float_relations",
    "inner_relations",
    "nearby_relations",
]

_MAX_MENTIONS = 3
_MAX_TERMS = 8
# Tables of a section that are named by it.
_MOST_IN_A_SECTION = 20
_NAME_WORDS = 12
_INNER = 300
_MAX_NEAR = 3

_MOST_POINTS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatMention:
    """A sentence, by its number, that belongs to a float's caption, names the float or surrounds it (`around`)."""

    float: str
    sentence: int
    around: bool = False


def _floats(paper: Paper) -> list[Table | Figure | Equation]:
    return [element for element in paper.elements if isinstance(element, Table | Figure | Equation)]


def float_mentions(paper: Paper, text: PaperText) -> list[FloatMention]:
    """Return the sentences of each float: its caption, those that name it, and those around an equation."""
    by_link: dict[str, list[tuple[str, re.Pattern[str]]]] = defaultdict(list)
    ids = {element.id for element in _floats(paper)}
    for link in paper.links:
        if link.target in ids and entity_key(link.text):
            by_link[link.source].append((link.target, _label_pattern(link.text)))
    by_label = [(e.id, _label_pattern(e.label)) for e in _floats(paper) if entity_key(e.label)]
    found: list[FloatMention] = []
    for number, sentence in enumerate(text.sentences):
        if sentence.caption:
            found.append(FloatMention(float=sentence.element, sentence=number))
            continue
        folded = entity_key(sentence.text)
        for target, label in (*by_link[sentence.element], *by_label):
            if label.search(folded):
                found.append(FloatMention(float=target, sentence=number))
    naming = {(mention.float, mention.sentence) for mention in found}
    around = (one for one in _equation_neighbours(paper, text) if (one.float, one.sentence) not in naming)
    return list(dict.fromkeys([*found, *around]))


def _label_pattern(label: str) -> re.Pattern[str]:
    """Match `figure 1` in a folded text, but not the beginning of `figure 10` or `figure 1.2`."""
    return re.compile(rf"{re.escape(entity_key(label))}(?!\.?\d)")


def _equation_neighbours(paper: Paper, text: PaperText) -> Iterator[FloatMention]:
    """Yield the two sentences before an equation, and the one after it if it begins in lower case ("where p is")."""
    of_element: dict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(text.sentences):
        if not sentence.caption:
            of_element[sentence.element].append(number)
    passages = [element for element in paper.elements if isinstance(element, Passage) and element.id in of_element]
    for equation in _floats(paper):
        if not isinstance(equation, Equation):
            continue
        near = [passage for passage in passages if passage.section == equation.section]
        before = [of_element[passage.id] for passage in near if passage.order < equation.order][-1:]
        after = [of_element[passage.id] for passage in near if passage.order > equation.order][:1]
        explaining = [numbers[0] for numbers in after if text.sentences[numbers[0]].text[:1].islower()]
        for number in (*(number for numbers in before for number in numbers[-2:]), *explaining):
            yield FloatMention(float=equation.id, sentence=number, around=True)


def float_entities(paper: Paper, text: PaperText, mentions: Sequence[FloatMention]) -> list[Entity]:
    """Return one entity per float: its id is the element's, its name the label, the section of a table without caption
    ("Table: Results"), or the beginning of its text.

    The description consists of the caption (an equation's text), the text inside a figure, and the first sentences that
    mention it. A float without label and text is left out.
    """
    sentences_of: dict[str, list[Sentence]] = defaultdict(list)
    for mention in mentions:
        sentences_of[mention.float].append(text.sentences[mention.sentence])
    entities: list[Entity] = []
    taken: set[str] = set()
    titles = {section.id: section.title for section in paper.sections}
    for element in _floats(paper):
        words = " ".join(element_text(element).split())
        start = " ".join(words.split()[:_NAME_WORDS])
        names = (element.label, *_names_by_section(element, titles), start, words)
        name = next((name for name in names if name and entity_key(name) not in taken), "")
        if not name:
            continue
        taken.add(entity_key(name))
        own = words if isinstance(element, Equation) or not element.caption else element_text(element).splitlines()[0]
        mentioning = [sentence.text for sentence in sentences_of[element.id] if not sentence.caption][:_MAX_MENTIONS]
        aliases = _aliases(element.id, paper.links, text, name)
        places = [element.id, *(sentence.element for sentence in sentences_of[element.id]), *(a[0] for a in aliases)]
        entities.append(
            Entity(
                id=element.id,
                name=name,
                type=element.kind,
                description="\n".join([excerpt(own), *_inner_words(element), *map(excerpt, mentioning)]),
                sources=tuple(dict.fromkeys((element.id, *text.holding([name, *(a[1] for a in aliases)], places)))),
                aliases=tuple({entity_key(a[1]): a[1] for a in aliases}.values()),
            )
        )
    return entities


def _names_by_section(element: Table | Figure | Equation, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield names of a table without caption: its text is its cells, which name nothing."""
    if isinstance(element, Table) and not element.caption and (title := titles.get(element.section)):
        yield f"Table: {title}"
        yield from (f"Table: {title} ({number})" for number in range(2, _MOST_IN_A_SECTION + 1))


def _inner_words(element: Table | Figure | Equation) -> list[str]:
    """Return the text inside a figure, such as axis labels, and the captions of its panels."""
    if not isinstance(element, Figure):
        return []
    caption = entity_key(element.caption)
    parts = [f"({part.mark}) {part.caption}" for part in element.panels if entity_key(part.caption) not in caption]
    return [excerpt(text, limit=_INNER) for text in (*parts, element.text) if text.strip()]


def _aliases(element: str, links: Sequence[Link], text: PaperText, name: str) -> list[tuple[str, str]]:
    """Return other names of a float in links ("Fig. 3", "Eq. (3)"), each with the element that contains it."""
    targets: dict[str, set[str]] = defaultdict(set)
    for link in links:
        targets[_link_name(link)].add(link.target)
    return [
        (link.source, alias)
        for link in links
        if (alias := _link_name(link))
        and targets[alias] == {element}
        and entity_key(alias) != entity_key(name)
        and text.holding([alias], [link.source])
    ]


def _link_name(link: Link) -> str:
    """Return the link's text if it names its target by a word and a number, without an unmatched bracket; else ""."""
    text = link.text.rstrip(")") if link.text.count(")") > link.text.count("(") else link.text
    named = any(character.isalpha() for character in text) and any(character.isdigit() for character in text)
    return text if named else ""


def float_relations(mentions: Sequence[FloatMention], named: SentenceEntities) -> Iterator[Relation]:
    """Yield relations: a float `shows` what its caption names, and `mentions` what sentences about it name; the best
    entities of a sentence are linked."""
    for mention in mentions:
        sentence = named.sentences[mention.sentence]
        for entity in named.best(named.ids[mention.sentence], _MAX_NEAR if mention.around else _MAX_TERMS):
            yield sentence_relation(mention.float, entity, "shows" if sentence.caption else "mentions", [sentence])


def inner_relations(paper: Paper, finder: TermFinder) -> Iterator[Relation]:
    """Yield relations from a figure, which `shows` what its inner text names."""
    for element in _floats(paper):
        for words in _inner_words(element):
            description = excerpt(" | ".join(filter(None, (element.label, words))))
            for entity in finder.find(words):
                yield Relation(
                    source=element.id, target=entity, kind="shows", description=description, sources=(element.id,)
                )


def nearby_relations(paper: Paper, named: SentenceEntities, linked: Collection[str]) -> Iterator[Relation]:
    """Yield `near` relations from floats without relations to the best entities of the nearest sentence."""
    elements = {element.id: element for element in paper.elements}
    naming = [
        (elements[sentence.element], sentence, ids)
        for sentence, ids in zip(named.sentences, named.ids, strict=True)
        if ids
    ]
    for element in _floats(paper):
        near = [
            (holder.order - element.order, number, sentence, ids)
            for number, (holder, sentence, ids) in enumerate(naming)
            if holder.section == element.section
        ]
        if element.id in linked or not near:
            continue
        # The last sentence before it, or else the first one after it.
        _, _, sentence, ids = min(near, key=lambda one: (abs(one[0]), -one[1] if one[0] < 0 else one[1]))
        for entity in named.best(ids, _MAX_NEAR):
            yield sentence_relation(element.id, entity, "near", [sentence], weight=0.5)


def add_to_graph(
    paper: Paper, extraction: Extraction, images: PaperImages, *, types: TypeSystem = TypeSystem()
) -> Extraction:
    """Add the descriptions of images to an extraction.

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
    """Add the descriptions of images to their chunks; the chunks' own text is unchanged."""
    seen = {description.element: description for description in images.descriptions}
    return tuple(
        replace(
            chunk, seen="\n".join(_seen_text(seen[element], chunk) for element in chunk.elements if element in seen)
        )
        for chunk in chunks
    )


def _own_names(entities: Iterable[Entity]) -> Mapping[str, str]:
    """Return the entity that each folded name means; an ambiguous name means only the entity with that id."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entity in entities:
        if entity.type not in FLOATS:
            for name in (entity.name, *entity.aliases):
                owners[entity_key(name)].add(entity.id)
                owners[variant_key(name)].add(entity.id)
    ids = {entity.id: entity.id for entity in entities}
    return {key: next(iter(found)) for key, found in owners.items() if len(found) == 1} | ids


def _unnamed(description: ImageDescription, entities: Iterable[Entity]) -> Entity:
    """Return the entity of an image without label and text, named by its kind and page."""
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
    """Add the elements that name the entities to their sources, and the first such sentence to their descriptions."""
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
    """Return the searchable text of a description, without lines that the chunk contains as well."""
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
