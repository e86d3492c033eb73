"""What stands round an entity in the graph: for people to look at, and for other programs to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from graph_store import NativeGraphIndex, Store
from paperscope.errors import UnknownEntityError
from paperscope.library.drawing import draw_png, draw_svg, sketch, writable
from paperscope.types import WORK, Entity, Place, Relation, Shown, entity_key
from paperscope.types.display import aside, details, fragment, grid, places_text

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Neighbourhood", "find_entity", "most_connected", "neighbourhood"]

_SUGGESTED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood(Shown):
    """An entity, the relations within some steps of it, heaviest first, and all entities that stand in them.

    `center` is the first of `entities`; `places` are those of the elements that it and the relations stand on,
    `files` the files of their papers.
    """

    center: Entity
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    places: Mapping[str, Place] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def to_networkx(self) -> "nx.MultiDiGraph[str]":
        """The graph: nodes are entity ids with name, type, description, aliases and sources; edges are relations."""
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for entity in self.entities:
            graph.add_node(
                entity.id,
                name=entity.name,
                type=entity.type,
                description=entity.description,
                aliases="; ".join(entity.aliases),
                sources="; ".join(entity.sources),
            )
        for relation in self.relations:
            graph.add_edge(
                relation.source,
                relation.target,
                kind=relation.kind,
                description=relation.description,
                weight=relation.weight,
                sources="; ".join(relation.sources),
            )
        return graph

    def to_graphml(self) -> bytes:
        """The graph as GraphML, which Gephi, Cytoscape and yEd open. Characters that XML can't hold are left out."""
        import networkx as nx

        graph = self.to_networkx()
        for values in (*(values for _, values in graph.nodes.data()), *(values for *_, values in graph.edges.data())):
            values.update({name: writable(text) for name, text in values.items() if isinstance(text, str)})
        file = BytesIO()
        nx.write_graphml(graph, file, named_key_ids=True)
        return file.getvalue()

    def to_svg(self) -> str:
        """A drawing for a page of HTML, in which lines take the page's colour. The layout is always the same."""
        return draw_svg(sketch(self))

    def to_png(self) -> bytes:
        """The same drawing as a picture; needs matplotlib (extra: plots), raises ImportError without."""
        return draw_png(sketch(self))

    def where(self, sources: Sequence[str]) -> str:
        """The pages of these elements, as far as `places` has them, in words."""
        return places_text([self.places[source] for source in sources if source in self.places], self.files)

    def __str__(self) -> str:
        return (
            f"{self.center.name} ({self.center.type}): {len(self.relations)} relations among "
            f"{len(self.entities)} entities"
        )

    def _repr_html_(self) -> str:
        names = {entity.id: entity.name for entity in self.entities}
        rows = (
            (names[one.source], one.kind, names[one.target], one.description, self.where(one.sources))
            for one in self.relations
        )
        center = self.center
        return fragment(
            f'<p class="title">{escape(str(self))}</p>',
            aside(f"also: {', '.join(center.aliases)}" if center.aliases else ""),
            aside(center.description),
            aside(self.where(center.sources)),
            f'<div class="wide">{self.to_svg()}</div>',
            details("Relations", grid(("from", "relation", "to", "what it says", "where"), rows)),
        )


def find_entity(store: Store, index: NativeGraphIndex, name: str, *, papers: Sequence[str]) -> Entity:
    """The entity of this name, alias or id, in these papers (none given: in all).

    Raises UnknownEntityError, naming those that may be meant, where there is none, or several: each paper has a
    "Table 5".
    """
    key = entity_key(name)
    found = store.entities([hit.id for hit in index.named(name, papers=papers)])
    named = [one for one in found.values() if key in map(entity_key, (one.id, one.name, *one.aliases))]
    own = [one for one in named if key in map(entity_key, (one.id, one.name))]
    # A method is often called as the paper that brought it is: the paper is found by its authors, too.
    meant = [one for one in own if one.type != WORK] or own or named
    if len(meant) == 1:
        return meant[0]
    if meant:
        ids = ", ".join(repr(entity.id) for entity in meant[:_SUGGESTED])
        raise UnknownEntityError(f"{name!r} may be any of {ids}; name the paper too")
    near = ", ".join(repr(entity.name) for entity in list(found.values())[:_SUGGESTED])
    remedy = f"did you mean {near}?" if near else "`paperscope show PAPER` names a paper's most connected entities"
    raise UnknownEntityError(f"no entity {name!r} in the graph; {remedy}")


def neighbourhood(store: Store, center: Entity, *, steps: int, limit: int) -> Neighbourhood:
    """The heaviest `limit` relations within so many steps of the entity: a step's own before those of the next."""
    relations: dict[tuple[str, str, str], Relation] = {}
    known = [center.id]
    for _ in range(steps):
        room = limit - len(relations)
        found = store.relations_of(known, limit=limit) if room > 0 else ()
        fresh = sorted(
            (one for one in found if (one.source, one.target, one.kind) not in relations),
            key=lambda one: (-one.weight, one.source, one.target, one.kind),
        )
        relations.update({(one.source, one.target, one.kind): one for one in fresh[:room]})
        known = list(
            dict.fromkeys((center.id, *(end for one in relations.values() for end in (one.source, one.target))))
        )
    entities = store.entities(known)
    kept = tuple(one for one in relations.values() if one.source in entities and one.target in entities)
    elements = store.elements([*center.sources, *(source for one in kept for source in one.sources)])
    places = {name: element.place for name, element in elements.items()}
    papers = {place.paper for place in places.values()}
    return Neighbourhood(
        center=center,
        entities=tuple(entities.values()),
        relations=kept,
        places=places,
        files={entry.id: entry.file for entry in store.entries() if entry.id in papers},
    )


def most_connected(store: Store, paper: str, *, limit: int) -> dict[str, int]:
    """The names of a paper's entities with the highest degrees in the graph, highest first; works aside."""
    names = {one.id: one.name for one in store.indexed(paper).extraction.entities if one.type != WORK}
    nodes = store.nodes_of(list(names), papers=[paper])
    known = store.degrees([nodes[key][0] for key in names])
    degrees = sorted(((known.get(nodes[key][0], 0), name) for key, name in names.items()), key=_by_degree)
    return {name: degree for degree, name in degrees[:limit]}


def _by_degree(item: tuple[int, str]) -> tuple[int, str]:
    return -item[0], item[1]
