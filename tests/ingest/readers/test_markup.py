"""Papers without pages, one of each format: what they hold, and that their places count lines and never pages."""

from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ingest.export import to_html
from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Paper, PaperFile, PaperImages, Passage, Publication, Shortfall, Table
from service.cli.terminal import paper_view, papers_view

MARKDOWN = """---
title: Owl Nets
author: Ada Lovelace
---

# Owl Nets

## Abstract

Owls see at night.

## 1 Results

Owl nets reach 91.5 percent,
as Table 1 shows.

Table 1: Accuracy.

| Model | Score |
|-------|-------|
| Base  | 84.2  |
| Owl   | 91.5  |
"""
HTML = """<!DOCTYPE html><html><head><title>Owl Nets</title></head><body><h1>Owl Nets</h1>
<p class="authors">Ada Lovelace</p><h2>Abstract</h2><p>Owls see at night.</p>
<h2>1 Results</h2><p>Owl nets reach 91.5 percent, as Table 1 shows.</p>
<table><caption>Table 1: Accuracy.</caption><tr><th>Model</th><th>Score</th></tr>
<tr><td>Base</td><td>84.2</td></tr><tr><td>Owl</td><td>91.5</td></tr></table></body></html>"""
TEXT = """Owl Nets

Ada Lovelace

Abstract

Owls see at night.

1 Results

Owl nets reach 91.5 percent, as Table 1 shows.

Table 1: Accuracy.

Model | Score
------+------
Base  | 84.2
Owl   | 91.5
"""
JATS = """<?xml version="1.0"?><article><front><article-meta><title-group><article-title>Owl Nets</article-title>
</title-group><contrib-group><contrib contrib-type="author"><name><surname>Lovelace</surname>
<given-names>Ada</given-names></name></contrib></contrib-group><abstract><p>Owls see at night.</p></abstract>
</article-meta></front><body><sec><title>1 Results</title><p>Owl nets reach 91.5 percent, as Table 1 shows.</p>
<table-wrap><label>Table 1</label><caption><p>Accuracy.</p></caption><table><thead><tr><th>Model</th><th>Score</th></tr>
</thead><tbody><tr><td>Base</td><td>84.2</td></tr><tr><td>Owl</td><td>91.5</td></tr></tbody></table></table-wrap>
</sec></body></article>"""
TEI = """<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title level="a" type="main">Owl Nets</title></titleStmt><sourceDesc><biblStruct><analytic><author><persName>
<forename>Ada</forename><surname>Lovelace</surname></persName></author></analytic></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><p>Owls see at night.</p></abstract></profileDesc></teiHeader><text><body>
<div><head n="1">Results</head><p>Owl nets reach 91.5 percent, as Table 1 shows.</p></div>
<figure type="table"><head>Table 1</head><label>1</label><figDesc>Accuracy.</figDesc><table>
<row><cell>Model</cell><cell>Score</cell></row><row><cell>Base</cell><cell>84.2</cell></row>
<row><cell>Owl</cell><cell>91.5</cell></row></table></figure></body></text></TEI>"""


def docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Owl Nets", 0)
    document.add_paragraph("Ada Lovelace")
    document.add_heading("Abstract", 1)
    document.add_paragraph("Owls see at night.")
    document.add_heading("1 Results", 1)
    document.add_paragraph("Owl nets reach 91.5 percent, as Table 1 shows.")
    document.add_paragraph("Table 1: Accuracy.")
    table = document.add_table(rows=3, cols=2)
    for row, values in enumerate((("Model", "Score"), ("Base", "84.2"), ("Owl", "91.5"))):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    out = BytesIO()
    document.save(out)
    return out.getvalue()


FILES = {
    "owl.md": MARKDOWN.encode(),
    "owl.html": HTML.encode(),
    "owl.txt": TEXT.encode(),
    "jats.xml": JATS.encode(),
    "owl.tei.xml": TEI.encode(),
    "owl.docx": docx(),
}
FORMATS = dict(zip(FILES, ("markdown", "html", "text", "jats", "tei", "docx"), strict=True))


