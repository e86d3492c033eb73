"""The title of a paper, and its authors."""

from ingest.document.pages import Char, CharTable, PageContent
from ingest.pdf.front import author_lines, author_rows, title_lines
from ingest.pdf.structure import read_structure
from tests.ingest.pdf.words import LETTER, chars, printed_line, printed_page


def test_number_of_a_chapter_is_not_a_title() -> None:
    page = printed_page(1, [("Chapter 2", 100), ("Turbines and Enzymes", 140)], size=24)
    assert [line.text for line in title_lines(page, page.lines)] == ["Turbines and Enzymes"]


def test_a_title_in_centred_capitals_may_be_as_small_as_the_text() -> None:
    page = printed_page(1, [("ON SMALL CAPITAL TITLES", 100), ("A line of text", 140)], x0=240)
    assert [line.text for line in title_lines(page, page.lines)] == ["ON SMALL CAPITAL TITLES"]


def centred(text: str, baseline: float, *, size: float = 10) -> list[Char]:
    return chars(text, 300 - LETTER * size * len(text) / 2, baseline, size=size)


def test_centred_lines_below_the_title_of_a_cover_are_its_front_matter() -> None:
    page = printed_page(1, [("On Foxes at Large", 300)], x0=240, size=16)
    below = [printed_line("Ada Lovelace", 340, x0=278), printed_line("June 2023", 360, x0=286)]
    text = [printed_line("We look at foxes and at all that", 400, x0=206), printed_line("A grape", 420, x0=290)]
    assert author_lines(page, [*page.lines, *below, *text], title=page.lines, end=None) == below


def test_a_date_that_begins_with_a_number_does_not_end_the_authors() -> None:
    lines = [
        *centred("On Foxes at Large", 100, size=18),
        *centred("Ada Lovelace", 130, size=12),
        *centred("17 May 2023", 155, size=12),
        *centred("Abstract", 200, size=12),
        *(
            char
            for at in range(8)
            for char in chars("we look at foxes and at all that they eat " * 2, 60, 230 + 12 * at)
        ),
    ]
    structure = read_structure([PageContent(number=1, width=600, height=800, chars=CharTable(lines))], ())
    assert [line.text for line in structure.authors] == ["Ada Lovelace", "17 May 2023"]
    assert [heading.text for heading in structure.headings] == ["Abstract"]


def test_name_of_an_archive_above_is_not_the_title_that_its_citation_repeats() -> None:
    archive, title = (
        printed_line("Digital Archive", 100, size=14),
        printed_line("On Foxes at Large in Snow", 200, size=14),
    )
    citation = [
        printed_line("Lovelace, A. (2023). On Foxes at", 300),
        printed_line("Large in Snow. Journal of Foxes.", 312),
    ]
    page = printed_page(1, [])
    assert title_lines(page, [archive, title, *citation], printed=[archive, title, *citation]) == [title]
    assert title_lines(page, [archive, title], named="On foxes at large in snow") == [title]
    assert title_lines(page, [archive, printed_line("www.foxes.org", 115, size=8), title]) == [title]
    assert title_lines(page, [archive, title], printed=[archive, title]) == [archive]


def test_the_kind_of_an_article_is_not_its_title() -> None:
    kind, title = printed_line("REVIEW", 60, size=40), printed_line("Foxes at Large in Snow", 120, size=20)
    page = printed_page(1, [])
    assert title_lines(page, [kind, title]) == [title]
    authors = printed_line("Ada Lovelace, Grace Hopper", 150, size=12)
    short = printed_line("Foxes", 120, size=20)
    assert title_lines(page, [short, authors]) == [short]


def test_a_formula_is_not_a_title() -> None:
    page = printed_page(1, [])
    assert title_lines(page, [printed_line("JE = - 8n3 hc - R4", 200, size=14)]) == []


def test_the_title_that_the_metadata_name_may_be_printed_small() -> None:
    journal, title = (
        printed_line("Journal of Foxes and Snow", 60, size=20),
        printed_line("On foxes at large in snow", 120),
    )
    page = printed_page(1, [])
    assert title_lines(page, [journal, title], named="On Foxes at Large in Snow") == [title]


def test_names_right_below_a_title_are_its_authors_though_a_column_is_beside_them() -> None:
    title = [printed_line("On Foxes at Large", 100, size=16)]
    names = [printed_line("Ada Lovelace,¹* Grace", 130, size=9), printed_line("Hopper,² Mary Somerville", 140, size=9)]
    text = [printed_line("We look at foxes and at all that", 170), printed_line("they eat in snow", 110, x0=400)]
    page = printed_page(1, [])
    assert author_lines(page, [*names, *text], title=title, end=None) == names


def test_raised_marks_on_lines_of_their_own_belong_to_the_row_of_names() -> None:
    lines = [
        printed_line("a,c,1", 127, x0=112, size=7),
        printed_line("Ada Lovelace", 130),
        printed_line(", Grace Hopper", 130, x0=130),
    ]
    assert author_rows(lines) == ["Ada Lovelace^(a,c,1), Grace Hopper"]


def test_marked_names_below_the_title_are_not_a_heading() -> None:
    page = printed_page(1, [("On Foxes at Large", 100)], size=16)
    authors, text = printed_line("Ada Lovelace¹, Grace Hopper²", 130), printed_line("Foxes eat grapes", 150)
    assert author_lines(page, [*page.lines, authors, text], title=page.lines, end=None) == [authors]
