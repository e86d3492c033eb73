"""The PDF and the HTML of a paper are one paper, in whichever order they are added: cells from one, boxes from both."""

from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.settings import Settings
from paperscope_core.types import Paper, Table

ROWS = (("Model", "F1", "Gain"), ("Small tagger", "88.4", "-0.5"), ("Large tagger", "91.2", "1.3"))
SECTIONS = ("1 Introduction", "2 Experiments", "3 Conclusion")
TITLE, AUTHOR = "Comparing taggers on short sentences", "Ada Byron"


def write_pdf(file: Path, *, title: str = TITLE, sections: tuple[str, ...] = SECTIONS) -> Path:
    """Write a paper whose table has lost its minus signs."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((150, 60), title, fontsize=18)
    page.insert_text((270, 85), AUTHOR, fontsize=11)
    for number, section in enumerate(sections):
        page.insert_text((72, 130 + 60 * number), section, fontsize=14, fontname="hebo")
        page.insert_text((72, 150 + 60 * number), "Taggers are compared on sentences that nobody has seen before.")
    page.insert_text((72, 330), "Table 1: F1 of both taggers.", fontsize=10)
    for at, row in enumerate(ROWS):
        for column, text in enumerate(row):
            page.insert_text((80 + 120 * column, 355 + 16 * at), text.replace("-", ""), fontsize=10)
    for height in (342, 359, 391):
        page.draw_line((72, height), (420, height))
    document.save(file)
    return file


def write_html(file: Path, *, rows: tuple[tuple[str, ...], ...] = ROWS) -> Path:
    lines = ("".join(f"<td>{text}</td>" for text in row) for row in rows)
    table = "".join(f"<tr>{line}</tr>" for line in lines)
    sections = "".join(f"<h2>{one}</h2><p>Taggers are compared on sentences.</p>" for one in SECTIONS)
    file.write_text(
        f"<html><head><meta name='citation_title' content='{TITLE}'><meta name='citation_author' content='{AUTHOR}'>"
        f"</head><body><h1>{TITLE}</h1>{sections}<table><caption>Table 1: F1.</caption>{table}</table></body></html>"
    )
    return file


def table_of(paper: Paper) -> Table:
    [table] = [element for element in paper.elements if isinstance(element, Table)]
    return table


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    store = Store.open(tmp_path / "library")
    with Library(store=store, settings=Settings(), models=Models(embedder=FakeEmbedder())) as opened:
        yield opened


@pytest.mark.parametrize("order", [("a.pdf", "a.html"), ("a.html", "a.pdf")])
def test_a_printed_paper_and_its_markup_are_one_paper(library: Library, tmp_path: Path, order: tuple[str, str]) -> None:
    files = write_pdf(tmp_path / "a.pdf"), write_html(tmp_path / "a.html")
    results = [library.add(tmp_path / name) for name in order]
    assert [result.outcome for result in results] == ["added", "replaced"]
    [paper] = library.papers()
    assert (paper.format, paper.file, [one.file for one in paper.others]) == ("pdf", "a.pdf", ["a.html"])
    assert table_of(paper).grid() == [list(row) for row in ROWS]
    gain = next(cell for cell in table_of(paper).cells if cell.text == "-0.5")
    assert abs(gain.place.box.x0 - 320) < 2
    assert gain.place.page == 1
    assert [library.add(file).outcome for file in files] == ["unchanged", "unchanged"]
    assert library.source(paper.id) == tmp_path / "a.pdf"
    # A newer state of the markup takes the place of the older one, and a newer PDF keeps what the markup says.
    write_html(tmp_path / "a.html", rows=(ROWS[0], ("Small tagger*", *ROWS[1][1:]), ROWS[2]))
    assert library.add(tmp_path / "a.html").paper.others[0].sha256 != paper.others[0].sha256
    write_pdf(tmp_path / "a.pdf", sections=(*SECTIONS[:2], "3 Conclusions"))
    [paper] = [library.add(tmp_path / "a.pdf").paper]
    assert [one.id for one in library.papers()] == [paper.id]
    assert table_of(paper).grid()[1] == ["Small tagger*", "88.4", "-0.5"]
    library.remove(paper.id)
    assert library.add(tmp_path / "a.html").outcome == "added"


@pytest.mark.parametrize(
    "other", [{"title": "Comparing parsers on short sentences"}, {"sections": ("A Proofs", "B Data", "C Prompts")}]
)
def test_another_title_or_other_sections_are_another_paper(
    library: Library, tmp_path: Path, other: dict[str, object]
) -> None:
    library.add(write_html(tmp_path / "a.html"))
    library.add(write_pdf(tmp_path / "b.pdf", **other))  # type: ignore[arg-type]
    assert len(library.papers()) == 2
