"""Drawings of neighbourhoods: readable names, deterministic layout, no code from papers."""

import io
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from paperscope.display import to_html
from paperscope.neighbourhood import Drawing, Neighbourhood, NodeLabel, draw_png, draw_svg, lay_out
from paperscope_core.types import Box, Entity, Place, Relation
from tests.html_checker import HOSTILE_TEXT, check_html

HEIGHT = 22


def around(*names: str, types: int = 3, say: str = "compares") -> Neighbourhood:
    """A star of these names, the first in the middle, and a chain through the others."""
    entities = tuple(
        Entity(id=f"e{number}", name=name, type=f"type {number % types}", description=say, sources=("aaaa/table-1",))
        for number, name in enumerate(names)
    )
    ends = [(entities[0], one) for one in entities[1:]] + list(pairwise(entities[1:]))
    relations = tuple(
        Relation(source=a.id, target=b.id, kind=say, description=say, sources=("aaaa/table-1", "aaaa/lost-1"))
        for a, b in ends
    )
    places = {"aaaa/table-1": Place(paper="aaaa", page=4, box=Box(1, 2, 3, 4))}
    return Neighbourhood(
        center=entities[0], entities=entities, relations=relations, places=places, files={"aaaa": "ner.pdf"}
    )


def covering(labels: tuple[NodeLabel, ...]) -> list[tuple[str, str]]:
    """The pairs of labels that cover each other."""
    return [
        (a.name, b.name)
        for a, b in combinations(labels, 2)
        if abs(a.x - b.x) < (a.width + b.width) / 2 and abs(a.y - b.y) < HEIGHT
    ]


def outside(drawn: Drawing) -> list[str]:
    return [
        label.name
        for label in (*drawn.boxes, *drawn.legend)
        if not (label.width / 2 <= label.x <= drawn.width - label.width / 2)
        or not (HEIGHT / 2 <= label.y <= drawn.height - HEIGHT / 2)
    ]


@pytest.mark.parametrize("count", [1, 2, 6, 20, 41, 80])
def test_names_and_legend_do_not_overlap(count: int) -> None:
    drawn = lay_out(around(*(f"A rather long name {'x' * (number % 9)} {number}" for number in range(count)), types=11))
    assert covering((*drawn.boxes, *drawn.legend)) == []
    assert outside(drawn) == []
    assert sum(box.bold for box in drawn.boxes) == 1


@given(st.lists(st.text(max_size=60), min_size=1, max_size=25))
@settings(max_examples=50, deadline=None)
def test_any_names_can_be_drawn(names: list[str]) -> None:
    found = around(*names)
    drawn = lay_out(found)
    assert covering((*drawn.boxes, *drawn.legend)) == []
    assert draw_svg(lay_out(found)) == draw_svg(drawn)
    ElementTree.fromstring(draw_svg(drawn))  # noqa: S314 # our own text


def test_untrusted_text_is_escaped() -> None:
    shown = check_html(around(HOSTILE_TEXT, "other", say=HOSTILE_TEXT)._repr_html_())
    assert shown.text.count(HOSTILE_TEXT) >= 3
    assert "script" in shown.text


def test_lines_have_kinds_and_tooltips_and_wide_letters_wide_boxes() -> None:
    found = around("Ensemble", "模型模型模型模型", "iiiiiiii")
    assert "Ensemble → compares → iiiiiiii" in check_html(found.to_svg()).text
    drawn = lay_out(found)
    assert {line.kinds for line in drawn.lines} == {"compares"}
    _, wide, narrow = drawn.boxes
    assert wide.width > narrow.width


@pytest.mark.slow
def test_the_png_shows_names_and_types() -> None:
    drawn = lay_out(around("$\\frac{1}{$", "b", "c"))
    with Image.open(io.BytesIO(draw_png(drawn))) as picture:
        assert picture.width == pytest.approx(drawn.width * 1.5, abs=2)
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
    for label in drawn.legend:
        assert tuple(bytes.fromhex(label.colour[1:])) in colours
    assert draw_png(drawn) == draw_png(drawn)


def test_relations_are_listed_with_their_places() -> None:
    found = around("Ensemble", "Base")
    shown = check_html(found._repr_html_())
    for told in ("Ensemble (type 0): 1 relations among 2 entities", "compares", "page 4 of ner.pdf"):
        assert told in shown.text
    assert {"svg", "table"} <= shown.tags
    assert found.where(["aaaa/lost-1"]) == ""
    assert to_html(found) == found._repr_html_()
