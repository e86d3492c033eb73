"""A neighbourhood as a drawing: names in boxes that don't cover each other, lines between them, the types below."""

import unicodedata
import warnings
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paperscope.library.neighbourhood import Neighbourhood

__all__ = ["Label", "Sketch", "draw_png", "draw_svg", "sketch", "writable"]

# Lengths are pixels. A letter's width is that of DejaVu Sans on average: wider than most fonts that pages are read in.
_FONT, _LETTER, _PAD, _HEIGHT, _GAP = 12, 7.4, 8, 22, 10
_LONGEST = 30
_SPREAD = (360, 230)
_ROUNDS = 600
# Pale enough for black letters, on a light and on a dark page.
_COLOURS = "#8dd3c7 #fdb462 #bebada #fb8072 #80b1d3 #b3de69 #fccde5 #ffed6f #d9d9d9 #ccebc5 #e5c494 #bc9fd0".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A name in a box with this middle and width; `bold` marks the one that all stands round."""

    name: str
    colour: str
    x: float
    y: float
    width: float
    bold: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Sketch:
    """Where everything is drawn on a sheet of this size; `lines` are pairs of boxes' numbers with what they say."""

    width: float
    height: float
    boxes: tuple[Label, ...]
    lines: tuple[tuple[int, int, str], ...]
    legend: tuple[Label, ...]


def sketch(found: "Neighbourhood") -> Sketch:
    """Lay a neighbourhood out; always the same for the same one."""
    names = [_shortened(entity.name) for entity in found.entities]
    widths = [_width(name) for name in names]
    spots = _apart(_spots(found), widths)
    left = min(x - width / 2 for (x, _), width in zip(spots, widths, strict=True)) - _GAP
    top = min(y for _, y in spots) - _HEIGHT
    right = max(x + width / 2 for (x, _), width in zip(spots, widths, strict=True)) + _GAP
    types = sorted({entity.type for entity in found.entities})
    colours = {kind: _COLOURS[number % len(_COLOURS)] for number, kind in enumerate(types)}
    boxes = tuple(
        Label(
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
    return Sketch(
        width=max(right - left, *(box.x + box.width / 2 + _GAP for box in legend)),
        height=legend[-1].y + _HEIGHT,
        boxes=boxes,
        lines=_lines(found),
        legend=legend,
    )


def draw_svg(drawn: Sketch) -> str:
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


def draw_png(drawn: Sketch) -> bytes:
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


def _spots(found: "Neighbourhood") -> list[tuple[float, float]]:
    """Middles by springs between what is related, spread over more room the more there are."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(entity.id for entity in found.entities)
    graph.add_edges_from((one.source, one.target) for one in found.relations if one.source != one.target)
    places = nx.spring_layout(graph, seed=0, k=1.6 / max(len(graph), 1) ** 0.5, center=(0, 0))
    more = max(1.0, (len(graph) / 16) ** 0.5)
    spread = [(float(x) * _SPREAD[0] * more, float(y) * _SPREAD[1] * more) for x, y in places.values()]
    return [(round(x, 1), round(y, 1)) for x, y in spread]


def _apart(spots: list[tuple[float, float]], widths: list[float]) -> list[tuple[float, float]]:
    """Push boxes that cover each other apart, by the shorter way, until none do."""
    middles = [list(spot) for spot in spots]
    for _ in range(_ROUNDS):
        moved = False
        for a in range(len(middles)):
            for b in range(a):
                moved = _push(middles[a], middles[b], (widths[a] + widths[b]) / 2 + _GAP) or moved
        if not moved:
            break
    return [(x, y) for x, y in middles]


def _push(a: list[float], b: list[float], width: float) -> bool:
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
        source, target = map(writable, names)
        said.setdefault((ends[0], ends[1]), []).append(f"{source} → {writable(one.kind)} → {target}")
    return tuple((a, b, "\n".join(words)) for (a, b), words in said.items() if a != b)


def _legend(colours: dict[str, str], *, width: float, top: float) -> tuple[Label, ...]:
    x, y, legend = float(_GAP), top, []
    for kind, colour in colours.items():
        name = _shortened(kind)
        size = _width(name)
        if x + size > width and x > _GAP:
            x, y = float(_GAP), y + _HEIGHT + _GAP / 2
        legend.append(Label(name=name, colour=colour, x=x + size / 2, y=y, width=size))
        x += size + _GAP
    return tuple(legend)


def _svg_box(box: Label) -> str:
    edge = ' stroke="currentColor" stroke-width="2"' if box.bold else ""
    return (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y - _HEIGHT / 2:.1f}" width="{box.width:.1f}"'
        f' height="{_HEIGHT}" rx="6" fill="{box.colour}"{edge}/>'
        f'<text x="{box.x:.1f}" y="{box.y + _FONT * 0.35:.1f}" fill="#000">{escape(box.name)}</text>'
    )


def _width(name: str) -> float:
    letters = sum(_FONT if unicodedata.east_asian_width(letter) in "WF" else _LETTER for letter in name)
    return letters + 2 * _PAD


def _shortened(name: str) -> str:
    # Letters of formulas (𝑃) stand in few fonts.
    name = " ".join(writable(unicodedata.normalize("NFKC", name)).split())
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def writable(text: str) -> str:
    """The text without characters that XML can't hold and fonts don't draw."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
