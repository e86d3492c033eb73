"""An entity's neighbourhood in the graph: export and drawing."""

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from graph_store import Store
from paperscope.display import places_text
from paperscope.entity_lookup import UNSTATED, definitions_of
from paperscope.html_blocks import aside, bullet_list, details, fragment, grid
from paperscope_core.text.escaping import html, shortened, terminal_text
from paperscope_core.types import Displayable, Entity, Evidence, Place, Relation

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Drawing",
    "Line",
    "Neighbourhood",
    "NodeLabel",
    "draw_png",
    "draw_svg",
    "lay_out",
    "neighbourhood",
]

# Lengths are in pixels. The letter width is the mean of DejaVu Sans, which is wider than most fonts.
_FONT_SIZE, _LETTER_WIDTH, _PADDING, _NODE_HEIGHT, _GAP = 12, 7.4, 8, 22, 10
_MAX_NAME_LENGTH = 30
_KIND_FONT_SIZE = 9
# Half the width and height of the area of a small graph. The area grows in proportion to the number of nodes above this
# one, so that the density stays constant.
_SPREAD = (360, 230)
_SPREAD_NODES = 16
# In units of networkx's default distance, 1/sqrt(n), which is meant for points; names are wider.
_SPRING_LENGTH = 1.6
# 120 long names are separated after about 20 rounds; the limit is for names that can't be separated.
_MAX_ROUNDS = 600
# From ColorBrewer's Set3: pale enough for black letters, on light and dark pages.
_COLOURS = "#8dd3c7 #fdb462 #bebada #fb8072 #80b1d3 #b3de69 #fccde5 #ffed6f #d9d9d9 #ccebc5 #e5c494 #bc9fd0".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbourhood(Displayable):
    """An entity, and the entities and relations within some steps of it.

    Attributes:
        entities: All entities, `center` first.
        relations: The relations between them, the strongest first.
        places: The places that state the entity and the relations, by element id.
        files: The file names of the papers, by paper id.
        definitions: The words of each paper that define the entity in a fixed form, the earliest year first.
    """

    center: Entity
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    places: Mapping[str, Place] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    definitions: tuple[Evidence, ...] = ()

    def to_networkx(self) -> "nx.MultiDiGraph[str]":
        """Return the graph for networkx: nodes are entity ids with name, type, description, aliases and sources."""
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
        """Return the graph as GraphML, for programs such as Gephi, Cytoscape and yEd."""
        import networkx as nx

        graph = self.to_networkx()
        for values in (*(values for _, values in graph.nodes.data()), *(values for *_, values in graph.edges.data())):
            values.update({name: _printable(text) for name, text in values.items() if isinstance(text, str)})
        file = BytesIO()
        nx.write_graphml(graph, file, named_key_ids=True)
        return file.getvalue()

    def to_svg(self) -> Markup:
        """Return a drawing for an HTML page, with lines in the page's colour. The layout is deterministic."""
        return draw_svg(lay_out(self))

    def to_png(self) -> bytes:
        """Return the same drawing as PNG. Needs matplotlib (extra: plots), and raises ImportError without it."""
        return draw_png(lay_out(self))

    def where(self, sources: Sequence[str]) -> str:
        """Return the pages of elements, as text; elements without a known place are left out."""
        return places_text([self.places[source] for source in sources if source in self.places], self.files)

    def __str__(self) -> str:
        counts = f"{len(self.relations)} relations among {len(self.entities)} entities"
        return terminal_text(f"{self.center.name} ({self.center.type}): {counts}")

    def _repr_html_(self) -> Markup:
        names = {entity.id: entity.name for entity in self.entities}
        rows = (
            (names[one.source], one.kind, names[one.target], one.description, self.where(one.sources))
            for one in self.relations
        )
        center = self.center
        return fragment(
            html('<p class="title">{}</p>', str(self)),
            aside(f"also: {', '.join(center.aliases)}" if center.aliases else ""),
            aside(center.description),
            aside(self.where(center.sources)),
            bullet_list(html('{} <span class="aside">{}</span>', one.quote, one.name) for one in self.definitions),
            html('<div class="wide">{}</div>', self.to_svg()),
            details("Relations", grid(("from", "relation", "to", "description", "where"), rows)),
        )


