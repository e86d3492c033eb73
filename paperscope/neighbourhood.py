"""An entity's neighbourhood in the graph: lookup, export and drawing."""

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from graph_store import NativeGraphIndex, Store
from paperscope_core.errors import UnknownEntityError
from paperscope_core.text.words import entity_key
from paperscope_core.types import WORK, Displayable, Entity, Place, Relation
from paperscope_core.types.display import aside, details, fragment, grid, places_text

if TYPE_CHECKING:
    import networkx as nx


__all__ = [
    "Drawing",
    "Neighbourhood",
    "NodeLabel",
    "draw_png",
    "draw_svg",
    "find_entity",
    "lay_out",
    "most_connected",
    "neighbourhood",
    "printable",
]


# Lengths are pixels. A letter's width is that of DejaVu Sans on average: wider than most fonts that pages are read in.
_FONT, _LETTER, _PAD, _HEIGHT, _GAP = 12, 7.4, 8, 22, 10
_LONGEST = 30
_SPREAD = (360, 230)
_ROUNDS = 600
# Pale enough for black letters, on a light and on a dark page.
_COLOURS = "#8dd3c7 #fdb462 #bebada #fb8072 #80b1d3 #b3de69 #fccde5 #ffed6f #d9d9d9 #ccebc5 #e5c494 #bc9fd0".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLabel:
    """A name in a box with this middle and width; `bold` marks the one that all stands round."""

    name: str
    colour: str
    x: float
    y: float
    width: float
    bold: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """Where everything is drawn on a sheet of this size; `lines` are pairs of boxes' numbers with what they say."""

    width: float
    height: float
    boxes: tuple[NodeLabel, ...]
    lines: tuple[tuple[int, int, str], ...]
    legend: tuple[NodeLabel, ...]


def lay_out(found: "Neighbourhood") -> Drawing:
    """Lay a neighbourhood out; always the same for the same one."""
    names = [_short_name(entity.name) for entity in found.entities]
    widths = [_width(name) for name in names]
    spots = _separate(_spring_layout(found), widths)
    left = min(x - width / 2 for (x, _), width in zip(spots, widths, strict=True)) - _GAP
    top = min(y for _, y in spots) - _HEIGHT
    right = max(x + width / 2 for (x, _), width in zip(spots, widths, strict=True)) + _GAP
    types = sorted({entity.type for entity in found.entities})
    colours = {kind: _COLOURS[number % len(_COLOURS)] for number, kind in enumerate(types)}
    boxes = tuple(
        NodeLabel(
            name=name,
            colour=colours[entity.type],
            x=x - left,
            y=y - top,
            width=width,
            bold=entity.id == found.center.id,
        )
        for entity, name, (x, y), width in zip(found.entities, names, spots, widths, strict=True)
    )
    legend = _legend(colours, width=max(right - left, 2 * _SPREAD[0]), top=max(box.y for box in boxes) + 2 * _HEIGHT)
    return Drawing(
        width=max(right - left, *(box.x + box.width / 2 + _GAP for box in legend)),
        height=legend[-1].y + _HEIGHT,
        boxes=boxes,
        lines=_lines(found),
        legend=legend,
    )


def draw_svg(drawn: Drawing) -> str:
    """The sketch as an SVG element for a page of HTML; lines are in the page's colour and say what they stand for."""
    lines = "".join(
        f'<line x1="{a.x:.1f}" y1="{a.y:.1f}" x2="{b.x:.1f}" y2="{b.y:.1f}"><title>{escape(words)}</title></line>'
        for a, b, words in ((drawn.boxes[a], drawn.boxes[b], words) for a, b, words in drawn.lines)
    )
    return (
        f'<svg viewBox="0 0 {drawn.width:.0f} {drawn.height:.0f}" width="{drawn.width:.0f}" role="img"'
        f' font-family="DejaVu Sans, Verdana, sans-serif" font-size="{_FONT}" text-anchor="middle">'
        f'<g stroke="currentColor" stroke-opacity=".45">{lines}</g>'
        f"{''.join(map(_svg_box, (*drawn.boxes, *drawn.legend)))}</svg>"
    )


