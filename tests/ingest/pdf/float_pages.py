"""Generated pages with floats of known places: drawings with tables, prompt boxes over pages, text like captions.

A source is compiled twice, as it is and with each float and caption on a colour of its own; the coloured boxes of the
second file are the truth about the first.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pymupdf
import typst
from PIL import Image

from paperscope_core.types import Box

__all__ = ["FloatPages", "TrueFloat", "float_pages"]

_WORDS = (
    "model results evidence claims annotators prompt language evaluation sample method accuracy figure "
    "question answer training paper tables numbers across several domains while further analysis indicates "
    "that simple baselines remain competitive under shift and large systems often fail because their reasoning "
    "depends on surface cues in the input"
).split()
_KINDS = {"Figure": "figure", "Table": "table", "Listing": "listing", "Box": "listing", "Prompt": "listing"}
_TINTS = ("luma(240)", 'rgb("#eef4ff")', 'rgb("#fff4e0")', 'rgb("#f0fff0")')


@dataclass(frozen=True, kw_only=True)
class TrueFloat:
    """A float: its kind, its label, its boxes and those of its caption, by page from 1."""

    kind: str
    label: str
    boxes: Sequence[tuple[int, Box]]
    caption: Sequence[tuple[int, Box]]


@dataclass(frozen=True, kw_only=True)
class FloatPages:
    """A generated file and the floats on its pages."""

    pdf: bytes
    floats: Sequence[TrueFloat]
    source: str


@dataclass(kw_only=True)
class _Paper:
    rng: random.Random
    columns: int
    size: float
    above: dict[str, bool]
    separator: str
    bold: bool
    floats: list[tuple[str, str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def words(self, count: int) -> str:
        return " ".join(self.rng.choice(_WORDS) for _ in range(count)).capitalize()

    def sentence(self) -> str:
        return self.words(self.rng.randint(7, 16)) + "."

    def sentences(self, count: int) -> str:
        return " ".join(self.sentence() for _ in range(count))

    def paragraphs(self, count: int) -> str:
        return "\n\n".join(self.sentences(self.rng.randint(4, 7)) for _ in range(count))

    def number(self) -> str:
        return f"{self.rng.uniform(20, 95):.1f}"

    def floated(self, word: str, body: str, *, breakable: bool = False, wide: bool = False) -> str:
        """A float with its caption; `wide` floats are at the top of the page over all columns."""
        count = self.counts[word] = self.counts.get(word, 0) + 1
        index = len(self.floats)
        self.floats.append((_KINDS[word], f"{word} {count}"))
        label = f"*{word} {count}{self.separator}*" if self.bold else f"{word} {count}{self.separator}"
        sticky = "true" if self.above[word] else "false"
        caption = f"#block(sticky: {sticky}, mark({2 * index + 1})[{label} {self.sentence()}])"
        marked = f"#mark({2 * index}, breakable: {'true' if breakable else 'false'})[{body}]"
        parts = [caption, marked] if self.above[word] else [marked.replace("#mark(", "#mark(sticky: true, "), caption]
        whole = "#v(1em)\n" + "\n".join(f"#align(center)[{part}]" for part in parts) + "\n#v(1em)\n"
        if wide and self.columns > 1:
            return f'#place(top, float: true, scope: "parent")[{whole}]\n'
        return whole if breakable else f"#block(breakable: false)[{whole}]\n"


def float_pages(seed: int) -> FloatPages:
    """Generates the pages of a seed."""
    rng = random.Random(seed)
    below = rng.random() < 0.5
    paper = _Paper(
        rng=rng,
        columns=rng.choice((1, 2, 2)),
        size=rng.choice((9, 10, 10, 11)),
        above={word: word != "Figure" and not below for word in _KINDS},
        separator=rng.choice((":", ":", ".")),
        bold=rng.random() < 0.4,
    )
    makers: list[Callable[[_Paper], str]] = [
        _plot,
        _table,
        _drawing_with_table,
        _flow,
        _subfigures,
        _prompt_box,
        _prompt_box,
        _sentences_like_captions,
        _long_prompt_box,
    ]
    rng.shuffle(makers)
    parts = [paper.paragraphs(3)]
    for maker in makers:
        parts += [maker(paper), paper.paragraphs(rng.randint(1, 3))]
    font = rng.choice(("New Computer Modern", "Libertinus Serif"))
    head = (
        f'#set page(paper: "us-letter", margin: 2.4cm, columns: {paper.columns}, numbering: "1")\n'
        f'#set text(font: "{font}", size: {paper.size}pt)\n#set par(justify: true, leading: .55em, spacing: .9em)\n'
        "#set columns(gutter: 1.6em)\n"
    )
    body = f"= Introduction\n{chr(10).join(parts)}"
    return _compiled(head, body, paper.floats)


def _compiled(head: str, body: str, floats: Sequence[tuple[str, str]]) -> FloatPages:
    def compiled(fill: str) -> bytes:
        mark = f"#let mark(index, ..more, body) = block(fill: {fill}, ..more, body)\n"
        return typst.compile((head + mark + body).encode(), ignore_system_fonts=True)

    boxes: dict[int, list[tuple[int, Box]]] = {}
    with pymupdf.open(stream=compiled("rgb(251, 3, index)"), filetype="pdf") as document:
        for page in document:
            for drawing in page.get_drawings():
                red, green, blue = (round(255 * part) for part in drawing["fill"] or (0, 0, 0))
                if (red, green) == (251, 3):
                    boxes.setdefault(blue, []).append((page.number + 1, Box(*drawing["rect"])))
    pdf = compiled("none")
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        truth = [
            TrueFloat(
                kind=kind,
                label=label,
                boxes=[(page, _inked(document[page - 1], box)) for page, box in boxes[2 * index]],
                caption=boxes[2 * index + 1],
            )
            for index, (kind, label) in enumerate(floats)
        ]
    return FloatPages(pdf=pdf, floats=truth, source=head + body)


def _inked(page: pymupdf.Page, box: Box) -> Box:
    """Returns the part of a box that is not white."""
    around = pymupdf.Rect(*box.grown(6, 2))
    picture = page.get_pixmap(dpi=144, clip=around)
    ink = Image.frombytes("RGB", (picture.width, picture.height), picture.samples).convert("L")
    x0, y0, x1, y1 = ink.point(lambda value: 255 * (value < 252)).getbbox() or (0, 0, 0, 0)
    return Box(around.x0 + x0 / 2, around.y0 + y0 / 2, around.x0 + x1 / 2, around.y0 + y1 / 2)


def _plot_body(paper: _Paper, *, width: float, height: float) -> str:
    xs = [10 + i * (width - 20) / 6 for i in range(7)]
    points = [(x, paper.rng.uniform(10, height - 25)) for x in xs]
    lines = "".join(
        f"#place(top + left, line(start: ({x0:.0f}pt, {y0:.0f}pt), end: ({x1:.0f}pt, {y1:.0f}pt), stroke: blue))"
        for (x0, y0), (x1, y1) in pairwise(points)
    )
    axes = (
        f"#place(top + left, line(start: (0pt, 0pt), end: (0pt, {height - 10}pt)))"
        f"#place(top + left, line(start: (0pt, {height - 10}pt), end: ({width}pt, {height - 10}pt)))"
        f"#place(bottom + center, text(size: 8pt)[Number of {paper.rng.choice(_WORDS)}])"
    )
    return f"#box(width: {width}pt, height: {height}pt)[{axes}{lines}]"


def _plot(paper: _Paper) -> str:
    return paper.floated("Figure", _plot_body(paper, width=190, height=paper.rng.randint(90, 140)))


def _subfigures(paper: _Paper) -> str:
    height = paper.rng.randint(70, 100)
    cells = ", ".join(
        f"[{_plot_body(paper, width=100, height=height)}\n\n#text(size: 8pt)[({mark}) {paper.words(2)}]]"
        for mark in "ab"
    )
    return paper.floated("Figure", f"#grid(columns: 2, gutter: 8pt, align: center, {cells})")


def _grid(paper: _Paper, *, rows: int, columns: int, size: float) -> str:
    head = ", ".join(f"[{paper.words(1)}]" for _ in range(columns))
    body = ", ".join(
        ", ".join([f"[{paper.words(1)}]", *(f"[{paper.number()}]" for _ in range(columns - 1))]) for _ in range(rows)
    )
    rules = "table.hline(), "
    return (
        f"#text(size: {size}pt, table(columns: {columns}, stroke: none, inset: 3pt, {rules}{head}, {rules}{body}, "
        "table.hline()))"
    )


def _table(paper: _Paper) -> str:
    return paper.floated("Table", _grid(paper, rows=paper.rng.randint(3, 7), columns=4, size=paper.size - 1))


def _drawing_with_table(paper: _Paper) -> str:
    """A drawing that holds a table with its own caption, claims, and labels in boxes."""
    rng = paper.rng
    framed, wide = rng.random() < 0.5, paper.columns == 2 and rng.random() < 0.3
    width = 200 if paper.columns == 2 and not wide else 380
    small = paper.size - rng.choice((0, 1, 2))
    inner = f"Table {rng.choice((2, 7))}: {paper.sentence()}"
    grid = _grid(paper, rows=rng.randint(3, 5), columns=rng.choice((3, 4)), size=small)
    table = [f"#text(size: {small}pt)[{inner}]", f"#align(center)[{grid}]"]
    if rng.random() < 0.5:
        table.reverse()
    looks = (f"fill: {rng.choice(_TINTS)}", "stroke: .6pt")
    claims = [
        f"#block(width: 100%, inset: 4pt, radius: {rng.choice((0, 4))}pt, {rng.choice(looks)})"
        f"[#text(size: {small}pt)[*{word}:* {paper.sentences(rng.randint(1, 2))}]]"
        for word in rng.sample(("Claim", "Evidence", "Supported", "Refuted", "Not enough info"), rng.randint(1, 3))
    ]
    title = f"#text(size: {small}pt)[*Paper:* {paper.words(6)}]"
    arrow = "#align(center, line(angle: 90deg, length: 14pt))"
    parts = [title, *table, arrow, *claims]
    look = "stroke: .7pt, inset: 5pt, radius: 3pt" if framed else "inset: 0pt"
    body = f"#block(width: {width}pt, {look})[#set align(left)\n" + "\n\n".join(parts) + "\n]"
    return paper.floated("Figure", body, wide=wide)


def _flow(paper: _Paper) -> str:
    """Boxes of text joined by arrows."""
    rng = paper.rng
    wide = paper.columns == 2 and rng.random() < 0.5
    width = 430 if wide or paper.columns == 1 else 205
    count = 3 if width > 300 else 2
    side = (width - 20 * (count - 1)) / count
    boxes = ", [#line(length: 16pt)], ".join(
        f"block(width: {side:.0f}pt, inset: 4pt, fill: {rng.choice(_TINTS)}, stroke: .5pt)[#set align(left)\n"
        f"#text(size: {paper.size - 1.5}pt)[*Step {number + 1}.* {paper.sentences(rng.randint(2, 3))}]]"
        for number in range(count)
    )
    return paper.floated("Figure", f"#grid(columns: {2 * count - 1}, gutter: 2pt, align: horizon, {boxes})", wide=wide)


def _prompt_lines(paper: _Paper, count: int) -> Iterator[str]:
    yield f"You are {paper.sentence()}"
    for number in range(count):
        yield f"*{paper.rng.choice(('Question', 'Input', 'Claim', 'Table 3', 'Answer'))}:* {paper.sentence()}"
        if number % 3 == 2:
            yield f"\\<{paper.words(2)}\\>"


def _box_body(paper: _Paper, lines: Sequence[str], *, width: float) -> str:
    rng = paper.rng
    font = ', font: "DejaVu Sans Mono"' if rng.random() < 0.5 else ""
    look = rng.choice(
        ("fill: {tint}", "stroke: .7pt", "fill: {tint}, stroke: .7pt", "fill: {tint}, stroke: .7pt, radius: 4pt")
    ).format(tint=rng.choice(_TINTS))
    small = paper.size - rng.choice((1, 1.5, 2))
    title = (
        '#block(width: 100%, outset: 5pt, fill: rgb("#334466"), below: 9pt)'
        f"[#text(fill: white)[*{paper.words(3)}*]]\n\n"
        if rng.random() < 0.3
        else ""
    )
    inside = " \\\n".join(lines) if rng.random() < 0.5 else "\n\n".join(lines)
    style = f"#set align(left)\n#set par(justify: false)\n#set text(size: {small}pt{font})\n"
    return f"#block(width: {width}pt, breakable: true, inset: 5pt, {look})[{style}{title}{inside}]"


def _prompt_box(paper: _Paper) -> str:
    wide = paper.columns == 2 and paper.rng.random() < 0.4
    width = 430 if wide or paper.columns == 1 else 215
    body = _box_body(paper, [*_prompt_lines(paper, paper.rng.randint(3, 7))], width=width)
    return paper.floated(paper.rng.choice(tuple(_KINDS)), body, wide=wide)


def _long_prompt_box(paper: _Paper) -> str:
    """A box that breaks over columns and pages."""
    width = 430 if paper.columns == 1 else 215
    body = _box_body(paper, [*_prompt_lines(paper, paper.rng.randint(30, 45))], width=width)
    return paper.floated(paper.rng.choice(tuple(_KINDS)), body, breakable=True)


def _sentences_like_captions(paper: _Paper) -> str:
    """Paragraphs in which a line, or a paragraph, begins like a caption."""
    first = f"{paper.sentence()} \\\nFigure 1: {paper.sentences(3)}"
    second = f"Table 1: We have {paper.sentences(3)}"
    return f"{paper.sentences(3)} {first}\n\n{paper.sentences(2)}\n\n{second}\n"
