"""Gutters between columns, and the reading order across them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingest.pdf.columns import find_gutters, reading_order
from ingest.pdf.pdf_words import Word
from paperscope_core.types import Box
from tests.ingest.pdf.words import sentence, word


def test_a_gutter_is_found_between_two_columns_only() -> None:
    two = [
        item
        for row in range(30)
        for item in (*sentence("x" * 40, 50, 100 + 12 * row), word("y" * 40, 310, 100 + 12 * row))
    ]
    one = [item for row in range(30) for item in sentence("many words " * 8, 50, 100 + 12 * row)]
    [[gutter], none] = find_gutters([(600.0, two), (600.0, one)])
    assert 250 < gutter < 310
    assert none == ()


def test_gap_after_the_numbers_of_a_list_is_not_a_gutter() -> None:
    left = [word("x" * 48, 50, 100 + 12 * row) for row in range(30)]
    right = [
        item for row in range(10) for item in (word("[1]", 310, 100 + 12 * row), word("y" * 40, 332, 100 + 12 * row))
    ]
    title = word("a" * 11, 270, 80)
    [[gutter]] = find_gutters([(600.0, [*left, *right, title])])
    assert 290 < gutter < 310


def test_page_with_a_wide_abstract_gets_the_gutter_of_the_other_pages() -> None:
    def columns(top: int, rows: int) -> list[Word]:
        return [
            item
            for row in range(rows)
            for x, shift in ((50, 0), (310, 5))
            for item in sentence("some plain words stand here and there", x, top + shift + 12 * row)
        ]

    abstract = [item for row in range(12) for item in sentence("many words " * 8, 50, 100 + 12 * row)]
    first, *_ = find_gutters(
        [(600.0, abstract + columns(280, 9)), (600.0, columns(100, 30)), (600.0, columns(100, 30))]
    )
    assert len(first) == 1
    alone, *_ = find_gutters([(600.0, abstract), (600.0, columns(100, 30)), (600.0, columns(100, 30))])
    assert alone == ()


@given(st.permutations(list(range(8))))
def test_reading_order_goes_column_by_column_between_wide_items(order: list[int]) -> None:
    boxes = [
        Box(50, 20, 550, 40),
        *(Box(50, 60 + 20 * row, 290, 70 + 20 * row) for row in range(3)),
        *(Box(310, 60 + 20 * row, 550, 70 + 20 * row) for row in range(3)),
        Box(50, 140, 550, 160),
    ]
    shuffled = [boxes[index] for index in order]
    assert reading_order(shuffled, box=lambda box: box, gutters=(300.0,)) == boxes


def test_regions_of_text_show_the_columns_where_the_rows_of_words_do_not() -> None:
    def column(x: float, top: float, rows: int) -> list[Word]:
        return [each for row in range(rows) for each in sentence("some plain words here", x, top + 12 * row)]

    # A wide abstract over two of three columns.
    abstract = [each for row in range(12) for each in sentence("many words " * 6, 50, 100 + 12 * row)]
    page = [*abstract, *column(50, 260, 10), *column(240, 264, 10), *column(430, 104, 26)]
    assert len(find_gutters([(600.0, page)])[0]) < 2
    asked: list[int] = []

    def regions(index: int) -> Sequence[Box]:
        asked.append(index)
        return [Box(50, 90, 390, 240), Box(50, 250, 200, 380), Box(240, 250, 390, 380), Box(430, 90, 580, 410)]

    plain = [each for row in range(30) for each in sentence("many words " * 8, 50, 100 + 12 * row)]
    gutters, none = find_gutters([(600.0, page), (600.0, plain)], regions=regions)
    assert [round(x) for x in gutters] == [220, 410]
    assert (none, asked) == ((), [0])


def test_a_column_beside_a_wide_item_is_read_after_it() -> None:
    title, abstract = Box(50, 40, 400, 60), Box(50, 90, 400, 240)
    first, second, third = Box(50, 250, 200, 700), Box(250, 250, 400, 700), Box(430, 40, 580, 700)
    boxes = [third, second, abstract, first, title]
    ordered = reading_order(boxes, box=lambda box: box, gutters=(225.0, 415.0))
    assert ordered == [title, abstract, first, second, third]
    banner = Box(50, 10, 580, 30)
    ordered = reading_order([banner, *boxes], box=lambda box: box, gutters=(225.0, 415.0))
    assert ordered == [banner, title, abstract, first, second, third]
