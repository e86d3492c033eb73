"""Turning pages, and joining rules."""

import math
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.geometry import join_rules, quarter_turns, turned_box, turned_page, turned_point, turned_size
from ingest.document.pages import Char, CharTable, HorizontalRule, VerticalRule
from ingest.pdf import PageContent
from ingest.pdf.mupdf import MuPdfBackend
from paperscope_core.types import Box

# Multiples of 1/8 pt, so that sums are exact.
lengths = st.integers(0, 8000).map(lambda eighths: eighths / 8)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    x0, y0, width, height = (draw(lengths) for _ in range(4))
    return Box(x0, y0, x0 + width, y0 + height)


@st.composite
def pages(draw: st.DrawFn) -> PageContent:
    char = st.builds(
        lambda x0, baseline, direction: Char("x", x0, x0 + 5, baseline, 10, "Times", False, False, direction),
        lengths,
        lengths,
        st.integers(0, 3),
    )
    shapes = st.lists(boxes(), max_size=3).map(tuple)
    return PageContent(
        number=1,
        width=draw(lengths),
        height=draw(lengths),
        chars=tuple(draw(st.lists(char, max_size=4))),
        horizontal=tuple(HorizontalRule(box.x0, box.x1, box.y0) for box in draw(shapes)),
        vertical=tuple(VerticalRule(box.x0, box.y0, box.y1) for box in draw(shapes)),
        fills=draw(shapes),
        images=draw(shapes),
        drawings=draw(shapes),
    )


@given(page=pages(), turns=st.integers(0, 3))
def test_turning_a_page_and_back_changes_nothing(page: PageContent, turns: int) -> None:
    assert turned_page(turned_page(page, turns=turns), turns=-turns) == page


@given(box=boxes(), turns=st.integers(0, 3), width=lengths, height=lengths)
def test_turning_a_box_and_back_changes_nothing(box: Box, turns: int, width: float, height: float) -> None:
    there = turned_box(box, width, height, turns=turns)
    assert turned_box(there, *turned_size(width, height, turns=turns), turns=-turns) == box


@given(page=pages())
def test_a_table_of_characters_holds_the_same_characters(page: PageContent) -> None:
    table = CharTable(page.chars)
    assert tuple(table) == page.chars
    assert len(table) == len(page.chars)
    assert [table[index] for index in range(-len(table), len(table))] == [*page.chars, *page.chars]
    assert table[1:] == page.chars[1:]


def test_four_quarter_turns_are_none() -> None:
    page = PageContent(number=1, width=600, height=800, fills=(Box(10, 20, 30, 60),))
    once = turned_page(page, turns=1)
    assert (once.width, once.height, once.fills) == (800, 600, (Box(20, 570, 60, 590),))
    assert turned_page(turned_page(turned_page(once, turns=1), turns=1), turns=1) == page


@pytest.mark.parametrize("degrees", [0, 90, 180, 270, 45, 30, 80])
def test_only_quarter_turns_are_directions(degrees: int) -> None:
    angle = math.radians(degrees)
    expected = degrees // 90 if degrees % 90 == 0 else None
    assert quarter_turns(math.cos(angle), math.sin(angle)) == expected


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_character_is_measured_as_if_it_were_upright(degrees: int, rotation: int, tmp_path: Path) -> None:
    """`insert_text` turns counterclockwise; the page flag turns the page clockwise for the reader."""
    document = pymupdf.open()
    page = document.new_page(width=300, height=500)
    page.insert_text((120, 200), "Ab", fontsize=12, rotate=degrees)
    page.set_rotation(rotation)
    with MuPdfBackend().open(document.tobytes(), name="turned.pdf", password=None) as opened:
        content = opened.read(1)
    letters = {char.text: char for char in content.chars}
    direction = (rotation - degrees) // 90 % 4
    assert {char.direction for char in content.chars} == {direction}
    assert letters["A"].x1 <= letters["b"].x0 + 0.01
    # The page as the reader sees it is the unrotated one, turned.
    seen = turned_point(120, 200, 300, 500, turns=-rotation // 90)
    origin = turned_point(*seen, content.width, content.height, turns=direction)
    assert (letters["A"].x0, letters["A"].baseline) == pytest.approx(origin, abs=0.5)
    assert letters["A"].size == pytest.approx(12)


def test_text_at_another_angle_is_left_out() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((100, 100), "upright")
    page.insert_text((200, 300), "DRAFT", morph=(pymupdf.Point(200, 300), pymupdf.Matrix(45)))
    with MuPdfBackend().open(document.tobytes(), name="draft.pdf", password=None) as opened:
        assert "".join(char.text for char in opened.read(1).chars) == "upright"


def test_dashes_and_abutting_rules_are_joined_but_not_over_gaps() -> None:
    dashes = [HorizontalRule(x, x + 3, 10) for x in range(0, 60, 6)]
    borders = [HorizontalRule(0, 50, 30), HorizontalRule(50.5, 100, 30)]
    groups = [HorizontalRule(0, 50, 50), HorizontalRule(55, 100, 50)]
    assert len(join_rules(dashes)) == 1
    assert join_rules(borders) == [HorizontalRule(0, 100, 30)]
    assert join_rules(groups) == groups