def draw_png(drawn: Drawing) -> bytes:
    """The sketch as a picture on white. Needs matplotlib (extra: plots), raises ImportError without."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure(figsize=(drawn.width / 100, drawn.height / 100))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, drawn.width), ylim=(drawn.height, 0))
    axes.set_axis_off()
    for a, b, _ in drawn.lines:
        ends = (drawn.boxes[a], drawn.boxes[b])
        axes.plot([end.x for end in ends], [end.y for end in ends], color="black", alpha=0.4, linewidth=0.8, zorder=1)
    for box in (*drawn.boxes, *drawn.legend):
        corner = (box.x - box.width / 2 + 4, box.y - _HEIGHT / 2 + 4)
        patch = FancyBboxPatch(corner, box.width - 8, _HEIGHT - 8, boxstyle="round,pad=4", facecolor=box.colour)
        patch.set(zorder=2, edgecolor="black" if box.bold else "none", linewidth=1.6)
        axes.add_patch(patch)
        # A name may hold a dollar sign, which is no formula.
        axes.text(box.x, box.y, box.name, fontsize=_FONT * 0.72, ha="center", va="center", zorder=3, parse_math=False)
    file = BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box.
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def _spring_layout(found: "Neighbourhood") -> list[tuple[float, float]]:
    """Middles by springs between what is related, spread over more room the more there are."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(entity.id for entity in found.entities)
    graph.add_edges_from((one.source, one.target) for one in found.relations if one.source != one.target)
    places = nx.spring_layout(graph, seed=0, k=1.6 / max(len(graph), 1) ** 0.5, center=(0, 0))
    more = max(1.0, (len(graph) / 16) ** 0.5)
    spread = [(float(x) * _SPREAD[0] * more, float(y) * _SPREAD[1] * more) for x, y in places.values()]
    return [(round(x, 1), round(y, 1)) for x, y in spread]


def _separate(spots: list[tuple[float, float]], widths: list[float]) -> list[tuple[float, float]]:
    """Push boxes that cover each other apart, by the shorter way, until none do."""
    middles = [list(spot) for spot in spots]
    for _ in range(_ROUNDS):
        moved = False
        for a in range(len(middles)):
            for b in range(a):
                moved = _push_apart(middles[a], middles[b], (widths[a] + widths[b]) / 2 + _GAP) or moved
        if not moved:
            break
    return [(x, y) for x, y in middles]


def _push_apart(a: list[float], b: list[float], width: float) -> bool:
    across = width - abs(a[0] - b[0])
    down = _HEIGHT + _GAP - abs(a[1] - b[1])
    if across <= 0 or down <= 0:
        return False
    axis, by = (0, across) if across < down else (1, down)
    sign = 1 if a[axis] >= b[axis] else -1
    a[axis] += sign * (by / 2 + 0.1)
    b[axis] -= sign * (by / 2 + 0.1)
    return True


def _lines(found: "Neighbourhood") -> tuple[tuple[int, int, str], ...]:
    """One line for each pair, which says all relations between them."""
    numbers = {entity.id: number for number, entity in enumerate(found.entities)}
    said: dict[tuple[int, int], list[str]] = {}
    for one in found.relations:
        ends = sorted((numbers[one.source], numbers[one.target]))
        names = (found.entities[numbers[end]].name for end in (one.source, one.target))
        source, target = map(printable, names)
        said.setdefault((ends[0], ends[1]), []).append(f"{source} → {printable(one.kind)} → {target}")
    return tuple((a, b, "\n".join(words)) for (a, b), words in said.items() if a != b)


def _legend(colours: dict[str, str], *, width: float, top: float) -> tuple[NodeLabel, ...]:
    x, y, legend = float(_GAP), top, []
    for kind, colour in colours.items():
        name = _short_name(kind)
        size = _width(name)
        if x + size > width and x > _GAP:
            x, y = float(_GAP), y + _HEIGHT + _GAP / 2
        legend.append(NodeLabel(name=name, colour=colour, x=x + size / 2, y=y, width=size))
        x += size + _GAP
    return tuple(legend)


def _svg_box(box: NodeLabel) -> str:
    edge = ' stroke="currentColor" stroke-width="2"' if box.bold else ""
    return (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - _HEIGHT / 2:.1f}" width="{box.width:.1f}"'
        f' height="{_HEIGHT}" rx="6" fill="{box.colour}"{edge}/>'
        f'<text x="{box.x:.1f}" y="{box.y + _FONT * 0.35:.1f}" fill="#000">{escape(box.name)}</text>'
    )


def _width(name: str) -> float:
    letters = sum(_FONT if unicodedata.east_asian_width(letter) in "WF" else _LETTER for letter in name)
    return letters + 2 * _PAD


def _short_name(name: str) -> str:
    # Letters of formulas (𝑃) stand in few fonts.
    name = " ".join(printable(unicodedata.normalize("NFKC", name)).split())
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def printable(text: str) -> str:
    """The text without characters that XML can't hold and fonts don't draw."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")


_SUGGESTED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood(Displayable):
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
            values.update({name: printable(text) for name, text in values.items() if isinstance(text, str)})
        file = BytesIO()
        nx.write_graphml(graph, file, named_key_ids=True)
        return file.getvalue()

    def to_svg(self) -> str:
        """A drawing for a page of HTML, in which lines take the page's colour. The layout is always the same."""
        return draw_svg(lay_out(self))

    def to_png(self) -> bytes:
        """The same drawing as a picture; needs matplotlib (extra: plots), raises ImportError without."""
        return draw_png(lay_out(self))

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
