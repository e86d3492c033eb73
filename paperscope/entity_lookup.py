"""Finds entities of the graph by name, and where papers define them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph_store import Store
from graph_store.index import LibraryIndex
from graph_store.reading import paper_of
from paperscope_core.errors import UnknownEntityError
from paperscope_core.text.words import entity_key
from paperscope_core.types import WORK, Element, Entity, Evidence, PaperEntry, where
from query.definitions import entity_definitions
from query.question.paper_names import citation_names

__all__ = ["UNSTATED", "EntityMatch", "definitions_of", "find_entity", "most_connected", "search_entities"]

UNSTATED = ("co-occurs", "near")
"""Kinds of relations of names that only stand near each other: they help to find, and state nothing."""

_SUGGESTIONS = 5
# How many matches of a search are compared by their relations.
_MATCHES = 200


def find_entity(store: Store, index: LibraryIndex, name: str, *, papers: Sequence[str]) -> Entity:
    """Find an entity by name, alias or id.

    Args:
        papers: The ids of the papers that name it; none for all papers.

    Raises:
        UnknownEntityError: There is no such entity, or there are several ("Table 5" occurs in each paper). The message
            suggests some.
    """
    key, among = entity_key(name), set(papers)

    def named(ids: Sequence[str]) -> tuple[Mapping[str, Entity], list[Entity]]:
        """Return the entities with these ids, and those of them that have the name."""
        found = store.entities(ids)
        return found, [
            one
            for one in found.values()
            if key in map(entity_key, (one.id, one.name, *one.aliases))
            and (not among or among.intersection(map(paper_of, one.sources)))
        ]

    found, matches = named([*(hit.id for hit in index.named(name, papers=papers)), name])
    if not matches:
        # The index finds no name as long as the title of a paper.
        _, matches = named(store.matching(key.split(), limit=_MATCHES))
    by_name = [one for one in matches if key in map(entity_key, (one.id, one.name))]
    # A method often has the same name as the paper that introduced it.
    meant = [one for one in by_name if one.type != WORK] or by_name or matches
    if len(meant) == 1:
        return meant[0]
    if meant:
        listed = ", ".join(repr(entity.id) for entity in meant[:_SUGGESTIONS])
        raise UnknownEntityError(f"{name!r} may be any of {listed}; name the paper too")
    near = ", ".join(repr(entity.name) for entity in list(found.values())[:_SUGGESTIONS])
    remedy = f"did you mean {near}?" if near else "`paperscope show PAPER` lists a paper's most connected entities"
    raise UnknownEntityError(f"no entity {name!r} in the graph; {remedy}")


def definitions_of(
    center: Entity, elements: Mapping[str, Element], entries: Sequence[PaperEntry]
) -> tuple[Evidence, ...]:
    """Return where papers define an entity, the earliest year first, and last those of an unknown year."""
    if center.type == WORK or center.id in elements:
        return ()
    found = entity_definitions((center.name, *center.aliases), [elements[source] for source in center.sources])
    names = citation_names(entries)
    ordered = sorted((one for one in entries if one.id in found), key=lambda one: one.year or math.inf)
    papers = ((names[one.id], found[one.id]) for one in ordered)
    return tuple(replace(one, name=f"{name}, {where(one.places)}") for name, one in papers)


def most_connected(store: Store, paper: str, *, limit: int) -> dict[str, int]:
    """Return the names of a paper's entities with the highest degrees in the graph, highest first; papers are left
    out."""
    names = {one.id: one.name for one in store.indexed(paper).extraction.entities if one.type != WORK}
    nodes = store.library_ids(list(names), papers=[paper])
    degrees = store.degrees([nodes[key][0] for key in names], without=UNSTATED)
    ranked = sorted(((-degrees.get(nodes[key][0], 0), name) for key, name in names.items()))
    return {name: -negative for negative, name in ranked[:limit]}


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityMatch:
    """An entity that a search found, and the number of its relations."""

    id: str
    name: str
    type: str
    relations: int


def search_entities(store: Store, text: str, *, type_: str = "", limit: int) -> tuple[EntityMatch, ...]:
    """Return the entities in whose name each word of a text begins a word: an exact match first, then by relations."""
    key = entity_key(text)
    if not key:
        return ()
    # Those of most papers have most relations, so that not every match is looked up.
    found = store.entities(store.matching(key.split(), type_=type_, limit=max(_MATCHES, limit)))
    degrees = store.degrees(list(found), without=UNSTATED)
    matches = (
        EntityMatch(id=id_, name=one.name, type=one.type, relations=degrees.get(id_, 0)) for id_, one in found.items()
    )
    return tuple(sorted(matches, key=lambda one: (entity_key(one.name) != key, -one.relations, one.name)))[:limit]
