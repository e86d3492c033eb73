"""A quotation is placed at its own lines: in a column, over columns, on the next page, in a caption."""

from collections.abc import Iterator

import pymupdf
import pytest

from ingest.chunking import chunk_paper
from ingest.pdf import PdfParser
from paperscope_core.types import Box, Figure, Paper, PaperFile, Passage, places_of

LEFT, RIGHT, TOP, PITCH = 60.0, 315.0, 100.0, 12.0
PAID = "Each annotator was paid a fee of 0.75 dollars for every claim that the two others had not seen before."
CAPTION = "A bar for every annotator."


def lines_of(text: str, *, width: int = 46) -> Iterator[str]:
    line = ""
    for word in text.split():
        if len(line) + len(word) >= width:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    yield line


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """Two pages of two columns: one paragraph fills the first page and ends on the second with `PAID`."""
    filler = " ".join(f"and fox {number} jumps over its lazy dog" for number in range(120))
    printed = [*lines_of(f"At first {filler}"), *lines_of(f"once more. {PAID}")]
    with pymupdf.open() as document:
        for _ in range(2):
            page = document.new_page(width=600, height=800)
            page.insert_text((200, 60), "A Study of Foxes" if document.page_count == 1 else "", fontsize=18)
            for x in (LEFT, RIGHT):
                for row in range(45):
                    if printed:
                        page.insert_text((x, TOP + PITCH * row), printed.pop(0), fontsize=10, fontname="tiro")
        page.draw_rect(pymupdf.Rect(320, 500, 500, 600), fill=(0, 0.4, 0.8))
        page.insert_text((320, 620), f"Figure 1: {CAPTION}", fontsize=10, fontname="tiro")
        file = tmp_path_factory.mktemp("line-places") / "paper.pdf"
        document.save(file)
    return PdfParser(dpi=36).parse(PaperFile(file)).paper


@pytest.fixture(scope="module")
def paragraph(paper: Paper) -> Passage:
    passages = [element for element in paper.elements if isinstance(element, Passage)]
    [found] = [passage for passage in passages if PAID in passage.text]
    assert {place.page for place in places_of(found)} == {1, 2}
    return found


def test_a_sentence_on_the_next_page_is_placed_there(paragraph: Passage) -> None:
    [place] = places_of(paragraph, PAID)
    assert place.page == 2
    assert place.box.x1 < RIGHT
    assert 2 * PITCH < place.box.height < 4 * PITCH


def test_a_quotation_over_two_columns_has_a_box_in_each(paragraph: Passage) -> None:
    last = next(line for line in paragraph.lines if line.box.x0 > RIGHT - 5)
    across = paragraph.text[last.start - 20 : last.start + 20]
    first, second = places_of(paragraph, across)
    assert first.page == second.page == 1
    assert first.box.x1 < second.box.x0
    assert first.box.y0 > second.box.y1
    assert max(first.box.height, second.box.height) < PITCH


def test_words_that_the_text_does_not_have_are_placed_at_the_whole(paragraph: Passage) -> None:
    assert places_of(paragraph, "no such words") == places_of(paragraph)
    assert len(places_of(paragraph)) == 3


def test_a_quotation_from_a_caption_has_its_box(paper: Paper) -> None:
    [figure] = [element for element in paper.elements if isinstance(element, Figure)]
    assert figure.caption_place is not None
    for quote in (CAPTION, f"Figure 1: {CAPTION}"):
        assert places_of(figure, quote) == (figure.caption_place,)
    assert places_of(figure) == (figure.place,)


def test_a_part_of_a_paragraph_is_a_chunk_with_the_places_of_its_lines(paper: Paper, paragraph: Passage) -> None:
    chunks = [chunk for chunk in chunk_paper(paper) if paragraph.id in chunk.elements]
    [last] = [chunk for chunk in chunks if PAID in chunk.text]
    assert len(chunks) > 2
    assert chunks[0].place.page == 1
    assert 2 in {place.page for place in (last.place, *last.more_places)}
    assert paragraph.place not in (last.place, *last.more_places)


def test_the_lines_cover_the_text_and_are_inside_its_places(paper: Paper) -> None:
    for passage in (element for element in paper.elements if isinstance(element, Passage) and element.lines):
        starts = [line.start for line in passage.lines]
        assert starts == sorted(set(starts))
        assert starts[0] == 0 <= starts[-1] < len(passage.text)
        boxes: dict[int, list[Box]] = {}
        for place in places_of(passage):
            boxes.setdefault(place.page, []).append(place.box)
        assert all(any(box.union(line.box) == box for box in boxes[line.page]) for line in passage.lines)