@pytest.fixture(params=list(FILES), scope="module")
def paper(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Paper:
    file = tmp_path_factory.mktemp("papers") / request.param
    file.write_bytes(FILES[request.param])
    return parse(file)


def parse(file: Path) -> Paper:
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


def test_each_format_gives_the_same_paper(paper: Paper) -> None:
    assert (paper.title, paper.authors, paper.format) == ("Owl Nets", ("Ada Lovelace",), FORMATS[paper.file])
    texts = [(element.role, element.text) for element in paper.elements if isinstance(element, Passage)]
    assert ("abstract", "Owls see at night.") in texts
    assert ("paragraph", "Owl nets reach 91.5 percent, as Table 1 shows.") in texts
    assert [role for role, text in texts if text == "Owl Nets"] == ["title"]
    assert "1 Results" in {section.path for section in paper.sections}
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert (table.label, table.caption.rstrip("."), table.header_rows) == ("Table 1", "Accuracy", 1)
    assert table.grid() == [["Model", "Score"], ["Base", "84.2"], ["Owl", "91.5"]]
    assert table.id in {link.target for link in paper.links}


@pytest.mark.parametrize(
    ("file", "after", "stated"),
    [
        (
            "owl.md",
            "Ada Lovelace",
            "\njournal: Journal of Owls\ndoi: 10.5555/owl.1\ndate: 4 July 2021\narxiv: 2107.00001v2",
        ),
        (
            "owl.html",
            "<head>",
            '<meta name="citation_journal_title" content="Journal of Owls">'
            '<meta name="citation_doi" content="10.5555/owl.1">'
            '<meta name="citation_date" content="2021/07/04"><meta name="citation_arxiv_id" content="2107.00001">'
            '<meta name="citation_volume" content="7"><meta name="citation_issue" content="1">'
            '<meta name="citation_firstpage" content="1"><meta name="citation_lastpage" content="9">',
        ),
        (
            "jats.xml",
            "<article-meta>",
            '<article-id pub-id-type="doi">10.5555/owl.1</article-id>'
            '<article-id pub-id-type="arxiv">2107.00001</article-id>'
            "<journal-title>Journal of Owls</journal-title><pub-date><year>2021</year></pub-date>"
            "<volume>7</volume><issue>1</issue><fpage>1</fpage><lpage>9</lpage>",
        ),
        (
            "owl.tei.xml",
            "</analytic>",
            '<monogr><title level="j">Journal of Owls</title><imprint><date when="2021-07-04"/></imprint></monogr>'
            '<idno type="DOI">10.5555/owl.1</idno><idno type="arXiv">arXiv:2107.00001v2</idno>',
        ),
        ("owl.txt", "Ada Lovelace", "\n\nJournal of Owls 2021;7(1):1–9. doi:10.5555/owl.1, arXiv:2107.00001\n"),
    ],
)
def test_venue_year_and_ids_are_those_that_the_file_states(tmp_path: Path, file: str, after: str, stated: str) -> None:
    path = tmp_path / file
    path.write_text(FILES[file].decode().replace(after, after + stated, 1))
    arxiv = "" if file == "owl.txt" else "2107.00001"
    known = Publication(year=2021, venue="Journal of Owls", doi="10.5555/owl.1", arxiv=arxiv)
    if file in ("owl.html", "jats.xml"):
        known = replace(known, kind="article-journal", volume="7", issue="1", pages="1-9")
    assert parse(path).publication == known


def test_every_place_counts_lines(paper: Paper) -> None:
    assert not paper.paged
    cells = [cell.place for element in paper.elements if isinstance(element, Table) for cell in element.cells]
    for place in [*(element.place for element in paper.elements), *cells]:
        assert place.where.startswith("line")


def test_no_page_is_shown_to_a_reader(paper: Paper) -> None:
    console = Console(width=200, file=StringIO(), record=True)
    console.print(paper_view(paper, {}, images=PaperImages(), shortfall=Shortfall()), papers_view([paper], {}))
    shown = console.export_text()
    assert shown.count(f"{paper.file}  {paper.format}") == 2
    assert "page" not in shown.lower()
    assert "page 1" not in to_html(paper).lower()


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "owl.md"
    file.write_text(MARKDOWN)
    paper = parse(file)
    where = {element.text: element.place.where for element in paper.elements if isinstance(element, Passage)}
    assert where["Owl nets reach 91.5 percent, as Table 1 shows."] == "lines 14-15"
    assert where["Owls see at night."] == "line 10"


def test_problems_of_a_file_without_pages_name_none(tmp_path: Path) -> None:
    file = tmp_path / "owl.html"
    file.write_text(HTML.replace("<table>", '<img src="gone.png"><table>'))
    paper = parse(file)
    assert [problem.reason for problem in paper.problems] == [
        "pictures that are not in the file's folder are left out: gone.png"
    ]
    assert "<li>pictures that are not" in to_html(paper)