def neighbourhood(store: Store, center: Entity, *, steps: int, limit: int) -> Neighbourhood:
    """Return the strongest `limit` relations that a paper states: those within `steps` of an entity, nearer ones first,
    then those among its neighbours."""
    relations: dict[tuple[str, str, str], Relation] = {}
    known = [center.id]
    for step in range(steps + 1):
        room = limit - len(relations)
        found = store.relations_of(known, without=UNSTATED, limit=limit) if room > 0 else ()
        if step == steps:
            ends = set(known)
            found = [one for one in found if one.source in ends and one.target in ends]
        new = sorted(
            (one for one in found if (one.source, one.target, one.kind) not in relations),
            key=lambda one: (-one.weight, one.source, one.target, one.kind),
        )
        relations.update({(one.source, one.target, one.kind): one for one in new[:room]})
        known = list(
            dict.fromkeys((center.id, *(end for one in relations.values() for end in (one.source, one.target))))
        )
    entities = store.entities(known)
    kept = tuple(one for one in relations.values() if one.source in entities and one.target in entities)
    elements = store.elements([*center.sources, *(source for one in kept for source in one.sources)])
    places = {name: element.place for name, element in elements.items()}
    papers = {place.paper for place in places.values()}
    entries = [entry for entry in store.entries() if entry.id in papers]
    return Neighbourhood(
        center=center,
        entities=tuple(entities.values()),
        relations=kept,
        places=places,
        files={entry.id: entry.file for entry in entries},
        definitions=definitions_of(center, elements, entries),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLabel:
    """A name in a box centered at (x, y); `bold` marks the neighbourhood's center."""

    name: str
    colour: str
    x: float
    y: float
    width: float
    bold: bool = False


class Line(NamedTuple):
    """A line between two boxes, given by their indices: the kinds of its relations, and the relations as text."""

    a: int
    b: int
    kinds: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """The layout of a neighbourhood."""

    width: float
    height: float
    boxes: tuple[NodeLabel, ...]
    lines: tuple[Line, ...]
    legend: tuple[NodeLabel, ...]


def lay_out(found: Neighbourhood) -> Drawing:
    """Lay out a neighbourhood without overlapping names, deterministically."""
    names = [_short_name(entity.name) for entity in found.entities]
    widths = [_width(name) for name in names]
    centers = _separate(_spring_layout(found), widths)
    left = min(x - width / 2 for (x, _), width in zip(centers, widths, strict=True)) - _GAP
    top = min(y for _, y in centers) - _NODE_HEIGHT
    right = max(x + width / 2 for (x, _), width in zip(centers, widths, strict=True)) + _GAP
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
        for entity, name, (x, y), width in zip(found.entities, names, centers, widths, strict=True)
    )
    below = max(box.y for box in boxes) + 2 * _NODE_HEIGHT
    legend = _legend(colours, width=max(right - left, 2 * _SPREAD[0]), top=below)
    return Drawing(
        width=max(right - left, *(box.x + box.width / 2 + _GAP for box in legend)),
        height=legend[-1].y + _NODE_HEIGHT,
        boxes=boxes,
        lines=_lines(found),
        legend=legend,
    )


def _spring_layout(found: Neighbourhood) -> list[tuple[float, float]]:
    """Return the centers of the nodes in a spring layout."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(entity.id for entity in found.entities)
    graph.add_edges_from((one.source, one.target) for one in found.relations if one.source != one.target)
    places = nx.spring_layout(graph, seed=0, k=_SPRING_LENGTH / max(len(graph), 1) ** 0.5, center=(0, 0))
    scale = max(1.0, (len(graph) / _SPREAD_NODES) ** 0.5)
    spread = [(float(x) * _SPREAD[0] * scale, float(y) * _SPREAD[1] * scale) for x, y in places.values()]
    return [(round(x, 1), round(y, 1)) for x, y in spread]


def _separate(centers: list[tuple[float, float]], widths: list[float]) -> list[tuple[float, float]]:
    """Move overlapping boxes apart until none overlap."""
    moved_centers = [list(center) for center in centers]
    for _ in range(_MAX_ROUNDS):
        moved = False
        for a in range(len(moved_centers)):
            for b in range(a):
                distance = (widths[a] + widths[b]) / 2 + _GAP
                moved = _push_apart(moved_centers[a], moved_centers[b], distance) or moved
        if not moved:
            break
    return [(x, y) for x, y in moved_centers]


def _push_apart(a: list[float], b: list[float], distance: float) -> bool:
    """Move two centers apart along the shorter way, if their boxes overlap."""
    across = distance - abs(a[0] - b[0])
    down = _NODE_HEIGHT + _GAP - abs(a[1] - b[1])
    if across <= 0 or down <= 0:
        return False
    axis, by = (0, across) if across < down else (1, down)
    sign = 1 if a[axis] >= b[axis] else -1
    a[axis] += sign * (by / 2 + 0.1)
    b[axis] -= sign * (by / 2 + 0.1)
    return True


def _lines(found: Neighbourhood) -> tuple[Line, ...]:
    """Return one line per pair of entities, with all relations between them."""
    indices = {entity.id: index for index, entity in enumerate(found.entities)}
    pairs: dict[tuple[int, int], list[Relation]] = {}
    for one in found.relations:
        a, b = sorted((indices[one.source], indices[one.target]))
        if a != b:
            pairs.setdefault((a, b), []).append(one)
    names = {entity.id: _printable(entity.name) for entity in found.entities}
    return tuple(
        Line(
            a,
            b,
            kinds=_short_name(", ".join(dict.fromkeys(one.kind for one in between))),
            text="\n".join(f"{names[one.source]} → {_printable(one.kind)} → {names[one.target]}" for one in between),
        )
        for (a, b), between in pairs.items()
    )


def _legend(colours: dict[str, str], *, width: float, top: float) -> tuple[NodeLabel, ...]:
    x, y, legend = float(_GAP), top, []
    for kind, colour in colours.items():
        name = _short_name(kind)
        size = _width(name)
        if x + size > width and x > _GAP:
            x, y = float(_GAP), y + _NODE_HEIGHT + _GAP / 2
        legend.append(NodeLabel(name=name, colour=colour, x=x + size / 2, y=y, width=size))
        x += size + _GAP
    return tuple(legend)


def draw_svg(drawing: Drawing) -> Markup:
    """Draw as an SVG element. Lines have the page's colour, the kinds of their relations, and a tooltip with these."""
    line = (
        '<line x1="{a.x:.1f}" y1="{a.y:.1f}" x2="{b.x:.1f}" y2="{b.y:.1f}"><title>{line.text}</title></line>'
        '<text x="{x:.1f}" y="{y:.1f}" stroke="none" fill="currentColor" font-size="{size}">{line.kinds}</text>'
    )
    lines = Markup().join(
        html(line, a=a, b=b, line=one, x=(a.x + b.x) / 2, y=(a.y + b.y) / 2, size=_KIND_FONT_SIZE)
        for one, a, b in ((one, drawing.boxes[one.a], drawing.boxes[one.b]) for one in drawing.lines)
    )
    return html(
        '<svg viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" width="{drawing.width:.0f}" role="img"'
        ' font-family="DejaVu Sans, Verdana, sans-serif" font-size="{size}" text-anchor="middle">'
        '<g stroke="currentColor" stroke-opacity=".45">{lines}</g>{boxes}</svg>',
        drawing=drawing,
        size=_FONT_SIZE,
        lines=lines,
        boxes=Markup().join(map(_svg_box, (*drawing.boxes, *drawing.legend))),
    )


