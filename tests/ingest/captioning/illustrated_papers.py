"""A made-up paper with pictures, for the tests of what a vision model is asked about them."""

import io
import json
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw

from paperscope_core.types import Box, Element, Equation, Figure, Link, Paper, Passage, Place, Table, content_hash

POINTS = Box(0.0, 0.0, 200.0, 100.0)


def png(
    text: str = "",
    *,
    size: tuple[int, int] = (300, 150),
    bars: Sequence[int] = (60, 90),
    colours: tuple[str, str] = ("white", "navy"),
    encoding: str = "PNG",
) -> bytes:
    """A picture with bars and a text; `colours` are those of the background and the bars."""
    image = Image.new("RGB", size, colours[0])
    draw = ImageDraw.Draw(image)
    for number, height in enumerate(bars):
        draw.rectangle((20 + 40 * number, size[1] - height, 45 + 40 * number, size[1]), fill=colours[1])
    if text:
        draw.text((size[0] // 2, 10), text, fill="black")
    out = io.BytesIO()
    image.save(out, format=encoding)
    return out.getvalue()


def place(*, box: Box = POINTS, page: int = 1) -> Place:
    return Place(paper="p", page=page, box=box)


def figure(number: int, picture: bytes, *, box: Box = POINTS, label: str = "", caption: str = "") -> Figure:
    return Figure(
        id=f"p/figure-{number}",
        place=place(box=box),
        order=10 * number,
        label=label or f"Figure {number}",
        caption=caption or f"Figure {number}: F1 of Dice loss.",
        crop=content_hash(picture),
    )


def equation(number: int, picture: bytes, *, box: Box = POINTS, text: str = "a = b") -> Equation:
    return Equation(
        id=f"p/equation-{number}",
        place=place(box=box),
        order=10 * number + 1,
        text=text,
        label=f"Equation {number}",
        crop=content_hash(picture),
    )


def table(number: int, picture: bytes, *, more: Sequence[bytes] = ()) -> Table:
    return Table(
        id=f"p/table-{number}",
        place=place(),
        order=10 * number + 2,
        cells=(),
        label=f"Table {number}",
        caption=f"Table {number}: Results.",
        crop=content_hash(picture),
        more_crops=tuple(map(content_hash, more)),
    )


def passage(number: int, text: str) -> Passage:
    return Passage(id=f"p/passage-{number}", place=place(), order=number, text=text)


def paper_of(*elements: Element, links: Sequence[Link] = ()) -> Paper:
    return Paper(
        id="p",
        title="On losses",
        authors=(),
        sha256="",
        file="p.pdf",
        pages=(),
        sections=(),
        elements=elements,
        links=tuple(links),
    )


def crops(*pictures: bytes) -> dict[str, bytes]:
    return {content_hash(picture): picture for picture in pictures}


def reply(**changed: object) -> str:
    """A reply as it is asked for, but for `changed`."""
    good: Mapping[str, object] = {
        "kind": "plot",
        "description": "Bars of F1 for two losses; the bar of Dice loss is the higher one.",
        "visible_text": ["Dice loss", "focal loss", "F1 (%)"],
        "entities": [
            {"name": "Dice loss", "type": "metric", "description": "The higher bar, 90."},
            {"name": "focal loss", "type": "method", "description": "The lower bar, 60."},
        ],
        "data_points": [{"series": "", "x": "Dice loss", "y": "90", "estimated": True}],
        "latex": "",
    }
    return json.dumps({**good, **changed})