def _svg_box(box: NodeLabel) -> Markup:
    return html(
        '<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}"'
        ' height="{height}" rx="6" fill="{box.colour}"{edge}/>'
        '<text x="{box.x:.1f}" y="{baseline:.1f}" fill="#000">{box.name}</text>',
        box=box,
        left=box.x - box.width / 2,
        top=box.y - _NODE_HEIGHT / 2,
        height=_NODE_HEIGHT,
        edge=Markup(' stroke="currentColor" stroke-width="2"') if box.bold else "",
        baseline=box.y + _FONT_SIZE * 0.35,
    )


def draw_png(drawing: Drawing) -> bytes:
    """Draw as PNG on white. Needs matplotlib (extra: plots), and raises ImportError without it."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure(figsize=(drawing.width / 100, drawing.height / 100))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    # 0.72 points are a pixel at 100 dpi. Dollar signs in names must not start a formula.
    text = partial(axes.text, ha="center", va="center", parse_math=False)
    for line in drawing.lines:
        a, b = drawing.boxes[line.a], drawing.boxes[line.b]
        axes.plot([a.x, b.x], [a.y, b.y], color="black", alpha=0.4, linewidth=0.8, zorder=1)
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        x, y = (a.x + b.x) / 2, (a.y + b.y) / 2
        text(x, y, line.kinds, fontsize=_KIND_FONT_SIZE * 0.72, color="dimgrey", bbox=behind, zorder=1.5)
    for box in (*drawing.boxes, *drawing.legend):
        corner = (box.x - box.width / 2 + 4, box.y - _NODE_HEIGHT / 2 + 4)
        patch = FancyBboxPatch(corner, box.width - 8, _NODE_HEIGHT - 8, boxstyle="round,pad=4", facecolor=box.colour)
        patch.set(zorder=2, edgecolor="black" if box.bold else "none", linewidth=1.6)
        axes.add_patch(patch)
        text(box.x, box.y, box.name, fontsize=_FONT_SIZE * 0.72, zorder=3)
    file = BytesIO()
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box.
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()


def _width(name: str) -> float:
    letters = sum(_FONT_SIZE if unicodedata.east_asian_width(letter) in "WF" else _LETTER_WIDTH for letter in name)
    return letters + 2 * _PADDING


def _short_name(name: str) -> str:
    # Few fonts contain the mathematical letters (𝑃).
    name = " ".join(_printable(unicodedata.normalize("NFKC", name)).split())
    return shortened(name, limit=_MAX_NAME_LENGTH)


def _printable(text: str) -> str:
    """Return the text without characters that XML does not allow or fonts can't draw."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
